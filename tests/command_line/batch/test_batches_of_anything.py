"""Batches whose shots differ, that only look, that convert, and scenes that are not the open one."""

import json
import shutil

import bpy
import pytest

from tests.command_line.jobs import CHAIN, records, states
from tests.command_line.shots import LEG, keys_in, keys_of, make_shot, save, store_chain


@pytest.fixture
def shots(folder):
    (folder / "shots" / "s0.blend").rename(folder / "shots" / "a.blend")
    for name in ("b", "c"):
        shutil.copy(folder / "shots" / "a.blend", folder / "shots" / f"{name}.blend")
    return folder


@pytest.fixture
def run_batch(batch_here, folder):
    def run(*flags, **job):
        (folder / "job.json").write_text(json.dumps({"output": "baked/{shot}.blend", **job}))
        return batch_here(*flags)

    return run


def frames_of(path):
    return sorted({frame for _, _, frame in keys_in(path)})


def test_a_shots_own_table_wins_over_the_job_and_leaves_the_others_alone(run_batch, shots):
    table = {"file": "shots/b.blend", "frame_start": 3, "frame_end": 5, "output": "special/{shot}.blend"}
    ended = run_batch(shots=["shots/*.blend", table], frame_start=1, frame_end=9, chains=[{"name": "leg", **CHAIN}])
    assert ended.code == 0, ended.complained
    assert frames_of(shots / "baked" / "a.blend") == list(range(1, 10))
    assert frames_of(shots / "special" / "b.blend") == [3, 4, 5]
    assert not (shots / "baked" / "b.blend").exists()


def test_a_shots_own_chains_stand_instead_of_the_jobs(run_batch, shots):
    wrong = {**CHAIN, "target": "Nobody"}
    table = {"file": "shots/c.blend", "chains": [CHAIN]}
    ended = run_batch(shots=["shots/a.blend", table], chains=[wrong])
    assert (ended.code, states(shots)) == (1, {"a": "failed", "c": "done"})


@pytest.mark.parametrize(
    "table, reason",
    [
        ({"frame_start": 3}, '"shots[0].file" is missing'),
        ({"file": "shots/a.blend", "step": 0}, "shots[0].step"),
        ({"file": "shots/a.blend", "targt": "Foot"}, 'Did you mean "target"'),
        ({"file": "shots/a.blend", "frame_start": 9, "frame_range": "CUSTOM", "frame_end": 8}, "ends before it starts"),
    ],
)
def test_a_shots_table_is_checked_before_any_shot_is_opened(run_batch, shots, table, reason):
    ended = run_batch(shots=[table], **CHAIN)
    assert ended.code == 2
    assert reason in ended.complained


def test_resume_does_a_shot_again_whose_table_has_changed(run_batch, shots):
    def run(end, *flags):
        table = {"file": "shots/b.blend", "frame_start": 1, "frame_end": end}
        return run_batch(*flags, shots=["shots/a.blend", table], **CHAIN)

    run(4)
    untouched = (shots / "baked" / "a.blend").stat().st_mtime_ns
    assert run(6, "--resume").code == 0
    assert frames_of(shots / "baked" / "b.blend") == [1, 2, 3, 4, 5, 6]
    assert (shots / "baked" / "a.blend").stat().st_mtime_ns == untouched


def test_a_dry_run_opens_every_shot_and_saves_nothing(run_batch, shots):
    save_before = {path: path.read_bytes() for path in (shots / "shots").iterdir()}
    (shots / "job.json.summary.json").write_text("of an earlier batch")
    ended = run_batch("--dry-run", shots=["shots/*.blend"], **CHAIN)
    assert ended.code == 0, ended.complained
    looked = json.loads((shots / "job.json.dry_run.json").read_text())["shots"]
    assert [shot["report"]["chains"][0]["reached"] for shot in looked] == [24, 24, 24]
    assert not (shots / "baked").exists()
    assert {path: path.read_bytes() for path in (shots / "shots").iterdir()} == save_before
    assert (shots / "job.json.summary.json").read_text() == "of an earlier batch"


def test_a_batch_converts(run_batch, folder):
    rig, target = make_shot()
    constraint = rig.pose.bones["lower"].constraints.new("IK")
    constraint.target, constraint.chain_count = target, 2
    save(folder / "shots" / "s0.blend")
    ended = run_batch(shots=["shots/*.blend"], use="convert", armature="Rig", switch_off="INFLUENCE")
    assert ended.code == 0, ended.complained
    assert 'pose.bones["upper"].rotation_quaternion' in {path for path, _, _ in keys_in(folder / "baked" / "s0.blend")}
    assert not bpy.data.objects["Rig"].pose.bones["lower"].constraints["IK"].mute


def test_a_batch_bakes_targets_and_clears(run_batch, shots):
    run_batch(shots=["shots/a.blend"], **CHAIN)
    (shots / "shots" / "a.blend").write_bytes((shots / "baked" / "a.blend").read_bytes())
    assert run_batch(shots=["shots/a.blend"], use="target", output="t/{shot}.blend", **CHAIN).code == 0
    assert run_batch(shots=["shots/a.blend"], use="clear", output="c/{shot}.blend", **CHAIN).code == 0
    assert keys_in(shots / "t" / "a.blend")
    assert not keys_in(shots / "c" / "a.blend")


def test_what_is_stored_is_listed_and_measured(run_batch, folder):
    rig, target = make_shot()
    store_chain(rig, target)
    save(folder / "shots" / "s0.blend")
    before = (folder / "shots" / "s0.blend").read_bytes()
    for job in ({"use": "chains"}, {"use": "report", "stored": True}):
        assert run_batch(shots=["shots/*.blend"], output="", **job).code == 0
        record = records(folder)["s0"]
        assert record["state"] == "done", record["reason"]
        assert record["report"]["chains"][0]["upper"] == "upper"
        assert "1 of 1 shots are done already" in run_batch("--resume", shots=["shots/*.blend"], output="", **job).said
    assert (folder / "shots" / "s0.blend").read_bytes() == before


@pytest.mark.parametrize("key", ["bone", "switch_off"])
def test_what_only_converting_knows_is_refused_elsewhere(run_batch, shots, key):
    ended = run_batch(shots=["shots/a.blend"], **{key: "MUTE"}, **CHAIN)
    assert ended.code == 2
    assert "convert" in ended.complained


@pytest.fixture
def second_scene(tmp_path, registered_addon):
    """The leg in the scene "Take 2" with a range of its own; open is an empty scene."""
    rig, target = make_shot()
    store_chain(rig, target)
    scene = bpy.context.scene
    scene.name, scene.frame_end = "Take 2", 6
    bpy.data.scenes.new("Empty")
    bpy.context.window.scene = bpy.data.scenes["Empty"]
    save(tmp_path / "shot.blend")
    return tmp_path / "shot.blend"


@pytest.mark.parametrize("chosen", [LEG, ["--stored"]], ids=["flags", "stored"])
def test_another_scene_of_the_file_is_baked_and_the_open_one_stays_open(twobone, second_scene, tmp_path, chosen):
    goal = tmp_path / "baked.blend"
    ended = twobone("bake", "--file", second_scene, "--scene", "Take 2", *chosen, "--save", goal)
    assert ended.code == 0, ended.complained
    assert frames_of(goal) == [1, 2, 3, 4, 5, 6]
    assert bpy.context.scene.name == "Empty"
    assert len({curve[:2] for curve in keys_of(bpy.data.objects["Rig"])}) == 8


def test_a_scene_that_is_not_there_is_refused_with_those_that_are(twobone, second_scene):
    ended = twobone("bake", "--file", second_scene, "--scene", "Take 3", *LEG)
    assert ended.code == 1
    assert 'Scene "Take 3" is not in this file. Use one that is ("Empty", "Take 2").' in ended.complained


def test_the_chains_of_another_scene_are_listed(twobone, second_scene):
    ended = twobone("chains", "--file", second_scene, "--scene", "Take 2", "--report", "-")
    document = json.loads(ended.said)
    assert (document["scene"], [chain["name"] for chain in document["chains"]]) == ("Take 2", ["leg"])
