"""From the pose that IK makes to the FK pose that is the same: bones turned into the plane of the limb as it is now.

The plane runs through root, tip and middle joint as IK poses them, and each bone is turned from the pose it has, so
twist, poles, pole angles and influences need not be understood, only seen. Where IK has its tip on the target but for
what its search leaves, the closed form puts it there exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..array_types import Array, Mask
from ..errors import ChainError
from ..rig.bones import BoneChannels, ChainMotion
from ..rig.inheritance import parent_transform, pose_with_channels
from ..rig.local_rotations import Matrices
from ..rig.posing import joints_of, pose_path
from ..rig.rotations import nearest_rotation
from ..scene.guarding import refuse_unwritable
from ..scene.lookup import object_named, rotation_path, scale_path
from ..scene.sampling import Quantity, Samples
from ..scene.writing import ChannelKeys
from .conversion_plans import LimbPlan
from .curve_values import rotation_curves
from .holding import held_outside
from .keying import KeyedChain, keyed_chain
from .motion import PlanMotion, plan_motion, points, posed_channels, rotation_matrices
from .solving import CurveSamples, Solved, solve_curves, surroundings_of

IK_RESIDUAL = 2e-4
"""Tip error, relative to the limb's length, that Blender's IK leaves where it reaches: measured up to 1.5e-4."""

KEYS_SHOW = 1e-3
"""Part of the limb's length by which a pose may differ from what rotation and scale keys can show: more is something else."""


@dataclass(frozen=True, slots=True)
class SolvedLimb:
    """A limb whose FK keys are known."""

    limb: LimbPlan
    keyed: KeyedChain
    shown: Array
    """`(B, F, 4, 4)` poses, armature space, of the bones that show the limb."""
    on_target: Mask
    """`(F,)` where IK has the tip on its target."""


def solve_limb(limb: LimbPlan, samples: Samples, rows: Array) -> SolvedLimb:
    """FK keys for a limb; raises `ChainError` where rotations cannot show what it does."""
    motion = plan_motion(limb.plan, samples, rows)
    shown = np.stack([samples[pose][rows] for pose in limb.poses()])
    shown_joints = _shown_joints(limb, shown)
    own = _own_scales(limb, samples, rows)
    chain, off = _as_shown(limb, motion, samples, rows, scales=own)
    stretched = bool(np.any(off > IK_RESIDUAL))
    if stretched:
        refuse_unwritable(object_named(limb.plan.names.armature), _scale_paths(limb), limb.plan.settings.destination)
        chain, off = _as_shown(limb, motion, samples, rows, scales=None)
        _refuse_moved(limb, off)
    joints = joints_of(limb.plan.rest, pose_path(limb.plan.rest, chain))
    posed = replace(
        motion,
        chain=chain,
        pole_world=points(motion.world_from_armature, joints[:, 1]),
        influence=np.ones(len(motion.frames)),
        end_pose=None if limb.plan.end_bone is None else shown[2],
    )
    solved, on_target = _solved(limb, posed, joints, shown_joints)
    if stretched:
        solved = replace(solved, curves=[*solved.curves, *_scale_curves(limb, solved, own)])
    keyed = keyed_chain(solved)
    extra = [*_further_keys(limb, samples, rows, shown), *_switch_keys(limb)]
    return SolvedLimb(limb, replace(keyed, keys=[*keyed.keys, *extra]), shown, on_target)


def _solved(limb: LimbPlan, motion: PlanMotion, joints: Array, shown_joints: Array) -> tuple[Solved, Mask]:
    """The chain on its targets, and where IK has the tip there, `(F,)`; where it does not, the pose as it is.

    joints : (F, 3, 3), of the pose as it is

    A leg that is nearly straight bends visibly for a tip that moves invisibly; there the pose stays as it is as well.
    """
    # The middle joint as it is now is the pole.
    plan = replace(limb.plan, settings=replace(limb.plan.settings, plane="POLE"))
    tips, size = joints[:, 2], _limb_lengths(joints)

    def solved_for(aims: Array) -> Solved:
        return solve_curves(plan, replace(motion, target_world=_places(points(motion.world_from_armature, aims))))

    if limb.ik is None:
        return solved_for(tips), np.zeros(len(tips), dtype=bool)
    targets = points(motion.armature_from_world, motion.target_world[:, :3, 3])
    on_target = _norm(targets - shown_joints[:, 2]) <= IK_RESIDUAL * size
    first = solved_for(np.where(on_target[:, None], targets, tips))
    moved = _norm(first.chain.turned.joints - joints).max(axis=1)
    kept = on_target & (moved > IK_RESIDUAL * size)
    if not kept.any():
        return first, on_target
    return solved_for(np.where((on_target & ~kept)[:, None], targets, tips)), on_target


def _shown_joints(limb: LimbPlan, shown: Array) -> Array:
    """Root, middle joint and tip `(F, 3, 3)` as they are now, armature space."""
    return np.stack([shown[0, :, :3, 3], shown[1, :, :3, 3], points(shown[2], limb.plan.rest.tip)], axis=1)


def _as_shown(
    limb: LimbPlan, motion: PlanMotion, samples: Samples, rows: Array, *, scales: list[Array] | None
) -> tuple[ChainMotion, Array]:
    """The motion with the chain's two bones posed as those are that show the limb, and how far off that is, `(F,)`.

    scales : (F, 3) each, to leave the two bones; `None` takes those of the bones that show the limb

    The distance is relative to the limb's length. Where nothing but IK acts on a bone, its location is its own, as it
    will be without the IK.
    """
    rest = limb.plan.rest
    channels, parent = list(motion.chain.channels), motion.chain.parent_pose
    for number, index in enumerate(rest.turning):
        pose = samples[limb.shown_pose(number)][rows]
        posed = posed_channels(rest.bones[index], parent, pose)
        scale = posed.scale if scales is None else scales[number]
        own = samples[limb.plan.channels[index]][rows][:, :3] if index in limb.free_location else posed.location
        channels[index] = BoneChannels(own, posed.rotation, scale)
        parent = pose
    chain = replace(motion.chain, channels=tuple(channels))
    shown_joints = _shown_joints(limb, np.stack([samples[pose][rows] for pose in limb.poses()]))
    joints = joints_of(rest, pose_path(rest, chain))
    return chain, _norm(joints - shown_joints).max(axis=1) / _limb_lengths(shown_joints)


def _own_scales(limb: LimbPlan, samples: Samples, rows: Array) -> list[Array]:
    """Scales `(F, 3)` of the two bones' own channels."""
    return [samples[limb.plan.channels[index]][rows][:, 7:] for index in limb.plan.rest.turning]


def _scale_paths(limb: LimbPlan) -> list[str]:
    return [scale_path(limb.plan.rest.bones[index]) for index in limb.plan.rest.turning]


def _scale_curves(limb: LimbPlan, solved: Solved, own: list[Array]) -> list[CurveSamples]:
    """Curves of the two bones' scales, which show what IK stretches."""
    curves = []
    for number, (index, path) in enumerate(zip(limb.plan.rest.turning, _scale_paths(limb), strict=True)):
        scale, group = solved.motion.chain.channels[index].scale, limb.plan.rest.bones[index].name
        curves += [CurveSamples(path, axis, group, scale[:, axis], own[number][:, axis]) for axis in range(3)]
    return curves


def _refuse_moved(limb: LimbPlan, off: Array) -> None:
    """What neither rotation nor scale can show is not converted."""
    worst = int(np.argmax(off))
    if off[worst] > KEYS_SHOW:
        who = f'IK constraint "{limb.ik.constraint}" of bone "{limb.ik.bone}"' if limb.ik else f'Limb "{limb.shown[0]}"'
        raise ChainError(
            f"{who} poses its bones at frame {limb.plan.frames[worst]:g} as rotation and scale keys cannot "
            f"({off[worst]:.2g} of its length off). Set the bones' Inherit Scale to Full or Aligned first."
        )


def _further_keys(limb: LimbPlan, samples: Samples, rows: Array, shown: Array) -> list[ChannelKeys]:
    """Rotation keys of the bones below the end, such as toes, that keep them oriented as they are."""
    keys = []
    at = limb.plan.report_rows
    for number, path in enumerate(limb.further, start=3):
        values = [samples[Quantity("CHANNELS", limb.plan.names.armature, bone.name)][rows] for bone in path[1:]]
        parent = shown[number - 1]
        for bone, value in zip(path[1:-1], values[:-1], strict=True):
            rotation = rotation_matrices(bone.rotation_mode, value[:, 3:7])
            parent = pose_with_channels(bone, parent, BoneChannels(value[:, :3], rotation, value[:, 7:]))
        inherited = nearest_rotation(parent_transform(path[-1], parent).turn_and_scale)
        rotation = nearest_rotation(np.swapaxes(inherited, -1, -2) @ nearest_rotation(shown[number][:, :3, :3]))
        present = values[-1][:, 3:7]
        where = rotation_path(path[-1])
        outside = surroundings_of(limb.plan, where, present)
        curves = rotation_curves(path[-1].rotation_mode, rotation=Matrices(rotation), present=present, outside=outside)
        keys += [
            ChannelKeys(where, channel, path[-1].name, limb.plan.report_frames, curves.values[at, column], "LINEAR")
            for column, channel in enumerate(curves.indices)
        ]
    return keys


def _switch_keys(limb: LimbPlan) -> list[ChannelKeys]:
    """Keys that switch IK off from the first to the last frame, and leave it as it is before and after."""
    if not limb.switch_path:
        return []
    armature = object_named(limb.plan.names.armature)
    present = float(armature.path_resolve(limb.switch_path))
    frames = np.unique(limb.plan.frames[[0, -1]])
    outside = held_outside(
        armature,
        limb.switch_path,
        0,
        settings=replace(limb.plan.settings, key_before=True, key_after=True),
        within=(float(frames[0]), float(frames[-1])),
        present=(present, present),
    )
    values = np.full(len(frames), limb.switch_value)
    group = limb.ik.bone if limb.ik else limb.switch_path.split('"')[1]
    return [ChannelKeys(limb.switch_path, 0, group, frames, values, "LINEAR", outside=outside)]


def _places(points_world: Array) -> Array:
    """Matrices `(F, 4, 4)` at points `(F, 3)`."""
    matrices = np.tile(np.eye(4), (len(points_world), 1, 1))
    matrices[:, :3, 3] = points_world
    return matrices


def _limb_lengths(joints: Array) -> Array:
    return _norm(np.diff(joints, axis=1)).sum(axis=1)


def _norm(vectors: Array) -> Array:
    return np.sqrt(np.sum(vectors * vectors, axis=-1))
