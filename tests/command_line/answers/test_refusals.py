"""Requests that make no sense, and shots that lack what they name: one sentence, exit code 2 or 1, nothing written."""

import json

import bpy
import pytest

from tests.command_line.jobs import CHAIN
from tests.command_line.shots import LEG, make_shot, save

BAD_FLAGS = {
    "unknown flag": (["--nonsense", "1"], "nonsense"),
    "unknown plane": (["--plane", "UVW"], "--plane"),
    "no number": (["--step", "many"], "--step"),
    "NaN": (["--frame-start", "nan"], "Start"),
    "infinite": (["--tolerance", "inf"], "Tolerance"),
    "step 0": (["--step", "0"], "Step"),
    "reversed range": (["--frame-range", "custom", "--frame-start", "9", "--frame-end", "8"], "ends before it starts"),
    "swapped limits": (["--upper-min", "1", "--upper-max", "-1"], "Swap"),
    "shortened flag": (["--targ", "Target"], "targ"),
    "chain beside stored": (["--stored", "--chain", "leg", "--upper", "upper"], "--stored"),
    "quiet and verbose": (["--quiet", "--verbose"], "--verbose"),
    "negative error": (["--max-error", "-1"], "--max-error"),
}

MISSING = {
    "bone": (["--lower", "tail fin"], "tail fin"),
    "armature": (["--armature", "Nobody"], "Nobody"),
    "target": (["--target", "Nobody"], "Nobody"),
    "target of its own": (["--target", "Rig"], "Rig"),
    "bones the wrong way round": (["--upper", "lower", "--lower", "upper"], "is not a descendant of"),
    "a billion steps": (["--step", "1e-8"], "larger step"),
    "the end of time": (["--frame-range", "CUSTOM", "--frame-start", "2e6", "--frame-end", "2e6"], "1,048,574"),
    "the beginning of time": (["--frame-range", "CUSTOM", "--frame-start", "-2e6", "--frame-end", "-2e6"], "1,048,574"),
    "an empty range": (
        ["--frame-range", "CUSTOM", "--frame-start", "90", "--frame-end", "99", "--keys", "TARGET_KEYS"],
        "no keys between 90 and 99",
    ),
    "no range": (["--frame-range", "TARGET", "--target", "Still"], "no keys of its own"),
    "a billion frames": (["--frame-range", "CUSTOM", "--frame-end", "1e9"], "shorter range"),
}

BAD_JOBS = {
    "not UTF-8": (b'target = "F\xfc\xdfe"\n', "line 1"),
    "not TOML": (b"target = \n", "line 1"),
    "unknown key": (b'targt = "Target"\n', 'Did you mean "target"'),
    "unknown key of a chain": (b'[[chains]]\nuper = "upper"\n', "chains[0].uper"),
    "wrong type": (b"target = 3\n", '"target"'),
    "number as text": (b'step = "1"\n', '"step"'),
    "yes for true": (b'verify = "yes"\n', '"verify"'),
    "NaN": (b"step = nan\n", '"step"'),
    "step 0": (b"step = 0\n", '"step"'),
    "reversed range": (b'frame_range = "CUSTOM"\nframe_start = 9\nframe_end = 8\n', "ends before it starts"),
    "reversed range of a chain": (b'frame_range = "CUSTOM"\nframe_start = 9\n[[chains]]\nframe_end = 8\n', "chains[0]"),
    "chains that are no list": (b'chains = "leg"\n', '"chains"'),
    "a chain that is no table": (b"chains = [1]\n", '"chains"'),
    "shots that are no list": (b'shots = "a.blend"\n', '"shots"'),
    "name that is no text": (b"[[chains]]\nname = 3\n", "chains[0].name"),
    "chains beside stored": (b"stored = true\n[[chains]]\n", '"stored"'),
    "output beside in_place": (b'output = "{shot}.blend"\nin_place = true\n', '"in_place"'),
    "endless error": (b"max_error = inf\n", '"max_error"'),
    "limits that are no pairs": (b"limits = [[1.0], [2.0]]\n", '"limits"'),
    "endless limits of a chain": (b"[[chains]]\nlimits = [[-1.0, inf]]\n", "chains[0].limits"),
    "swapped limits of a joint": (b"limits = [[-1.0, 1.0], [2.0, 1.0]]\n", "joint 2"),
    "key twice": (b"step = 1\nstep = 2\n", "line 2"),
}


@pytest.fixture
def folder(tmp_path, registered_addon):
    """A folder with one shot, which the test must leave as it is."""
    make_shot()
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Still", None))
    save(tmp_path / "shot.blend")
    before = snapshot(tmp_path)
    yield tmp_path
    (tmp_path / "job.toml").unlink(missing_ok=True)
    (tmp_path / "job.json").unlink(missing_ok=True)
    assert snapshot(tmp_path) == before


def snapshot(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def assert_refused(ended, code, hint):
    assert ended.code == code, ended.complained
    assert hint in ended.complained
    assert len(ended.complained.splitlines()) == 1
    assert "Traceback" not in ended.complained


def arguments(folder):
    return ["bake", "--file", folder / "shot.blend", *LEG, "--save", folder / "new.blend", "--report", folder / "new.json"]


@pytest.mark.parametrize("flags, hint", BAD_FLAGS.values(), ids=BAD_FLAGS)
def test_flags_that_make_no_sense(twobone, folder, flags, hint):
    assert_refused(twobone(*arguments(folder), *flags), 2, hint)


@pytest.mark.parametrize("flags, hint", MISSING.values(), ids=MISSING)
def test_things_that_the_shot_does_not_have(twobone, folder, flags, hint):
    assert_refused(twobone(*arguments(folder), *flags), 1, hint)


@pytest.mark.parametrize("text, hint", BAD_JOBS.values(), ids=BAD_JOBS)
def test_jobs_that_make_no_sense(twobone, folder, text, hint):
    (folder / "job.toml").write_bytes(text)
    ended = twobone("bake", "--file", folder / "shot.blend", "--job", folder / "job.toml", "--save", folder / "new.blend")
    assert_refused(ended, 2, hint)
    assert "job.toml" in ended.complained


@pytest.mark.parametrize(
    "text, hint",
    [
        ("[", "line 1"),
        ("[]", "not a table"),
        ('{"step": NaN}', "NaN"),
        ('{"step": 1, "step": 2}', "twice"),
        ('{"chains": [{"plane": null}]}', "chains[0].plane"),
        ("[" * 100_000, "nested"),
    ],
)
def test_json_jobs_that_make_no_sense(twobone, folder, text, hint):
    (folder / "job.json").write_text(text)
    assert_refused(twobone("bake", "--file", folder / "shot.blend", "--job", folder / "job.json"), 2, hint)


def test_a_job_that_is_not_there_or_of_another_kind(twobone, folder):
    assert_refused(twobone("bake", "--job", folder / "none.toml"), 2, "none.toml")
    assert_refused(twobone("bake", "--job", folder / "shot.blend"), 2, "shot.blend")


def test_chains_in_job_and_flags(twobone, folder):
    (folder / "job.json").write_text(json.dumps({"chains": [CHAIN]}))
    assert_refused(twobone(*arguments(folder), "--job", folder / "job.json", "--chain", "leg"), 2, "in one place")


@pytest.mark.parametrize("content", [None, b"", b"BLENDER-v4", b"nonsense " * 100])
def test_shots_that_cannot_be_opened(twobone, folder, content):
    path = folder / "broken.blend"
    if content is not None:
        path.write_bytes(content)
    ended = twobone("bake", "--file", path, *LEG, "--save", folder / "new.blend")
    path.unlink(missing_ok=True)
    assert_refused(ended, 1, "broken.blend")


def test_a_shot_that_blender_was_started_with_but_could_not_open(twobone, monkeypatch, registered_addon):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    monkeypatch.setattr("sys.argv", ["blender", "--background", "gone.blend", "--command", "twobone", "bake"])
    assert_refused(twobone("bake", *LEG), 1, "gone.blend")


def test_nothing_but_help_ends_the_process(twobone):
    with pytest.raises(SystemExit) as ended:
        twobone("bake", "--help")
    assert ended.value.code == 0
    assert twobone().code == 2
    assert twobone("dance").code == 2


def test_every_setting_of_the_operator_is_a_flag(registered_addon):
    from twobone_addon.command_line.command import parse
    from twobone_addon.settings import OPTIONS

    for option in OPTIONS:
        flag = f"--{option.name.replace('_', '-')}"
        values = [] if isinstance(option.default, bool) else [str(option.default)]
        found = parse(["bake", flag, *values]).groups[0].values
        assert found == {option.name: True if isinstance(option.default, bool) else option.default}
        if isinstance(option.default, bool):
            assert parse(["bake", flag.replace("--", "--no-")]).groups[0].values == {option.name: False}


@pytest.mark.parametrize("text", ["-3", "-0.5", "-.5", "-1e-3", "-2.5E+2", "1e-3"])
def test_numbers_are_understood_in_every_way_of_writing_them(registered_addon, text):
    from twobone_addon.command_line.command import parse

    for words in (["--frame-start", text], [f"--frame-start={text}"]):
        assert parse(["bake", *words, "--no-verify"]).groups[0].values == {"frame_start": float(text), "verify": False}


def test_two_chains_on_one_bone_are_told_by_the_names_that_they_were_given(twobone, tmp_path, registered_addon):
    shot = tmp_path / "shot.blend"
    make_shot(shot)
    chain = LEG[2:6]
    words = ["bake", "--file", shot, "--armature", "Rig", *LEG[6:], "--chain", "left leg", *chain, "--chain", "other", *chain]
    ended = twobone(*words)
    assert (ended.code, 'Chains "left leg" and "other"' in ended.complained) == (1, True), ended.complained
