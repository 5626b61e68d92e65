"""Which shots a job means and where they go; whatever would mix files up is refused."""

import json
from pathlib import Path

import pytest

from twobone_addon.command_line.batch.shots import find_shots
from twobone_addon.command_line.job import Job, job_text, load_job
from twobone_addon.command_line.outcomes import UsageError


@pytest.fixture
def folder(tmp_path):
    for name in ("shots/a.blend", "shots/b.blend", "shots/deep/a.blend", "shots/notes.txt", "shots/...blend"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "shots" / "folder.blend").mkdir()
    return tmp_path


def found(folder, shots, output="baked/{shot}.blend", **rest):
    return find_shots(Job(path=folder / "walk.toml", shots=tuple(shots), output=output, **rest))


def test_patterns_find_files_once_and_in_order(folder):
    shots = found(folder, ["shots/[ab].blend", "shots/a.blend"])
    assert [shot.name for shot in shots] == ["shots/a.blend", "shots/b.blend"]
    assert [shot.goal for shot in shots] == [folder / "baked" / "a.blend", folder / "baked" / "b.blend"]


def test_two_stars_look_into_folders(folder):
    shots = found(folder, ["shots/**/a.blend"], "{folder}/baked/{shot}_baked.blend")
    assert [shot.name for shot in shots] == ["shots/a.blend", "shots/deep/a.blend"]
    assert shots[1].goal == folder / "shots" / "deep" / "baked" / "a_baked.blend"


def test_a_file_that_is_named_but_missing_is_a_shot_that_will_fail(folder):
    assert [shot.name for shot in found(folder, ["shots/gone.blend"])] == ["shots/gone.blend"]


def test_placeholders(folder):
    assert found(folder, ["shots/a.blend"], "out/{job}_{shot}.blend")[0].goal == folder / "out" / "walk_a.blend"
    absolute = f"{folder}/elsewhere/{{shot}}.blend"
    assert found(folder, ["shots/a.blend"], absolute)[0].goal == folder / "elsewhere" / "a.blend"


def test_a_shot_that_is_called_like_a_placeholder_keeps_its_name(folder):
    (folder / "shots" / "{version}.blend").touch()
    assert found(folder, ["shots/{version}.blend"])[0].goal == folder / "baked" / "{version}.blend"
    assert found(folder, ["shots/{version}.blend"], "b/{shot}_{version}.blend")[0].goal.name == "{version}_001.blend"


def test_in_place_the_goal_is_the_shot(folder):
    shot = found(folder, ["shots/a.blend"], "", in_place=True)[0]
    assert shot.goal == shot.path


@pytest.mark.parametrize(
    "shots, output, hint",
    [
        ([], "{shot}.blend", '"shots" is missing'),
        (["shots/a.blend"], "", "where shots go"),
        (["nothing/*.blend"], "{shot}.blend", "no file matches"),
        (["shots/a.blend"], "../{shot}.blend", "climbs up"),
        (["shots/a.blend"], "baked/../../{shot}.blend", "climbs up"),
        (["shots/a.blend"], "baked\\..\\{shot}.blend", "climbs up"),
        (["shots/...blend"], "{shot}/x.blend", "climbs up"),
        (["shots/a.blend"], "baked/{name}.blend", "{name}"),
        (["shots/a.blend"], "baked/{shot.__class__}.blend", "{shot.__class__}"),
        (["shots/a.blend"], "baked/{folder}/{shot}.blend", "in the middle"),
        (["shots/a.blend"], "baked/{shot}.fbx", ".blend"),
        (["shots/a.blend"], "baked/{shot}\0.blend", ".blend"),
        (["shots/[ab].blend"], "baked/one.blend", "Use {shot}"),
        (["shots/**/a.blend"], "baked/{shot}.blend", "Use {path}/{shot}"),
        (["shots/a.blend"], "shots/{shot}.blend", "a shot itself"),
        (["shots/[ab]*.blend"], "shots/{shot}_baked.blend", "a shot itself"),
        (["shots/**/*.blend"], "{folder}/baked/{shot}.blend", "a shot itself"),
        (["shots/**/deep/**/**/*.blend"], "{folder}/{shot}_baked.blend", "a shot itself"),
        (["shots/a.blend"], "{folder}/baked_{shot}.blend", "holds shots"),
        (["shots/a.blend", "shots/deep/a.blend"], "shots/{shot}_{job}.blend", "holds shots"),
    ],
)
def test_what_would_mix_files_up_is_refused(folder, shots, output, hint):
    with pytest.raises(UsageError, match=r"walk\.toml") as refused:
        found(folder, shots, output)
    assert hint in str(refused.value)


def test_paths_outside_the_jobs_folder_keep_their_whole_name(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other") / "c.blend"
    other.touch()
    assert Path(found(folder, [str(other)])[0].name) == other


def test_a_shot_may_have_a_use_and_a_strictness_of_its_own(folder):
    job = folder / "walk.json"
    own = {"file": "shots/b.blend", "use": "report", "strict": True, "max_error": 0.5, "allow_incomplete": True}
    job.write_text(
        json.dumps({"shots": ["shots/a.blend", own], "output": "baked/{shot}.blend", "stored": True, "last_wins": True})
    )
    first, second = find_shots(load_job(job))
    told = [(each.use, each.strict, each.max_error, each.allow_incomplete) for each in (first.job, second.job)]
    assert told == [("bake", False, None, False), ("report", True, 0.5, True)]
    assert second.goal == second.path  # It saves nothing.
    one = folder / "one.json"
    one.write_text(job_text(second.job))
    assert load_job(one).use == "report"
    own["use"] = "plant"
    job.write_text(json.dumps({"shots": [own], "output": "baked/{shot}.blend", "stored": True}))
    with pytest.raises(UsageError, match=r"shots\[0\]\.use"):
        load_job(job)
