"""Find the FK pose that equals the pose that IK makes, by turning the bones in the plane of the posed limb.

The plane runs through root, tip and middle joint as IK poses them, and each bone is turned from its evaluated pose, so
twist, poles, pole angles and influences need not be modelled. Where IK has its tip on the target up to its solver's
residual, the closed form puts it there exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...core.array_types import Array, KeyFrames, Mask
from ...core.arrays import magnitude, path_length
from ...core.curves.frames import merge_frames
from ...core.rig.bones import BoneChannels, ChainMotion, RestBone
from ...core.rig.channels import Matrices, channel_rotations
from ...core.rig.inheritance import parent_transform, pose_with_channels
from ...core.rig.posing import joints_of, pose_path
from ...core.rig.rotations import nearest_rotation
from ...errors import ChainError, TwoBoneError
from ...pipeline.keying import KeyedChain, all_held_beside, keyed_chain
from ...pipeline.keys_beside import held_beside, holds
from ...pipeline.motion.plan_motion import PlanMotion, aimed, motion_quantities, plan_motion, points, posed_channels
from ...pipeline.plan.chain_plan import ChainPlan
from ...pipeline.pose.solving import CurveSamples, SolvedChain, rotation_curves, solve_curves, surroundings_of
from ...records import replace
from ...said import Sentence
from ...scene.blender_types import Channel
from ...scene.bones import TwoBoneIk, ik_constraint, rotation_path, scale_path
from ...scene.keys.tables import NO_KEYS, ChannelKeys, StraightKeys
from ...scene.sampling.quantities import Quantity, Samples


@dataclass(frozen=True, slots=True)
class IkEnd:
    """A property that switches an IK off: the influence of its constraint, or a switch of the rig."""

    path: str
    """Data path."""
    value: float
    """Its value where the IK is off."""
    present: float
    """Its present value."""
    group: str
    """Name of the bone that it belongs to."""
    ik: TwoBoneIk | None
    """The constraint; `None` for a switch."""


@dataclass(frozen=True, slots=True)
class FurtherBone:
    """A bone below the end that is keyed as well, such as a toe."""

    path: tuple[RestBone, ...]
    """Bones from one that is keyed before it down to itself."""
    below: int
    """Index in `LimbPlan.shown` of that one."""


@dataclass(frozen=True, slots=True)
class LimbPlan:
    """One limb to convert, found and checked."""

    chain: ChainPlan
    """The chain that gets the keys."""
    shown: tuple[str, ...]
    """Bones whose pose is preserved: those that show the upper, the lower and the tip's bone, then those of `further`."""
    ik: TwoBoneIk | None
    """The constraint that makes the pose; `None` where a rig's switch chooses IK."""
    ends: tuple[IkEnd, ...]
    """Properties that switch its IK off: of `ik` first, then of other constraints on the same two bones; empty if it stays on."""
    keyed_off: bool
    """Whether these are keyed over the range, instead of muting the constraints."""
    further: tuple[FurtherBone, ...]
    """Bones below the end that are keyed as well."""
    free_location: tuple[int, ...]
    """Indices of the chain's bones that no constraint but IK moves, so that their location channels stay as they are."""
    scales_refused: TwoBoneError | None
    """Why scales of the turning bones cannot be keyed, if they cannot; raised only where they must be."""
    goes_on: tuple[bool, bool]
    """Whether there is animation before and after the range that must be preserved."""
    influence_refused: TwoBoneError | None
    """Why influences of the constraints cannot be keyed, if they cannot; raised only where they must be."""
    was_off: bool = False
    """Whether the IK has no influence, so that the converted pose is the one without it."""
    overridden: tuple[IkEnd, ...] = ()
    """Influences of other constraints that turn the same bones, over which the IK has the last word."""
    from_shown: tuple[Array, ...] = ()
    """`(4, 4)` pose of each keyed bone in the space of the bone that shows it; empty where they have the same pose."""
    strip_frames: Array = field(default_factory=lambda: np.zeros(0))
    """Frames between whole ones at which the scene's frames fall where strips play the action."""

    @property
    def name(self) -> Sentence:
        """Name of the limb in messages."""
        if self.ik:
            return ik_constraint(self.ik.constraint, self.ik.bone)
        return Sentence('Limb "{bone}"', {"bone": self.shown[0]})

    @property
    def longest_link(self) -> float:
        """Length at rest of the longest link: points this far beside the bones show what is seen of their rotation."""
        return float(magnitude(np.diff(self.chain.rest.rest_joints(), axis=0)).max())

    @property
    def seen_frames(self) -> Array:
        """Frames that are measured: those that may get keys, and those between them that strips of the action play."""
        return merge_frames(self.chain.report_frames, self.strip_frames)

    def scale_paths(self) -> list[str]:
        """Data paths of the turning bones' scales."""
        return [scale_path(self.chain.rest.bones[index]) for index in self.chain.rest.turning]

    def keyed_paths(self) -> set[str]:
        """Data paths that may be keyed: rotations and scales, rotations below the end, and the properties that switch the IK."""
        below = (rotation_path(bone.path[-1]) for bone in self.further)
        return {*self.chain.rotation_paths(), *self.scale_paths(), *below, *(end.path for end in self.ends)}

    def quantities(self) -> list[Quantity]:
        """Quantities to sample before solving."""
        paths = [bone.path[1:] for bone in self.further]
        further = [Quantity("CHANNELS", self.chain.names.armature, bone.name) for path in paths for bone in path]
        return [*motion_quantities(self.chain), *self.poses(), *further]

    def poses(self) -> list[Quantity]:
        """Poses of all bones of `shown`."""
        return [Quantity("POSE", self.chain.names.armature, bone) for bone in self.shown]

    def posed(self, samples: Samples) -> Array:
        """Poses `(B, F, 4, 4)`, armature space, that the keyed bones must have for the bones of `shown` to be where they are."""
        poses = np.stack([samples.every(pose) for pose in self.poses()])
        return poses @ np.stack(self.from_shown)[:, None] if self.from_shown else poses


IK_RESIDUAL = 2e-4
"""Tip error, relative to the limb's length, that Blender's IK leaves within reach: measured up to 1.5e-4."""

KEYS_SHOW = 1e-3
"""Largest error, relative to the limb's length, of rotation and scale keys; a pose with a larger one cannot be keyed."""

STRETCH_SHOWS = 5e-4
"""Largest error of the keys, relative to the limb's length, where IK stretches the bones, as the documentation promises."""


@dataclass(frozen=True, slots=True)
class FkKeys:
    """A limb with its FK keys."""

    plan: LimbPlan
    keyed: KeyedChain
    shown: Array
    """`(B, F, 4, 4)` poses on IK, armature space, of the bones that show the limb."""
    on_target: Mask
    """`(F,)` frames at which IK has the tip on its target."""


def solve_limb(limb: LimbPlan, samples: Samples) -> FkKeys:
    """Find a limb's FK keys; raises a `TwoBoneError` where rotation and scale keys cannot reproduce its pose or be written."""
    samples = samples.on(limb.chain.frames)
    motion = plan_motion(limb.chain, samples)
    shown = limb.posed(samples)
    shown_joints = _shown_joints(limb, shown)
    present_scales = [samples.every(limb.chain.channels[index])[:, 7:] for index in limb.chain.rest.turning]
    # If the joints are off with the scales that the bones have, the IK stretches them: then scales are keyed as well.
    chain, errors = _as_shown(limb, motion, samples, shown, scales=present_scales)
    stretched = bool(np.any(errors > IK_RESIDUAL))
    if stretched:
        if limb.scales_refused is not None:
            raise limb.scales_refused
        chain, errors = _as_shown(limb, motion, samples, shown, scales=None)
        _refuse_errors(limb, errors, shown)
    joints = joints_of(limb.chain.rest, pose_path(limb.chain.rest, chain))
    posed = replace(
        motion,
        chain=chain,
        pole_world=points(motion.world_from_armature, joints[:, 1]),
        influence=np.ones(len(motion.frames)),
        end_pose=None if limb.chain.end_bone is None else shown[2],
    )
    targets = None
    if limb.ik is not None:
        targets = points(motion.armature_from_world, samples.every(limb.chain.target_world)[:, :3, 3])
    solved, on_target = _solved(limb, posed, joints, shown_joints, targets)
    tolerance = STRETCH_SHOWS if stretched else KEYS_SHOW
    if limb.ik is not None:
        errors = _pose_errors(limb, solved, shown)
        if stretched:
            # A visible twist does not shrink with the limb's length.
            errors = errors * np.maximum(path_length(shown_joints) / path_length(limb.chain.rest.rest_joints()), 1.0)
        unsolvable = errors > tolerance
        if unsolvable.any():
            # Uneven stretch leaves no triangle to solve: at these frames the bones are keyed in their evaluated pose.
            partly_solved = replace(posed, influence=np.where(unsolvable, 0.0, 1.0))
            solved, on_target = _solved(limb, partly_solved, joints, shown_joints, targets)
            on_target = on_target & ~unsolvable
            _refuse_errors(limb, _pose_errors(limb, solved, shown), shown, tolerance)
    if stretched:
        solved = replace(solved, curves=[*solved.curves, *_scale_curves(limb, solved, present_scales)])
    keyed = keyed_chain(solved, limb.longest_link)  # All that is seen of the limb stays: its twist as well.
    if stretched:
        keyed = replace(keyed, keys=[replace(key, lasting=key.path in limb.scale_paths()) for key in keyed.keys])
    switch_keys = [_keyed_over_range(limb, end) for end in limb.ends] if limb.keyed_off else []
    extra = [*_further_keys(limb, samples, shown), *switch_keys]
    return FkKeys(limb, replace(keyed, keys=[*keyed.keys, *extra]), shown, on_target)


def _solved(
    limb: LimbPlan, motion: PlanMotion, joints: Array, shown_joints: Array, targets: Array | None
) -> tuple[SolvedChain, Mask]:
    """Solve the chain with its tip on the target where IK has it there, `(F,)`, else at its present place.

    joints : (F, 3, 3), of the present pose
    targets : (F, 3), tip goals of the IK constraint, armature space; `None` for a limb without one

    An invisible correction of the tip bends a nearly straight leg visibly; there the tip keeps its present place as well.
    """
    # The present middle joint is the pole.
    plan = replace(limb.chain, settings=replace(limb.chain.settings, plane="POLE"))
    tips, size = joints[:, 2], path_length(joints)

    def solved_for(goals: Array) -> SolvedChain:
        target_world = np.tile(np.eye(4), (len(goals), 1, 1))
        target_world[:, :3, 3] = points(motion.world_from_armature, goals)
        return solve_curves(plan, aimed(motion, target_world))

    if targets is None:
        return solved_for(tips), np.zeros(len(tips), dtype=bool)
    on_target = magnitude(targets - shown_joints[:, 2]) <= IK_RESIDUAL * size
    first = solved_for(np.where(on_target[:, None], targets, tips))
    moved = magnitude(first.pose.turned.joints - joints).max(axis=1)
    bends_visibly = on_target & (moved > IK_RESIDUAL * size)
    if not bends_visibly.any():
        return first, on_target
    return solved_for(np.where((on_target & ~bends_visibly)[:, None], targets, tips)), on_target


def _shown_joints(limb: LimbPlan, shown: Array) -> Array:
    """Root, middle joint and tip `(F, 3, 3)` of the poses `shown`, armature space."""
    return np.stack([shown[0, :, :3, 3], shown[1, :, :3, 3], points(shown[2], limb.chain.rest.tip)], axis=1)


def _as_shown(
    limb: LimbPlan, motion: PlanMotion, samples: Samples, shown: Array, *, scales: list[Array] | None
) -> tuple[ChainMotion, Array]:
    """Pose the chain's two bones like the bones that show the limb; return the motion and its joint error `(F,)`.

    shown : (B, F, 4, 4), see `LimbPlan.posed`
    scales : (F, 3) each, scales of the two bones; `None` takes those of the bones that show the limb

    The error is relative to the limb's length. Where nothing but IK acts on a bone, it keeps its location channels, as
    it will be without the IK.
    """
    rest = limb.chain.rest
    channels, parent = list(motion.chain.channels), motion.chain.parent_pose
    for number, index in enumerate(rest.turning):
        pose = shown[number]
        posed = posed_channels(rest.bones[index], parent, pose)
        scale = posed.scale if scales is None else scales[number]
        location = samples.every(limb.chain.channels[index])[:, :3] if index in limb.free_location else posed.location
        channels[index] = BoneChannels(location, posed.rotation, scale)
        parent = pose
    chain = replace(motion.chain, channels=tuple(channels))
    shown_joints = _shown_joints(limb, shown)
    joints = joints_of(rest, pose_path(rest, chain))
    return chain, magnitude(joints - shown_joints).max(axis=1) / path_length(shown_joints)


def _scale_curves(limb: LimbPlan, solved: SolvedChain, present: list[Array]) -> list[CurveSamples]:
    """Curves of the two bones' scales, which reproduce the IK's stretch; `present` are their `(F, 3)` channels."""
    curves = []
    for number, (index, path) in enumerate(zip(limb.chain.rest.turning, limb.scale_paths(), strict=True)):
        scale, group = solved.motion.chain.channels[index].scale, limb.chain.rest.bones[index].name
        curves += [CurveSamples(path, axis, group, scale[:, axis], present[number][:, axis]) for axis in range(3)]
    return curves


def moved_points(limb: LimbPlan, before: Array, after: Array) -> Array:
    """Displacements `(F, 4, 3)` of a bone's head, and of points on its axes at the distance of the limb's longest link."""
    ends = np.concatenate([np.zeros((1, 3)), np.eye(3) * limb.longest_link])
    difference = after - before
    return np.einsum("fij,pj->fpi", difference[..., :3, :3], ends) + difference[..., None, :3, 3]


def _pose_errors(limb: LimbPlan, solved: SolvedChain, shown: Array) -> Array:
    """Largest displacement `(F,)` of the keyed bones from their poses on IK, relative to the limb's length."""
    poses = solved.pose.turned.poses
    posed = [poses[index] for index in (*limb.chain.rest.turning, -1)]
    farthest = [magnitude(moved_points(limb, *pair)).max(axis=1) for pair in zip(shown, posed, strict=False)]
    moved = np.max(farthest, axis=0)
    return np.broadcast_to(moved / path_length(_shown_joints(limb, shown)), limb.chain.frames.shape)


def _refuse_errors(limb: LimbPlan, errors: Array, shown: Array, tolerance: float = KEYS_SHOW) -> None:
    """Raise `ChainError` where rotation and scale keys cannot reproduce the pose: `errors` `(F,)` exceed the tolerance.

    shown : (B, F, 4, 4), poses of the bones that show the limb
    """
    worst = int(np.argmax(errors))
    if errors[worst] > tolerance:
        lower = limb.chain.rest.bones[limb.chain.rest.turning[-1]].rest
        tips = points(shown[1], (np.linalg.inv(lower) @ [*limb.chain.rest.rest_joints()[-1], 1.0])[:3])
        gaps = magnitude(tips - _shown_joints(limb, shown)[:, 2]) / path_length(_shown_joints(limb, shown))
        if gaps[worst] > max(0.5 * errors[worst], tolerance):
            raise ChainError(
                'Bone "{end}" does not meet the end of bone "{lower}" at frame {frame:g}: it is {distance:.2g} of the limb\'s '
                "length away, such as a foot whose control is out of the leg's reach. Move its control closer.",
                end=limb.shown[2],
                lower=limb.shown[1],
                frame=limb.chain.frames[worst],
                distance=gaps[worst],
            )
    if errors[worst] > tolerance:
        raise ChainError(
            "{limb} poses its bones in a way that rotation and scale keys cannot reproduce at frame {frame:g} (off by "
            "{distance:.2g} of its length). Set Inherit Scale of both bones to Aligned first.",
            limb=limb.name,
            frame=limb.chain.frames[worst],
            distance=errors[worst],
        )


def _further_keys(limb: LimbPlan, samples: Samples, shown: Array) -> list[ChannelKeys]:
    """Rotation keys of bones below the end, such as toes, that preserve their orientation."""
    keys = []
    rows = limb.chain.report_rows
    for number, further in enumerate(limb.further, start=3):
        path, parent = further.path, shown[further.below]
        values = [samples.every(Quantity("CHANNELS", limb.chain.names.armature, bone.name)) for bone in path[1:]]
        for bone, value in zip(path[1:-1], values[:-1], strict=True):
            rotation = channel_rotations(bone.rotation_mode, value[:, 3:7])
            parent = pose_with_channels(bone, parent, BoneChannels(value[:, :3], rotation, value[:, 7:]))
        inherited = nearest_rotation(parent_transform(path[-1], parent).turn_and_scale)
        rotation = nearest_rotation(np.swapaxes(inherited, -1, -2) @ nearest_rotation(shown[number][:, :3, :3]))
        present = values[-1][:, 3:7]
        data_path = rotation_path(path[-1])
        outside = surroundings_of(limb.chain, data_path, present)
        curves = rotation_curves(path[-1].rotation_mode, rotation=Matrices(rotation), present=present, outside=outside)
        for column, channel in enumerate(curves.indices):
            curve = CurveSamples(data_path, channel, path[-1].name, curves.values[:, column], present[:, channel])
            frames, held = limb.chain.report_frames, limb.chain.held
            channel_keys = StraightKeys(data_path, channel, curve.group, frames, curve.values[rows], "LINEAR", held=held)
            keys += all_held_beside(limb.chain, limb.chain.keyed, [curve], [channel_keys])
    return keys


def _keyed_over_range(limb: LimbPlan, end: IkEnd) -> ChannelKeys:
    """Keys that switch an IK off from the first to the last frame, and preserve its state before and after."""
    frames = KeyFrames(np.unique(limb.chain.within))
    keys = StraightKeys(end.path, 0, end.group, frames, np.full(len(frames), end.value), "LINEAR")
    is_held = holds(replace(limb.chain.settings, key_before=limb.goes_on[0], key_after=limb.goes_on[1]))
    return held_beside(keys, limb.chain.keyed[keys.channel], limb.chain.within, is_held, (end.present, end.present))


def with_influence_off(solved: FkKeys) -> FkKeys:
    """The limb with keys that switch its IK off in this action: over the range if the influence is animated, else throughout."""
    chain, keys = solved.plan.chain, list[ChannelKeys]()
    for end in solved.plan.ends:
        table = chain.keyed[Channel(end.path)].table
        if table is None or np.ptp(table["co"][:, 1]) == 0.0:
            first, value = KeyFrames(chain.report_frames[:1]), np.full(1, end.value)
            keys.append(StraightKeys(end.path, 0, end.group, first, value, "CONSTANT", outside=NO_KEYS))
        else:
            keys.append(_keyed_over_range(solved.plan, end))
    return replace(solved, keyed=replace(solved.keyed, keys=[*solved.keyed.keys, *keys]))
