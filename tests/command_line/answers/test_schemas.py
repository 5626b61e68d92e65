"""What the command writes is what its schemas say, and a job is right by its schema where the command takes it."""

import json

import bpy
import jsonschema
import pytest

from tests.baking.rigs.walker import Walk, build_walker
from tests.baking.scenes import add_empty
from tests.command_line.shots import LEG, make_shot, save
from twobone_addon.command_line.schemas import NAMES, schema


def is_valid(document, name):
    return not list(jsonschema.Draft202012Validator(schema(name)).iter_errors(document))


@pytest.fixture
def shot(tmp_path, registered_addon):
    make_shot(tmp_path / "shot.blend", places={1: (1.2, 0.0, 1.0), 24: (4.0, 0.0, 1.6)})
    return tmp_path / "shot.blend"


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_a_schema_and_can_be_printed(twobone, name):
    jsonschema.Draft202012Validator.check_schema(schema(name))
    assert json.loads(twobone("schema", name).said) == schema(name)


@pytest.mark.parametrize("words", ["bake", "bake --no-verify", "report", "target", "switch", "bake --save"])
def test_reports_follow_their_schema(twobone, shot, tmp_path, words):
    report = tmp_path / "report.json"
    name, *flags = words.split()
    ended = twobone(name, "--file", shot, *LEG, *flags, "--report", report)
    assert ended.code == 0, ended.complained
    jsonschema.validate(json.loads(report.read_text()), schema("report"))


def test_the_report_schema_misses_no_key_of_a_chain(twobone, shot, tmp_path):
    twobone("bake", "--file", shot, *LEG, "--report", tmp_path / "report.json")
    (chain,) = json.loads((tmp_path / "report.json").read_text())["chains"]
    chains, _ = schema("report")["properties"]["chains"]["anyOf"]
    known = chains["items"]["anyOf"][0]["properties"].keys()
    assert chain.keys() - known <= {"seconds", "evaluation", "sentence"}


@pytest.fixture
def walk(tmp_path, registered_addon):
    """A shot with a walk, and a target for each of its legs."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    armature, _ = build_walker(Walk(frames=15, raised=0.03))
    for chain in armature.twobone.chains:
        chain.target = add_empty(f"Target {chain.name}")
    save(tmp_path / "walk.blend")
    return tmp_path / "walk.blend"


WALK_COMMANDS = ("limbs", "plant", "fit-root", "bake --stored", "bake --stored --dry-run", "clear --stored", "chains")


def test_what_is_about_a_character_follows_the_schema_as_well(twobone, walk, tmp_path):
    shapes = schema("report")
    for command in WALK_COMMANDS:
        name, *words = command.split()
        ended = twobone(name, "--file", walk, *words, "--report", tmp_path / "report.json")
        assert ended.code == 0, ended.complained
        document = json.loads((tmp_path / "report.json").read_text())
        jsonschema.validate(document, shapes)
        if isinstance(document.get("chains"), list):
            document["chains"][0].pop("upper")
            assert not is_valid(document, "report"), command


def test_a_summary_follows_its_schema(twobone, shot, tmp_path):
    job = tmp_path / "job.json"
    job.write_text(json.dumps({"shots": ["shot.blend", "gone.blend"], "output": "baked/{shot}.blend", **CHAIN}))
    twobone("batch", job, "--quiet")
    jsonschema.validate(json.loads((tmp_path / "job.summary.json").read_text()), schema("summary"))


CHAIN = {"armature": "Rig", "upper": "upper", "lower": "lower", "target": "Target", "plane": "XZ"}

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
