"""Clear Baked Keys after any task, run once or often and in any order: the file as before."""

import bpy
import pytest

from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.rigs.control_rig import LAST, control_rig, drive_by_property
from tests.tasks.rigs.legs_with_ik import add_ik
from tests.tasks.rigs.walker import Walk, build_walker, key_contacts
from tests.tasks.scenes import LEG, BoneShape, add_empty, build_armature, key_channel, key_places, set_range

LIMB = {"armature": "Rig", "upper": "upper", "lower": "lower"}
FOOT = BoneShape("foot", (0.1, 0.3, -0.7), (0.1, 0.6, -0.8), "lower", connected=True)
MOST_CLEARS = 6


def as_animated():
    """The file, with every channel at what its keys say."""
    bpy.context.scene.frame_set(3)
    return dump_file()


def changed(before):
    """What differs from a file, but for where a task leaves its results and its list of limbs.

    Blender 4.2 shows all that the add-on keeps on an object a second time, as one custom property.
    """
    left_out = (".report", ".name", "chains.length", '["twobone"]')
    return [path for path in differences(before, dump_file()) if not path.endswith(left_out)]


def clear(**names):
    """Until there is nothing left to clear; returns how often that took."""
    for count in range(MOST_CLEARS):
        if bpy.ops.twobone.clear_baked(**names) == {"CANCELLED"}:
            return count
    raise AssertionError("there is always something left")


@pytest.fixture
def leg_with_guides(empty_file):
    """A leg with keys of its own, a target and a pole that have some as well."""
    rig = build_armature((*LEG, FOOT))
    for number, name in enumerate(("upper", "lower", "foot")):
        key_channel(
            rig.pose.bones[name], "rotation_quaternion", {1: (1, 0.1, 0, 0), 7.5: (1, 0.1 * number, 0.2, 0), 12: (1, 0, 0, 0.2)}
        )
    key_places(add_empty("Target"), [(0.1, 0.9 - 0.05 * frame, -0.4) for frame in range(12)])
    key_channel(add_empty("Pole"), "location", {1: (0.3, -3, 0.4), 12: (0.4, -3, 0.8)})
    set_range(1, 12)
    return rig


GUIDED = {**LIMB, "target": "Target", "pole": "Pole", "plane": "POLE"}


def bake(**settings):
    assert bpy.ops.twobone.bake(**GUIDED, **settings) == {"FINISHED"}


def bake_target(**settings):
    assert bpy.ops.twobone.bake_target(**GUIDED, **settings) == {"FINISHED"}


ORDERS = {
    "a bake": [bake],
    "onto the target": [bake_target],
    "there and back": [bake_target, bake],
    "back and there": [bake, bake_target, bake, bake_target],
    "with other settings": [bake, lambda: bake(keys="REDUCE"), lambda: bake(end_rotation="TARGET"), lambda: bake(influence=0.3)],
    "other ranges": [bake, lambda: bake(frame_range="CUSTOM", frame_start=5, frame_end=20), lambda: bake(reach="STRETCH")],
}


@pytest.mark.parametrize("order", ORDERS.values(), ids=list(ORDERS))
def test_bakes_onto_chain_and_target(leg_with_guides, order):
    before = as_animated()
    for act in order:
        act()
    assert changed(before) != []
    assert clear(**LIMB, all_frames=True) > 0
    assert changed(before) == []


@pytest.mark.parametrize("is_animated", [False, True])
def test_a_conversion_gives_the_ik_back(leg_with_guides, is_animated):
    add_ik(leg_with_guides, "lower")
    if is_animated:
        key_channel(leg_with_guides.pose.bones["lower"].constraints["IK"], "influence", {1: 0.3, 12: 1.0})
    before = as_animated()
    assert bpy.ops.twobone.convert_ik(armature="Rig") == {"FINISHED"}
    assert bpy.ops.twobone.bake(**GUIDED) == {"FINISHED"}
    clear(**LIMB)
    assert changed(before) == []


@pytest.mark.parametrize("there_and_back", [("IK",), ("FK",), ("IK", "FK"), ("FK", "IK", "FK")], ids="-".join)
def test_switches_between_ik_and_fk(empty_file, there_and_back):
    rig = control_rig(on_ik=there_and_back[0] == "FK")
    if there_and_back[0] == "IK":
        drive_by_property(rig)
    within = {"frame_range": "CUSTOM", "frame_start": 4, "frame_end": LAST - 4}
    before = as_animated()
    for to in there_and_back:
        assert bpy.ops.twobone.switch(**LIMB, tip="foot", **within, to=to) == {"FINISHED"}
    assert changed(before) != []
    clear(**LIMB, all_frames=True)
    assert changed(before) == []


LEFT, RIGHT = ({"armature": "Walker", "upper": f"thigh.{side}", "lower": f"shin.{side}"} for side in "LR")


@pytest.mark.parametrize("contacts", ["keyed", "found", "found with the feet"])
def test_planted_feet_and_the_contacts_that_were_found(empty_file, contacts):
    armature, states = build_walker(Walk(frames=30, slide=0.02, raised=0.03))
    if contacts == "keyed":
        key_contacts(armature, states)
    before = as_animated()
    if contacts == "found":
        assert bpy.ops.twobone.find_contacts(armature="Walker") == {"FINISHED"}
    for _ in range(2):
        assert bpy.ops.twobone.plant(armature="Walker") == {"FINISHED"}
    clear(**LEFT)
    clear(**RIGHT)
    assert changed(before) == []
