"""From a plan and its motion to a posed chain and its keys: numbers only, nothing is read or changed."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ..array_types import Array
from ..rig.inverse import ChainPose, follow_targets
from ..scene.keys_reading import surroundings
from ..scene.sampling import Quantity
from ..scene.writing import ChannelKeys
from ..solver import ReachOptions
from .curve_values import Surroundings, rotation_curves
from .motion import PlanMotion
from .planning import ChainPlan

SINGLE_PRECISION = 1e-6
"""Relative error of positions that Blender evaluates, with a margin of ten: what is out of reach by less is reached."""

SIDES = {"POSITIVE": 1.0, "NEGATIVE": -1.0}


@dataclass(frozen=True, slots=True)
class Solved:
    """One chain, posed and ready to be written."""

    plan: ChainPlan
    rows: Array
    """`(F,)` rows of the plan's frames among all sampled frames."""
    pose: ChainPose
    keys: list[ChannelKeys]


def motion_quantities(plan: ChainPlan) -> list[Quantity]:
    """What to sample before solving."""
    parent = [plan.parent] if plan.parent else []
    return [plan.armature_world, plan.target_world, *parent, *plan.channels]


def solve_chain_pose(plan: ChainPlan, motion: PlanMotion) -> ChainPose:
    """Pose the plan's chain on its target, for every row of the motion."""
    return follow_targets(
        plan.rest,
        motion.chain,
        frames=motion.plane_frames,
        targets=motion.targets_armature,
        bend=np.full(len(motion.targets_armature), SIDES[plan.settings.bend]),
        options=ReachOptions(tolerance=_reach_tolerance(plan)),
    )


def solve_keys(plan: ChainPlan, rows: Array, motion: PlanMotion) -> Solved:
    """Pose the plan's chain and turn the poses into keys."""
    pose = solve_chain_pose(plan, motion)
    keys = [key for number in range(len(plan.rest.turning)) for key in _bone_keys(plan, motion, pose, number)]
    return Solved(plan, rows, pose, keys)


def _reach_tolerance(plan: ChainPlan) -> float:
    """Slack of the reach, relative to the chain's length: positions far from the armature's origin are less exact."""
    joints = plan.rest.rest_joints()
    length = np.sqrt(np.sum(np.diff(joints, axis=0) ** 2, axis=-1)).sum()
    if length == 0.0:
        return SINGLE_PRECISION
    return SINGLE_PRECISION * (1.0 + float(np.max(np.abs(joints))) / float(length))


def _bone_keys(plan: ChainPlan, motion: PlanMotion, pose: ChainPose, number: int) -> list[ChannelKeys]:
    index = plan.rest.turning[number]
    bone = plan.rest.bones[index]
    path = plan.rotation_path(number)
    curves = rotation_curves(
        bone.rotation_mode,
        rotation=pose.turned.rotations[number],
        axis=pose.turned.axes[number],
        turn=pose.turned.turns[number],
        present=motion.rotation_values[index],
        outside=_surroundings(plan, path, motion.rotation_values[index]),
    )
    return [
        ChannelKeys(path, channel, bone.name, plan.frames, curves.values[:, column])
        for column, channel in enumerate(curves.indices)
    ]


def _surroundings(plan: ChainPlan, path: str, present: Array) -> Surroundings:
    """Values of the keys around the range; a channel without keys there has its present value."""
    armature = bpy.data.objects[plan.names.armature]
    found = [surroundings(armature, path, index, plan.frames[0], plan.frames[-1]) for index in range(4)]
    sides = []
    for side, row in ((0, 0), (1, -1)):
        values = [pair[side] for pair in found]
        known = any(value is not None for value in values)
        width = 3 if path.endswith("rotation_euler") else 4
        filled = [present[row, index] if value is None else value for index, value in enumerate(values)]
        sides.append(np.array(filled[:width]) if known else None)
    return Surroundings(*sides)
