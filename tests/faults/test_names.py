"""Names with quotes, backslashes, brackets, Unicode, and as long as they may be: baked, baked again, cleared, from a file too."""

import json

import bpy
import pytest

from tests.faults.attacking import bake_all, make_leg, store_leg
from tests.tasks.checks.checking import assert_bake_reaches
from tests.tasks.checks.targets import curves_of
from tests.tasks.scenes import Limb

NAMES = (
    'a"b', "a'b", "back\\slash", "end\\", 'a"]', '"]["', 'a\\"b', '["x"]', 'pose.bones["upper"].rotation_quaternion',
    "Überarm 腕 🦾", "\u202e from the right", "new\nline", "tab\t", " ", ".", "%s{0}", "x" * 59, "é" * 29, "\x01",
)  # fmt: skip
DESTINATIONS = ("ACTION", "NEW_ACTION", "NLA")


def make_named_leg(name):
    rig, target = make_leg(rig=f"R{name}", target=f"T{name}")
    bones = {}
    for bone, letter in (("parent", "p"), ("upper", "u"), ("lower", "l")):
        rig.data.bones[bone].name = letter + name
        bones[bone] = next(each.name for each in rig.data.bones if each.name.startswith(letter))
    return rig, target, Limb(rig.name, bones["upper"], bones["lower"], bones["lower"])


@pytest.mark.parametrize("destination", DESTINATIONS)
@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_any_name_is_baked_and_cleared(empty_file, name, destination):
    rig, target, limb = make_named_leg(name)
    rig.pose.bones[limb.upper].keyframe_insert("location", frame=2)
    for evaluation in ("AUTO", "SCENE"):
        assert_bake_reaches(rig, target, limb, destination=destination, evaluation=evaluation)
    if destination == "NLA":
        assert len(rig.animation_data.nla_tracks) == 1
    assert bpy.ops.twobone.clear_baked(**limb.names(), destination=destination) == {"FINISHED"}
    assert {fcurve.data_path.rpartition(".")[2] for fcurve in curves_of(rig)} == {"location"}
    assert not rig.animation_data.nla_tracks


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_any_name_is_stored_and_baked_after_the_file_is_opened_again(empty_file, name, tmp_path):
    rig, target, limb = make_named_leg(name)
    store_leg(rig, target, name=name, upper=limb.upper, lower=limb.lower)
    path = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert bake_all() == {"FINISHED"}
    report = json.loads(bpy.context.window_manager.twobone_report)
    assert report["upper"] == limb.upper
    assert report["max_error"] < 1e-5


def test_a_chain_name_longer_than_a_strip_can_have_fills_the_same_strip_again(empty_file):
    rig, target = make_leg()
    store_leg(rig, target, name="naïve " * 20, destination="NLA")
    bake_all()
    bake_all()
    assert len(rig.animation_data.nla_tracks) == 1
    assert bpy.ops.twobone.clear_baked() == {"FINISHED"}
    assert rig.animation_data is None or not rig.animation_data.nla_tracks
