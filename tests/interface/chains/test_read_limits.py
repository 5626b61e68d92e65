"""Limits read from the rig keep a baked chain where the rig's own limits would keep it."""

import math

import bpy
import numpy as np
import pytest

from tests.tasks.scenes import LEG, STRAIGHT_LEG, BoneShape, add_empty, bent, build_armature, key_places, set_range

LAST = 24
TILT = 0.02
"""Radians that the turn about a bone's axis differs from that about the plane's normal, where the two are not quite one."""


def chain_of(rig, **settings):
    chain = rig.twobone.chains.add()
    chain.upper, chain.lower, chain.target, chain.plane = "upper", "lower", add_empty(), "YZ"
    for name, value in settings.items():
        setattr(chain, name, value)
    turn = np.linspace(0.0, 2.0 * math.pi, LAST)
    key_places(chain.target, np.stack([0 * turn, 1.2 * np.sin(turn), 0.5 + 1.2 * np.cos(turn)], axis=-1))
    set_range(1, LAST)
    return chain


def limit_rotation(rig, bone, **limits):
    constraint = rig.pose.bones[bone].constraints.new("LIMIT_ROTATION")
    constraint.owner_space = "LOCAL"
    for axis, (low, high) in limits.items():
        setattr(constraint, f"use_limit_{axis}", True)
        setattr(constraint, f"min_{axis}", low)
        setattr(constraint, f"max_{axis}", high)


def turns(rig, bone, axis):
    """Euler turn of the bone about one of its axes on every frame, from the keyed rotation."""
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        found.append(rig.pose.bones[bone].rotation_quaternion.to_euler()["xyz".index(axis)])
    return np.array(found)


def without_constraints(rig):
    for bone in rig.pose.bones:
        for constraint in list(bone.constraints):
            bone.constraints.remove(constraint)


@pytest.mark.parametrize("roll", [0.0, math.pi], ids=["hinge along the normal", "hinge against it"])
@pytest.mark.parametrize("plane", ["YZ", "REST"])
@pytest.mark.parametrize("shapes", [LEG, STRAIGHT_LEG], ids=["bent", "straight"])
def test_no_bone_turns_farther_than_its_constraint_allows(empty_file, shapes, plane, roll):
    rig = build_armature(bent(bent(shapes, "upper", roll=roll), "lower", roll=roll))
    limit_rotation(rig, "upper", x=(-0.4, 0.9))
    limit_rotation(rig, "lower", x=(-0.2, 1.3), y=(0.0, 0.0))
    chain = chain_of(rig, plane=plane)
    bpy.ops.twobone.read_limits()
    assert chain.use_limits
    without_constraints(rig)
    bpy.ops.twobone.bake()
    for bone, low, high in (("upper", -0.4, 0.9), ("lower", -0.2, 1.3)):
        found = turns(rig, bone, "x")
        assert found.min() >= low - TILT
        assert found.max() <= high + TILT
        assert found.max() - found.min() > 0.5, "limits that leave no room prove nothing"


def test_ik_limits_and_locks_count_where_there_is_no_constraint(empty_file):
    rig = build_armature(STRAIGHT_LEG)
    upper, lower = rig.pose.bones["upper"], rig.pose.bones["lower"]
    upper.use_ik_limit_x, upper.ik_min_x, upper.ik_max_x = True, -0.5, 0.25
    lower.lock_ik_x = True
    chain = chain_of(rig)
    bpy.ops.twobone.read_limits()
    assert sorted(abs(value) for value in (chain.upper_min, chain.upper_max)) == pytest.approx([0.25, 0.5])
    assert (chain.lower_min, chain.lower_max) == pytest.approx((0.0, 0.0), abs=1e-6)
    bpy.ops.twobone.bake()
    found = turns(rig, "upper", "x")
    assert (found.min(), found.max()) == pytest.approx((-0.5, 0.25), abs=1e-4)


def test_limits_of_a_joint_that_nothing_limits_are_a_whole_turn(empty_file):
    rig = build_armature(LEG)
    limit_rotation(rig, "lower", x=(0.0, 1.0))
    chain = chain_of(rig)
    bpy.ops.twobone.read_limits()
    assert (chain.upper_min, chain.upper_max) == pytest.approx((-math.pi, math.pi))
    assert chain.lower_max - chain.lower_min == pytest.approx(1.0)


def test_muted_constraints_and_other_spaces_do_not_count(empty_file):
    rig = build_armature(LEG)
    limit_rotation(rig, "upper", x=(0.0, 1.0))
    limit_rotation(rig, "lower", x=(0.0, 1.0))
    rig.pose.bones["upper"].constraints[0].mute = True
    rig.pose.bones["lower"].constraints[0].owner_space = "WORLD"
    chain = chain_of(rig)
    with pytest.raises(RuntimeError, match=r"No joint limits found .* Add Limit Rotation constraints"):
        bpy.ops.twobone.read_limits()
    assert not chain.use_limits


def test_every_joint_gets_its_own_limits(empty_file):
    rig = build_armature((*STRAIGHT_LEG, BoneShape("toe", (0, 0, -1.75), (0, 0, -2.5), "lower", connected=True)))
    for bone, high in (("upper", 0.5), ("lower", 0.7), ("toe", 0.9)):
        limit_rotation(rig, bone, x=(0.0, high))
    chain = chain_of(rig, lower="toe", joints="ALL", tip_end="TAIL")
    bpy.ops.twobone.read_limits()
    spans = [limit.maximum - limit.minimum for limit in chain.limits]
    assert spans == pytest.approx([0.5, 0.7, 0.9])
    without_constraints(rig)
    bpy.ops.twobone.bake()
    for bone, high in (("upper", 0.5), ("lower", 0.7), ("toe", 0.9)):
        found = turns(rig, bone, "x")
        assert found.min() >= -1e-5
        assert found.max() <= high + 1e-5
