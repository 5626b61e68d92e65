"""A limb as Rigify makes it: its shown bones copy FK controls and, on top of these, bones on IK, by a property of a switch."""

import bpy
import numpy as np
import pytest

from tests.tasks.rigs.legs_with_ik import convert
from tests.tasks.scenes import BoneShape, build_armature, key_channel, set_range

JOINTS = ((0.1, 0, 1), (0.1, -0.1, 0.5), (0.1, 0, 0.1), (0.1, -0.2, 0))
PARTS = ("thigh", "shin", "foot")
LAST = 30
SWITCH = 'pose.bones["parent"]["IK_FK"]'


def strand(kind):
    """The three bones of a leg."""
    return [
        BoneShape(f"{part}{kind}", JOINTS[number], JOINTS[number + 1], ("root", *(f"{part}{kind}" for part in PARTS))[number])
        for number, part in enumerate(PARTS)
    ]


@pytest.fixture
def leg(empty_file):
    """The leg, on IK throughout, whose foot control moves."""
    rig = build_armature(
        (
            BoneShape("root", (0, 0, 0), (0, 0.3, 0)),
            BoneShape("parent", (0.4, 0, 1), (0.4, 0.2, 1), "root"),
            BoneShape("control", JOINTS[2], JOINTS[3], "root"),
            *(bone for kind in ("", "_fk", "_ik") for bone in strand(kind)),
        )
    )
    bones = rig.pose.bones
    for bone in bones:
        bone.rotation_mode = "XYZ"
    ik = bones["shin_ik"].constraints.new("IK")
    ik.target, ik.subtarget, ik.chain_count = rig, "control", 2
    bones["parent"]["IK_FK"] = 0.0
    for part in PARTS:
        for source in (f"{part}_fk", f"{part}_ik" if part != "foot" else "control"):
            constraint = bones[part].constraints.new("COPY_TRANSFORMS")
            constraint.target, constraint.subtarget = rig, source
        driver = bones[part].constraints[1].driver_add("influence").driver
        driver.type, variable = "SCRIPTED", driver.variables.new()
        variable.name, variable.targets[0].id, variable.targets[0].data_path = "fk", rig, SWITCH
        driver.expression = "1 - fk"
    set_range(1, LAST)
    places = {1: (0, -0.05, 0), 10: (0, -0.3, 0.05), 20: (0.05, -0.1, 0), LAST: (0, -0.2, 0)}
    key_channel(bones["control"], "location", places)
    bpy.context.view_layer.update()
    return rig


def places(rig, names, frames):
    """Matrices of some bones over the frames, armature space."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(seen.pose.bones[name].matrix) for name in names])
    return np.array(found)


def test_over_a_part_of_the_frames_nothing_outside_moves_and_inside_fk_shows_what_ik_did(leg):
    inside, outside = range(10, 21), [*range(1, 10), *range(21, LAST + 1)]
    controls = [f"{part}_fk" for part in PARTS]
    shown, around = places(leg, PARTS, inside), places(leg, [*PARTS, *controls, "control"], outside)
    assert np.ptp(shown[:, 2, :3, 3], axis=0).max() > 0.1
    set_range(10, 20)
    convert(leg, rigify=True)
    assert [frame for frame in range(1, LAST + 1) if switch_at(leg, frame) > 0.5] == list(inside)
    assert np.abs(places(leg, PARTS, inside) - shown).max() < 1e-3
    # The controls stay where they were: who switches to FK there finds them as they left them.
    assert np.abs(places(leg, [*PARTS, *controls, "control"], outside) - around).max() < 1e-5


def switch_at(rig, frame):
    bpy.context.scene.frame_set(frame)
    return rig.pose.bones["parent"]["IK_FK"]
