"""World-space feet and joints of legs, computed from samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ....core.array_types import Array
from ....core.arrays import every_row, magnitude, path_length
from ....core.planting.goals import SAMPLES_PER_FRAME
from ....core.planting.ground import Ground
from ....core.planting.pins import Foot
from ....core.rig.bones import RestBone
from ....core.rig.limb_normals import Hinges
from ....core.rig.posing import pose_path, stretched
from ....core.rig.rotations import nearest_rotation
from ....pipeline.motion.plan_motion import AimedMotion, PlanMotion, aimed, plan_motion, points
from ....pipeline.plan.chain_plan import ELSEWHERE
from ....pipeline.pose.limb_plane import hinges_of, posed_joints
from ....records import replace
from ....scene.sampling.quantities import Quantity, Samples

if TYPE_CHECKING:
    from .planning import LegPlan

UNEVEN = 1e-5
"""Smallest difference of a foot's stretch from uniform, relative to its size, that counts."""


@dataclass(frozen=True, slots=True)
class BoneScale:
    """The scale of a bone that changes when its leg stretches."""

    bone: RestBone
    power: int
    """Power of the factor by which the leg is stretched, see `LegPlan.scaled`."""
    present: Array
    """`(S, 3)` present scales."""


@dataclass(frozen=True, slots=True)
class LegMotion:
    """The current motion of one leg at every sample."""

    leg: LegPlan
    motion: PlanMotion
    foot: Foot
    """The foot in world space."""
    joints: Array
    """`(S, 3, 3)` positions of hip, knee and ankle, world space."""
    lengths: Array
    """`(S,)` total length of both links, world units."""
    ball_height: float
    """Height of the ball above the sole at rest, world units."""
    hinges: Hinges | None
    """Bend axes of the leg at its samples; `None` if it is straight at all of them."""
    beside: Array | None = None
    """`(S, 3)` way from the leg's end to a foot that is keyed along; `joints` are shifted by it, so that they end at the foot.
    `None` where the foot hangs from the leg."""
    scales: Sequence[BoneScale] = ()
    """Scales that stretch the leg; empty if it may not stretch."""

    @property
    def length(self) -> float:
        """Largest length of the leg, world units."""
        return float(self.lengths.max())

    @property
    def extensions(self) -> Array:
        """`(S,)` distance from hip to ankle relative to the leg's length."""
        return magnitude(self.joints[:, 2] - self.joints[:, 0]) / self.lengths

    def extensions_for(self, from_hip: Array) -> Array:
        """`(S,)` lengths of vectors `from_hip` `(S, 3)`, world space, relative to the leg's length; above 1 is out of reach.

        Measured in armature space, where links have constant length: in the world, a non-uniform scale stretches the leg.
        """
        into_armature = every_row(self.motion.armature_from_world, len(from_hip))[:, :3, :3]
        inside = (into_armature @ from_hip[..., None])[..., 0]
        return magnitude(inside) / path_length(self.joints @ np.swapaxes(into_armature, -1, -2))


def leg_motion(leg: LegPlan, samples: Samples) -> LegMotion:
    """The motion of a leg, from samples that include its frames."""
    plan = leg.plan
    motion = plan_motion(plan, samples)
    count = len(plan.frames)
    world = every_row(motion.world_from_armature, count)
    inside = posed_joints(plan, motion)
    joints = np.stack([points(world, inside[:, index]) for index in range(inside.shape[1])], axis=1)
    beside = None
    if plan.end_parent == ELSEWHERE and motion.end_pose is not None:
        beside = points(world, every_row(motion.end_pose, count)[:, :3, 3]) - joints[:, -1]
        joints = joints + beside[:, None]
    carrier = pose_path(plan.rest, motion.chain)[-1] if motion.end_pose is None else motion.end_pose
    linear = world[:, :3, :3] @ carrier[:, :3, :3]
    if leg.has_foot:
        foot = _foot(joints[:, -1], linear, (leg.points.heel, leg.points.ball))
    else:
        foot = Foot(joints[:, -1], np.tile(np.eye(3), (count, 1, 1)), np.zeros(3), np.zeros(3))
    size = float(np.cbrt(np.abs(np.linalg.det(world[0, :3, :3]))))
    height = leg.points.ball_height * size
    scales = _scales(leg, samples.on(plan.frames)) if leg.stretch > 1.0 else ()
    hinges = hinges_of(plan, motion, joints=inside)
    return LegMotion(leg, motion, foot, joints, path_length(joints), height, hinges, beside, scales)


def _scales(leg: LegPlan, samples: Samples) -> list[BoneScale]:
    scales = []
    for bone, power in leg.scaled:
        channels = samples[Quantity("CHANNELS", leg.plan.names.armature, bone.name)]
        scales.append(BoneScale(bone, power, every_row(channels, len(leg.plan.frames))[:, 7:]))
    return scales


def on_whole_frames(foot: Foot) -> Foot:
    """A foot sampled at quarter frames, reduced to whole frames."""
    return foot.on(slice(None, None, SAMPLES_PER_FRAME))


def in_ground(foot: Foot, ground: Ground) -> Foot:
    """Transform a foot from world space to the space of its ground."""
    stretches = ground.stretched_into(foot.stretches)
    return replace(foot, ankles=ground.into(foot.ankles), turns=ground.turned_into(foot.turns), stretches=stretches)


def _foot(ankles: Array, linear: Array, offsets: tuple[Array, Array]) -> Foot:
    """The foot of a bone with world axes `linear` `(S, 3, 3)`, with heel and ball at `offsets` from its head in bone space."""
    turns = nearest_rotation(linear)
    stretches = linear @ np.swapaxes(turns, -1, -2)
    size = np.cbrt(np.linalg.det(linear[0]))
    if size and np.abs(stretches / size - np.eye(3)).max() > UNEVEN:
        return Foot(ankles, turns, size * offsets[0], size * offsets[1], stretches / size)
    # Scaled evenly, heel and ball are the same at all samples, up to rounding.
    scale = np.swapaxes(turns, -1, -2) @ linear
    heel, ball = (np.mean(scale @ offset, axis=0) for offset in offsets)
    return Foot(ankles, turns, heel, ball)


def moved_leg(leg: LegMotion, moves: Array, ankles: Array, turns: Array, ratios: Array) -> AimedMotion:
    """The leg's motion with its root moved by `moves` `(S, 3)`, its ankle aimed at `ankles` and its foot oriented as `turns`.

    The links are scaled by `ratios` `(S,)`. All in world space. The leg's parent is translated but not rotated, so a foot that
    keeps its orientation needs no correction.
    """
    motion, count = leg.motion, len(ankles)
    into_armature = every_row(motion.armature_from_world, count)[:, :3, :3]
    targets = np.tile(np.eye(4), (count, 1, 1))
    targets[:, :3, 3] = ankles if leg.beside is None else ankles - leg.beside
    parent = motion.chain.parent_pose
    if np.any(moves):
        if parent is None:  # Only the object carries the leg: relative to it, the target moves.
            targets[:, :3, 3] -= moves
        else:
            parent = every_row(parent, count).copy()
            parent[:, :3, 3] += (into_armature @ moves[..., None])[..., 0]
    end_pose = motion.end_pose
    if end_pose is not None:
        world = every_row(motion.world_from_armature, count)[:, :3, :3]
        corrections = turns @ np.swapaxes(leg.foot.turns, -1, -2)
        if leg.foot.stretches is not None:  # The stretch keeps its axes when the foot turns.
            corrections = leg.foot.stretches @ corrections @ np.linalg.inv(leg.foot.stretches)
        end_pose = every_row(end_pose, count).copy()
        end_pose[:, :3, :3] = into_armature @ corrections @ world @ end_pose[:, :3, :3]
    chain, along = replace(motion.chain, parent_pose=parent), motion.along
    if along and parent is not None and np.any(moves):
        shifts = (into_armature @ moves[..., None])[..., 0]
        # A foot below the root has moved with it; others are where they were.
        along = tuple(
            replace(foot, meets=every_row(foot.meets, count) + shifts) if is_carried else foot
            for foot, is_carried in zip(along, leg.leg.feet_on_root, strict=True)
        )
    if np.any(ratios != 1.0):
        chain = stretched(leg.leg.plan.rest, chain, ratios)
    return aimed(replace(motion, chain=chain, end_pose=end_pose, along=along), targets)
