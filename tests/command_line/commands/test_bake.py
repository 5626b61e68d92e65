"""`bake`: the same result as the operator, from flags, job files and stored chains; and nothing but that."""

import json

import bpy
import pytest

from tests.command_line.reports import without_times
from tests.command_line.shots import LEG, keys_in, keys_of, make_shot, save, store_chain


@pytest.fixture
def shot(tmp_path, registered_addon):
    make_shot(tmp_path / "shot.blend")
    return tmp_path / "shot.blend"


def operator_result(shot, **settings):
    """Keys and report of the operator on a fresh copy of the shot."""
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    bpy.ops.twobone.bake(armature="Rig", upper="upper", lower="lower", target="Target", **settings)
    return keys_of(bpy.data.objects["Rig"]), json.loads(bpy.context.window_manager.twobone_report)


def test_keys_and_report_equal_the_operators(twobone, shot, tmp_path):
    keys, report = operator_result(shot, plane="XZ", bend="NEGATIVE")
    goal, written = tmp_path / "baked.blend", tmp_path / "report.json"
    ended = twobone("bake", "--file", shot, *LEG, "--bend", "negative", "--save", goal, "--report", written)
    assert ended.code == 0, ended.complained
    assert without_times(json.loads(written.read_text())) == without_times(report)
    assert keys_in(goal) == keys


def test_plane_and_bend_left_open_are_chosen_as_the_operator_chooses_them(twobone, shot, tmp_path):
    keys, _ = operator_result(shot)
    twobone("bake", "--file", shot, *LEG[:-2], "--save", tmp_path / "baked.blend")
    assert keys_in(tmp_path / "baked.blend") == keys


def test_what_lies_open_is_baked_when_no_file_is_named(twobone, shot):
    make_shot()
    assert twobone("bake", *LEG).code == 0
    assert keys_of(bpy.data.objects["Rig"])


def test_shared_flags_hold_for_every_chain_and_a_chains_own_flags_win(twobone, shot, tmp_path):
    report = tmp_path / "report.json"
    shared = [*LEG, "--frame-range", "CUSTOM", "--frame-start", "-3.5", "--frame-end", "4"]
    ended = twobone(
        "bake",
        "--file",
        shot,
        *shared,
        "--chain",
        "first",
        "--frame-start",
        "2",
        "--chain",
        "second",
        "--last-wins",
        "--report",
        report,
    )
    assert ended.code == 0, ended.complained
    chains = json.loads(report.read_text())["chains"]
    assert [(chain["frame_start"], chain["frame_end"]) for chain in chains] == [(2, 4), (-3.5, 4)]


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_a_job_says_what_flags_say(twobone, shot, tmp_path, suffix):
    settings = {"armature": "Rig", "upper": "upper", "lower": "lower", "plane": "xz"}
    if suffix == ".json":
        text = json.dumps({"target": "Target", "chains": [{"name": "leg", **settings}]})
    else:
        text = 'target = "Target"\n[[chains]]\nname = "leg"\n' + "".join(
            f'{key} = "{value}"\n' for key, value in settings.items()
        )
    job = tmp_path / f"job{suffix}"
    job.write_text(text, encoding="utf-8")
    twobone("bake", "--file", shot, *LEG, "--save", tmp_path / "by_flags.blend")
    ended = twobone("bake", "--file", shot, "--job", job, "--save", tmp_path / "by_job.blend")
    assert ended.code == 0, ended.complained
    assert keys_in(tmp_path / "by_job.blend") == keys_in(tmp_path / "by_flags.blend")


def test_flags_win_over_the_job(twobone, shot, tmp_path):
    job = tmp_path / "job.json"
    chain = {"armature": "Rig", "upper": "upper", "lower": "lower", "target": "Nobody", "plane": "XZ"}
    job.write_text(json.dumps({"chains": [chain]}))
    assert twobone("bake", "--file", shot, "--job", job).code == 1
    assert twobone("bake", "--file", shot, "--job", job, "--target", "Target").code == 0


def test_stored_chains_are_baked_and_disabled_ones_are_not(twobone, tmp_path, registered_addon):
    rig, target = make_shot()
    store_chain(rig, target, "wanted", frame_range="CUSTOM", frame_start=3, frame_end=7)
    store_chain(rig, target, "unwanted", enabled=False)
    save(tmp_path / "shot.blend")
    ended = twobone("bake", "--file", tmp_path / "shot.blend", "--stored", "--report", tmp_path / "report.json")
    assert ended.code == 0, ended.complained
    chains = json.loads((tmp_path / "report.json").read_text())["chains"]
    assert [(chain["frame_start"], chain["frame_end"]) for chain in chains] == [(3, 7)]


def test_a_stored_chain_that_never_had_a_target_is_skipped_and_named(twobone, tmp_path, registered_addon):
    rig, target = make_shot()
    store_chain(rig, target, "Leg")
    store_chain(rig, None, "Arm")
    save(tmp_path / "shot.blend")
    ended = twobone("bake", "--file", tmp_path / "shot.blend", "--stored", "--save", tmp_path / "baked.blend")
    assert ended.code == 0, ended.complained
    assert "Arm has no target and was skipped" in ended.said
    assert keys_in(tmp_path / "baked.blend")
    dry = twobone("bake", "--file", tmp_path / "shot.blend", "--stored", "--dry-run")
    assert "Arm has no target and was skipped" in dry.said


def test_without_stored_chains_the_remedy_is_said(twobone, shot):
    ended = twobone("bake", "--file", shot, "--stored")
    assert ended.code == 1
    assert "No enabled chain is stored" in ended.complained


def test_a_dry_run_tells_everything_and_changes_nothing(twobone, shot, tmp_path):
    before = shot.read_bytes()
    ended = twobone("bake", "--file", shot, *LEG, "--dry-run", "--save", "--report", tmp_path / "plan.json")
    assert ended.code == 0, ended.complained
    chain = json.loads((tmp_path / "plan.json").read_text())["chains"][0]
    assert (chain["plane"], chain["bend"], chain["tip"], chain["tip_at"]) == ("XZ", "POSITIVE", "lower", "tail")
    assert chain["lengths"] == pytest.approx([1.0, 0.8], rel=1e-6)
    assert chain["reached"] == chain["frames"] == 24
    assert {(curve["data_path"], curve["keys"]) for curve in chain["curves"]} == {
        ('pose.bones["upper"].rotation_quaternion', 24),
        ('pose.bones["lower"].rotation_quaternion', 24),
    }
    assert len(ended.said.splitlines()[-2:]) == 2
    assert not keys_of(bpy.data.objects["Rig"])
    assert shot.read_bytes() == before


def test_the_json_is_all_there_is_on_standard_output(twobone, shot, tmp_path):
    ended = twobone("bake", "--file", shot, *LEG, "--save", tmp_path / "baked.blend", "--report", "-")
    assert json.loads(ended.said)["chains"][0]["frames"] == 24


def test_quiet_is_quiet_and_verbose_tells_the_time_of_each_stage(twobone, shot):
    make_shot()
    assert twobone("bake", *LEG, "--quiet").said == ""
    plain, verbose = twobone("bake", *LEG).said, twobone("bake", *LEG, "--verbose").said
    assert "curves" in plain
    assert "evaluation" not in plain
    assert "evaluation" in verbose


def test_a_shot_that_was_never_baked_is_reported_without_blame(twobone, shot):
    ended = twobone("report", "--file", shot, *LEG)
    assert ended.code == 0
    assert "off although in reach" in ended.said
    assert "something else moves" not in ended.said
    assert "0 keys on 0 curves" in ended.said


@pytest.mark.parametrize("command", ["bake", "bake --dry-run", "report"])
def test_a_refusal_names_the_chain_that_it_is_about(twobone, tmp_path, registered_addon, command):
    rig, target = make_shot()
    store_chain(rig, target, name="left leg")
    store_chain(rig, None, name="right leg", lost_target="Heel")
    save(tmp_path / "shot.blend")
    name, *words = command.split()
    ended = twobone(name, "--file", tmp_path / "shot.blend", "--stored", *words)
    assert ended.code == 1
    assert 'Chain "right leg" of "Rig": Target "Heel" is in no scene' in ended.complained


def test_notes_of_several_chains_name_theirs(twobone, tmp_path, registered_addon):
    rig, _ = make_shot()
    rig.pose.bones["lower"].lock_rotation = (True, True, True)
    save(tmp_path / "shot.blend")
    ended = twobone("bake", "--file", tmp_path / "shot.blend", "--last-wins", *LEG, "--chain", "one", "--chain", "two")
    assert ended.said.count("  upper to lower: Bone") == 2, ended.said
