"""What the command writes is what its schemas say, and a job is right by its schema where the command takes it."""

import json

import bpy
import jsonschema
import pytest

from tests.command_line.jobs import CHAIN
from tests.command_line.shots import LEG, make_shot, save
from tests.command_line.validators import validator
from tests.tasks.rigs.walker import Walk, build_walker
from tests.tasks.scenes import add_empty
from twobone_addon.command_line.schemas import NAMES, schema


def is_valid(document, name):
    return validator(name).is_valid(document)


@pytest.fixture
def shot(tmp_path, registered_addon):
    make_shot(tmp_path / "shot.blend", places={1: (1.2, 0.0, 1.0), 24: (4.0, 0.0, 1.6)})
    return tmp_path / "shot.blend"


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_a_schema_and_can_be_printed(twobone, name):
    jsonschema.Draft202012Validator.check_schema(schema(name))
    assert json.loads(twobone("schema", name).said) == schema(name)


KINDS = {"bake": "bake", "report": "inspect", "target": "give", "switch": "switch", "clear": "clear", "chains": "chains"}


@pytest.mark.parametrize(
    "words", ["bake", "bake --no-verify", "bake --dry-run", "report", "target", "switch", "bake --save", "clear", "chains"]
)
def test_reports_follow_the_schema_of_their_kind_to_the_letter(twobone, shot, tmp_path, words):
    name, *flags = words.split()
    chain = [] if name == "chains" else LEG
    ended = twobone(name, "--file", shot, *chain, *flags, "--report", tmp_path / "report.json")
    assert ended.code == 0, ended.complained
    document = json.loads((tmp_path / "report.json").read_text())
    assert document["kind"] == ("dry_run" if "--dry-run" in flags else KINDS[name])
    assert_strict(document)


def assert_strict(document):
    """As the schemas say it is; and neither with a key more or less, nor with one of another type."""
    for name in (document["kind"], "report"):
        validator(name).validate(document)
        assert not is_valid({**document, "surprise": 1}, name)
        for key in document:
            assert not is_valid({other: value for other, value in document.items() if other != key}, name), key
            assert not is_valid({**document, key: {"surprise": []}}, name) or key in {"seconds", "evaluation"}, key
    for chain in document["chains"] if isinstance(document.get("chains"), list) else ():
        chain["surprise"] = 1
        assert not is_valid(document, document["kind"])
        del chain["surprise"]


def test_a_conversion_that_was_done_already_is_reported_as_any_other(twobone, shot, tmp_path):
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    constraint = bpy.data.objects["Rig"].pose.bones["lower"].constraints.new("IK")
    constraint.target, constraint.chain_count = bpy.data.objects["Target"], 2
    save(shot)
    words = ["convert", "--armature", "Rig", "--bone", "lower", "--report", tmp_path / "report.json"]
    for file, *flags in ([shot, "--save", tmp_path / "fk.blend"], [tmp_path / "fk.blend", "--again"]):
        ended = twobone(*words, "--file", file, *flags)
        assert ended.code == 0, ended.complained
        document = json.loads((tmp_path / "report.json").read_text())
        assert (document["kind"], len(document["chains"])) == ("convert", 0 if "--again" in flags else 1)
        assert_strict(document)


@pytest.fixture
def walk(tmp_path, registered_addon):
    """A shot with a walk, and a target for each of its legs."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    armature, _ = build_walker(Walk(frames=15, raised=0.03))
    for chain in armature.twobone.chains:
        chain.target = add_empty(f"Target {chain.name}")
    save(tmp_path / "walk.blend")
    return tmp_path / "walk.blend"


WALK_COMMANDS = {
    "limbs": "find_limbs",
    "contacts": "find_contacts",
    "plant": "plant",
    "plant --actions all": "plant",
    "fit-root": "fit_root",
    "audit": "audit",
    "audit --actions all": "audit",
    "bake --stored": "bake",
    "bake --stored --dry-run": "dry_run",
    "clear --stored": "clear",
    "chains": "chains",
}


def test_what_is_about_a_character_follows_the_schema_of_its_kind_as_well(twobone, walk, tmp_path):
    for command, kind in WALK_COMMANDS.items():
        name, *words = command.split()
        ended = twobone(name, "--file", walk, *words, "--report", tmp_path / "report.json")
        assert ended.code == 0, ended.complained
        document = json.loads((tmp_path / "report.json").read_text())
        assert document["kind"] == kind
        assert_strict(document)


def test_a_summary_follows_its_schema(twobone, shot, tmp_path):
    job = tmp_path / "job.json"
    job.write_text(json.dumps({"shots": ["shot.blend", "gone.blend"], "output": "baked/{shot}.blend", **CHAIN}))
    twobone("batch", job, "--quiet")
    validator("summary").validate(json.loads((tmp_path / "job.json.summary.json").read_text()))


JOBS = [
    (True, {"version": 1, "chains": [{"name": "leg", **CHAIN}]}),
    (True, {**CHAIN, "plane": "xz", "use_limits": True, "limits": [[-1.0, 1.0], [0, 2]]}),
    (True, {**CHAIN, "strict_settings": False, "softness": 0.5, "last_wins": True}),
    (False, {"version": 2, **CHAIN}),
    (False, {"targt": "Target"}),
    (False, {**CHAIN, "step": 0}),
    (False, {**CHAIN, "softness": 1.5}),
    (False, {**CHAIN, "verify": "yes"}),
    (False, {**CHAIN, "limits": [[1.0]]}),
    (False, {"chains": [{"uper": "upper"}]}),
    (False, {"max_error": -1}),
]


@pytest.mark.parametrize("good, job", JOBS, ids=[json.dumps(job) for _, job in JOBS])
def test_the_schema_and_the_command_take_the_same_jobs(twobone, shot, tmp_path, good, job):
    (tmp_path / "job.json").write_text(json.dumps(job))
    code = twobone("bake", "--file", shot, "--job", tmp_path / "job.json", "--dry-run").code
    assert (code != 2, is_valid(job, "job")) == (good, good)
