"""Flags of several chains: what went to which chain is said, and what makes no sense together is refused."""

import json

import pytest

from tests.command_line.shots import LEG, make_shot, save, store_chain

CHAIN = ["--upper", "upper", "--lower", "lower"]


@pytest.fixture
def shot(tmp_path, registered_addon):
    rig, target = make_shot()
    store_chain(rig, target)
    save(tmp_path / "shot.blend")
    return tmp_path / "shot.blend"


def test_flags_that_only_the_last_chain_has_are_named(twobone, shot):
    first = ["--chain", "first", *CHAIN, "--target", "Target"]
    second = ["--chain", "second", *CHAIN, "--target", "Target", "--bend", "negative", "--plane", "XZ"]
    ended = twobone("bake", "--file", shot, "--armature", "Rig", "--last-wins", *first, *second)
    assert ended.code == 0, ended.complained
    assert 'Only chain "second" has --bend, --plane.' in ended.said


@pytest.mark.parametrize("words", [LEG, ["--chain", "leg", *LEG], [*LEG[:2], "--stored"]], ids=["one", "named", "stored"])
def test_nothing_is_said_about_flags_that_can_be_nobody_elses(twobone, shot, words):
    assert "Only chain" not in twobone("bake", "--file", shot, *words).said


@pytest.mark.parametrize("flags", [["--upper", "upper"], ["--lower", "lower"], ["--tip", "lower"], ["--tip-end", "tail"]])
def test_stored_chains_have_bones_of_their_own(twobone, shot, flags):
    ended = twobone("bake", "--file", shot, "--stored", *flags)
    assert ended.code == 2
    assert f"cannot be combined with {flags[0]}" in ended.complained


@pytest.mark.parametrize("whose", [{"stored": True}, {"use": "target", "scope": "SCENE"}], ids=["stored", "scope"])
@pytest.mark.parametrize("bone", ["upper", "tip"])
def test_nor_does_a_job_name_bones_for_them(twobone, shot, tmp_path, whose, bone):
    job = tmp_path / "job.json"
    job.write_text(json.dumps({**whose, bone: "lower"}))
    ended = twobone(whose.get("use", "bake"), "--file", shot, "--job", job)
    assert ended.code == 2
    assert f'cannot be combined with "{bone}"' in ended.complained
