"""`limbs`: chains in the file, only where saving was asked for."""

import json

import bpy
import pytest

from tests.command_line.shots import save
from tests.command_line.validators import validator
from tests.tasks.rigs.person import person


@pytest.fixture
def shot(tmp_path, registered_addon):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    person()
    save(tmp_path / "shot.blend")
    return tmp_path / "shot.blend"


def chains(path):
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return {chain.name: chain.target for chain in bpy.data.objects["Rig"].twobone.chains}


def test_the_chains_are_stored_and_said(twobone, shot, tmp_path):
    ended = twobone("limbs", "--file", shot, "--armature", "Rig", "--targets", "--save", "--report", tmp_path / "report.json")
    assert ended.code == 0, ended.complained
    assert "Limbs added: Left Leg, Right Leg, Left Arm, Right Arm." in ended.said
    document = json.loads((tmp_path / "report.json").read_text())
    validator("report").validate(document)
    assert [limb["chain"] for limb in document["limbs"]] == ["Left Leg", "Right Leg", "Left Arm", "Right Arm"]
    stored = chains(shot)
    assert set(stored) == {"Left Leg", "Right Leg", "Left Arm", "Right Arm"}
    assert None not in stored.values()


def test_without_save_the_shot_stays_as_it_is(twobone, shot):
    ended = twobone("limbs", "--file", shot)
    assert ended.code == 0, ended.complained
    assert "Not saved" in ended.said
    assert not chains(shot)


def test_an_armature_that_is_not_there_is_one_sentence(twobone, shot):
    ended = twobone("limbs", "--file", shot, "--armature", "Nobody", "--save")
    assert ended.code == 1
    assert 'Armature "Nobody" is not in this file' in ended.complained
    assert not chains(shot)
