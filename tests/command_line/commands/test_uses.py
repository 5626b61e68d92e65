"""Jobs for what is about one armature, and batches of them."""

import json

import bpy
import pytest

from tests.command_line.shots import save
from tests.command_line.validators import validator
from tests.tasks.rigs.person import person
from tests.tasks.rigs.walker import Walk, build_walker
from twobone_addon.command_line.command import parse
from twobone_addon.command_line.job import load_job
from twobone_addon.settings.tasks import TABLES


@pytest.fixture
def shot(tmp_path, registered_addon):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    person()
    save(tmp_path / "shot.blend")
    return tmp_path / "shot.blend"


def write_job(folder, **job):
    validator("job").validate(job)
    (folder / "job.json").write_text(json.dumps(job))
    return folder / "job.json"


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.task)
def test_a_command_and_a_use_are_also_named_as_the_task_and_its_operator(tmp_path, table):
    names = {table.task, table.operator}
    for name in sorted(names | {name.replace("_", "-") for name in names}):
        assert parse([name, "--quiet"]).command == table.command
        assert load_job(write_job(tmp_path, use=name, shots=[{"file": "a.blend", "use": name}])).use == table.command


def test_a_report_is_also_an_inspection(tmp_path):
    assert parse(["inspect"]).command == "report"
    assert load_job(write_job(tmp_path, use="inspect")).use == "report"


def test_a_batch_finds_limbs_in_every_shot(twobone, shot, tmp_path):
    job = write_job(tmp_path, use="limbs", shots=[shot.name], output="limbs/{shot}.blend", armature="Rig", targets=True)
    ended = twobone("batch", job)
    assert ended.code == 0, ended.complained
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "limbs" / shot.name))
    chains = bpy.data.objects["Rig"].twobone.chains
    assert [chain.name for chain in chains] == ["Left Leg", "Right Leg", "Left Arm", "Right Arm"]
    assert all(chain.target for chain in chains)


@pytest.mark.parametrize(
    "command, own",
    [
        ("contacts", {"ground": "height", "ground_height": 0.02, "ground_velocity": [0.0, -1.0, 0.0], "ground_moves": "given"}),
        ("plant", {"max_lower": 0.1, "ground_velocity": [0.0, 0.0, 0.0], "frame_start": 2}),
        ("fit-root", {"max_raise": 0.2, "reserve": 0.0}),
    ],
)
def test_a_job_has_the_settings_of_its_command_and_flags_win(twobone, shot, tmp_path, command, own):
    job = write_job(tmp_path, use=command, armature="Nobody", **own)
    assert '"Nobody" is not in this file' in twobone(command, "--file", shot, "--job", job).complained
    complained = twobone(command, "--file", shot, "--job", job, "--armature", "Rig").complained
    assert "Nobody" not in complained
    assert "Job" not in complained


@pytest.mark.parametrize(
    "job, sentence",
    [
        ({"use": "plant", "upper": "thigh.L"}, '"upper" is unknown'),
        ({"use": "plant", "max_lower": -1.0}, "Maximum Lowering is -1"),
        ({"use": "plant", "chains": [{}]}, '"chains" is not valid for use = "plant"'),
        ({"use": "contacts", "ground_velocity": [1.0]}, "Use three finite numbers"),
        ({"use": "limbs", "ground": "AUTO"}, '"ground" is unknown'),
        ({"targets": True}, '"targets" is not valid for use = "bake"'),
        ({"use": "audit", "switch_first": True}, '"switch_first" is not valid for use = "audit"'),
        ({"use": "switch", "to": "both"}, "Use one of FK, IK"),
    ],
)
def test_what_does_not_belong_into_a_job_is_one_sentence(twobone, tmp_path, job, sentence):
    (tmp_path / "job.json").write_text(json.dumps({"shots": ["shot.blend"], "in_place": True, **job}))
    ended = twobone("batch", tmp_path / "job.json", "--list")
    assert ended.code == 2
    assert sentence in ended.complained


def test_a_job_for_something_else_is_refused(twobone, shot, tmp_path):
    job = write_job(tmp_path, use="plant", armature="Rig")
    ended = twobone("bake", "--file", shot, "--job", job)
    assert ended.code == 2
    assert 'The key "use"' in ended.complained or 'the key "use"' in ended.complained


@pytest.mark.parametrize(
    "command, given, sentence",
    [
        ("contacts", {"ground_height": 5}, "Ground Height has no effect: Ground is Automatic, not Height."),
        ("plant", {"max_tilt": 0.1}, "Maximum Tilt has no effect: Ground is Automatic, not Height or Object."),
        ("plant", {"tolerance": 0.5}, "Tolerance has no effect: Keys is Every Frame, not Reduce."),
    ],
)
def test_a_setting_without_effect_is_said_and_refused_where_that_is_asked_for(twobone, walk, command, given, sentence):
    ((flag, value),) = given.items()
    words = [command, "--file", walk, f"--{flag.replace('_', '-')}", value]
    ended = twobone(*words)
    assert sentence in ended.said, ended.complained
    strict = twobone(*words, "--strict-settings")
    assert (strict.code, sentence in strict.complained) == (2, True)
    job = write_job(walk.parent, use=command, strict_settings=True, **given)
    assert sentence in twobone(command, "--file", walk, "--job", job).complained


@pytest.mark.parametrize("command", ["limbs", "contacts"])
def test_what_a_job_says_of_results_is_said_to_count_for_nothing_where_nothing_is_judged(twobone, walk, command):
    job = write_job(walk.parent, use=command, strict=True, max_error=0.1)
    said = twobone(command, "--file", walk, "--job", job).said
    assert all(f'Key "{name}" of the job has no effect' in said for name in ("strict", "max_error"))
    assert "allow_incomplete" not in said


@pytest.fixture
def walk(tmp_path, registered_addon):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    build_walker(Walk(frames=15, raised=0.03))
    save(tmp_path / "walk.blend")
    return tmp_path / "walk.blend"
