"""Prove what is seen: after writing, that limbs are on their goals; before a switch is written, that nothing visible moves.

A bake is measured as Blender evaluates it, at keys, at frames and between, joints and visible bones alike. What changes who
poses a limb is tried on copies of the actions: every bone that shows something of what is touched is compared with its pose
before, place and rotation. So whatever is refused has changed nothing.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import numpy as np

from ..core.array_types import Array, Mask
from ..core.arrays import every_row, frame_rows, magnitude, path_length
from ..core.rig.bones import RestChain
from ..core.rig.plane_frames import from_plane, in_plane, out_of_plane
from ..core.rig.rotations import nearest_rotation
from ..core.solver import Reach
from ..errors import ChainError
from ..records import replace
from ..said import Sentence, note
from ..scene.blender_types import Channel, Object, Property, Scene
from ..scene.bones import ChainNames
from ..scene.graph.lineage_reading import LineageReader
from ..scene.graph.rig_graph import Node
from ..scene.keys.destinations import trial_actions
from ..scene.keys.reading import key_frames
from ..scene.keys.writing import Change, put
from ..scene.lookup import datablock_named, object_named, objects_by_name, only_reading
from ..scene.restoring import Edit, apply_edits, edits_kept, present_values, write_animated_values
from ..scene.rig.constraints import entries_of, is_acting
from ..scene.sampling.evaluate import Verified, animation_times, batches, prepared_place
from ..scene.sampling.quantities import Quantity, Samples
from ..scene.visible.skin import Skins, deforming_beside, seen_from
from ..scene.visible.switches import influences_change
from ..scene.visible.visible_bone import Shown, shown_bone
from .gate import is_unseen
from .motion.plan_motion import points, target_matrices
from .motion.sampling import CurveMotion
from .pose.solving import SolvedChain
from .report.between import (
    TELLING,
    Measured,
    Track,
    Visibility,
    affordable_intervals,
    distances,
    joined_tracks,
    keyed_intervals,
    measured_frames,
    parts_of,
    quarters,
    telling,
    worst_between,
    worst_intervals,
    worth_a_look,
)
from .report.units import Units, limb_length
from .stages import all_frames, evaluation_of
from .story import Sample, Story

MOST_LOOKS = 12
"""Number of evenly spread frames at which the visible bone is evaluated: switches change visibility, single frames do not."""

APART = 0.01
"""Distance, as a fraction of limb length, by which a visible bone that follows may miss the tip: rigs bend and stretch skin."""


class MotionBetween:
    """Motion from F-Curves alone, at the telling moments of all intervals between `frames` `(M,)`."""

    def __init__(self, scene: Scene, frames: Array) -> None:
        """Use the scene's mapping of time."""
        self._scene = scene
        self._frames = frames
        self._whole: CurveMotion | None = None
        """Motion in all intervals of a short take, cached: several chains depend on the same objects."""

    def places(self, quantity: Quantity, place: Array) -> Array | None:
        """A point `(3,)` transformed by the quantity's matrices, `(M - 1, 2, 3)`; `None` if F-Curves alone do not suffice."""
        moved = np.empty((len(self._frames) - 1, len(TELLING), 3))
        for rows in parts_of(len(moved)):
            matrices = self._at(rows).find(quantity)
            if matrices is None:
                return None
            part = moved[rows].reshape(-1, 3)
            part[:] = points(matrices, place)
        return moved

    def _at(self, rows: slice) -> CurveMotion:
        """The motion in some of the intervals; cached if these are all."""
        if rows.stop - rows.start < len(self._frames) - 1:
            return self._motion(rows)
        self._whole = self._whole or self._motion(rows)
        return self._whole

    def _motion(self, rows: slice) -> CurveMotion:
        times = telling(self._frames[rows.start : rows.stop + 1])
        return CurveMotion(LineageReader(animation_times(self._scene, times)))


def proof_quantities(solved: SolvedChain) -> list[Quantity]:
    """Quantities to sample from the baked animation: the joints, the target and the armature."""
    plan = solved.plan
    carriers = dict.fromkeys([*plan.rest.turning, len(plan.rest.bones) - 1])
    return [plan.armature_world, *plan.aims, *(plan.pose(index) for index in carriers)]


def proof_frames(solved: SolvedChain) -> Array:
    """Frames `(M,)` at which a chain is measured: its report frames, and whole frames between those that are far apart."""
    return measured_frames(solved.plan.report_frames)


def track(solved: SolvedChain, samples: Samples) -> Track:
    """The track of a chain and its target at the frames of the samples."""
    plan, count = solved.plan, len(samples.frames)
    world = samples[plan.armature_world]
    joints = [every_row(points(world, joint), count) for joint in _joints(solved, samples)]
    targets = points(target_matrices(plan, samples), solved.pose.target_offset)
    return Track(samples.frames, np.stack(joints, axis=1), every_row(targets, count))


def moments_between(solved: SolvedChain, at_frames: Track, motion: MotionBetween, *, affordable: int) -> Array:
    """Moments `(Q,)` between frames at which a chain is evaluated: all quarters, or the worst if there are too many.

    motion : motion from F-Curves alone, at the telling moments of all intervals between those frames
    affordable : number of intervals whose quarters may be evaluated
    """
    count = len(at_frames.frames) - 1
    if count <= affordable:
        return quarters(at_frames.frames, np.arange(count))
    settings = solved.plan.settings
    interpolation = "BEZIER" if settings.keys == "REDUCE" else settings.interpolation
    targets = _targets_between(solved, at_frames, motion)
    worst = worst_intervals(
        at_frames, targets, interpolation=interpolation, count=worth_a_look(len(at_frames.frames), affordable)
    )
    keyed = key_frames(object_named(settings.target), settings.target_bone)
    return quarters(at_frames.frames, np.union1d(worst, keyed_intervals(at_frames.frames, keyed)).astype(int))


def _targets_between(solved: SolvedChain, at_frames: Track, motion: MotionBetween) -> Array | None:
    """The tip's goals, `(M - 1, 2, 3)`, at the telling moments of each interval; `None` if F-Curves alone do not suffice."""
    if solved.plan.source is not None or len(at_frames.frames) <= 1:
        return None
    return motion.places(solved.plan.target_world, solved.pose.target_offset)


def measure(solved: SolvedChain, samples: Samples, measured: Track, inside: Track | None) -> Measured:
    """Compare evaluated joints with the evaluated target at the plan's report frames.

    samples : at all of `proof_frames`
    measured : the chain's track at these
    inside : its track between the report frames
    """
    plan, pose, at = solved.plan, solved.pose, solved.plan.report_rows
    samples = samples.on(plan.report_frames)
    frames, reach = pose.plane_frames, pose.on_targets.reach[at]
    world_from_armature = samples[plan.armature_world]
    linear = world_from_armature[:, :3, :3]
    joints = _joints(solved, samples)
    targets_world = points(target_matrices(plan, samples), pose.target_offset)
    targets = points(np.linalg.inv(world_from_armature), targets_world)
    root, tip = joints[0], joints[-1]
    missed = in_plane(frames, tip - targets)
    astray = in_plane(frames, tip - root) - pose.on_targets.goals[at]
    full_influence = frame_rows(solved.motion.influence, at) >= 1.0
    reached = full_influence & (reach == Reach.REACHED)
    determined = full_influence & (reach != Reach.DEGENERATE)
    depths = [frames[:, :, 2] * out_of_plane(frames, joint - root)[:, None] for joint in joints[1:]]
    reported = measured if len(measured.frames) == len(samples.frames) else track(solved, samples)
    beside = _world_lengths(linear, frames[:, :, 2] * out_of_plane(frames, tip - targets)[:, None])
    intended = pose.on_targets.goals[at] - in_plane(frames, targets - root)
    errors = np.broadcast_to(_world_lengths(linear, from_plane(frames, missed)), reached.shape)[reached]
    return Measured(
        max_error=float(errors.max()) if errors.size else None,
        mean_error=float(errors.mean()) if errors.size else None,
        max_goal_error=_largest_among(_world_lengths(linear, from_plane(frames, astray)), determined),
        max_off_plane=float(max(_world_lengths(linear, depth).max() for depth in depths)),
        distances=reported.distances,
        beside=_for_each(beside, reported),
        aside=_for_each(_world_lengths(linear, from_plane(frames, intended)), reported),
        limb_length=limb_length(reported.joints_world),
        between=worst_between(reported, inside) if inside is not None else None,
        turned=tuple(samples[plan.pose(index)] for index in plan.rest.turning),
    )


def _for_each(values: Array, reported: Track) -> Array:
    return np.broadcast_to(values, reported.frames.shape)


def _joints(solved: SolvedChain, samples: Samples) -> list[Array]:
    """Evaluated joints, `(K, 3)` each, armature space: the head of each bone that turns, and the tip."""
    plan = solved.plan
    heads = [samples[plan.pose(index)][:, :3, 3] for index in plan.rest.turning]
    last = samples[plan.pose(len(plan.rest.bones) - 1)]
    return [*heads, points(last, plan.rest.tip)]


def _largest_among(values: Array, among: Mask) -> float | None:
    return float(np.broadcast_to(values, among.shape)[among].max()) if among.any() else None


def _world_lengths(linear: Array, vectors: Array) -> Array:
    return magnitude((linear @ vectors[..., None])[..., 0])


def prove(scene: Scene, solved: Sequence[SolvedChain], verified: Verified, skins: Skins) -> Story[list[Measured | None]]:
    """Let Blender evaluate the chains as they are now and measure them; `None` for chains whose settings skip verification."""
    checked = [chain for chain in solved if chain.plan.settings.verify]
    if not checked:
        return [None] * len(solved)
    frames = all_frames(proof_frames(chain) for chain in checked)
    evaluation = evaluation_of([chain.plan for chain in checked], proving=True)
    quantities = [quantity for chain in checked for quantity in proof_quantities(chain)]
    prepared = (
        nullcontext() if evaluation == "SCENE" else prepared_place(scene, list(dict.fromkeys(quantities)), frames, verified)
    )
    with prepared as place:
        look = Sample(quantities, frames, evaluation, place=place)
        samples = yield look
        tracks = [track(chain, samples.on(proof_frames(chain))) for chain in checked]
        tracks_between = yield from _sample_between(scene, checked, tracks, look)
        measured = [
            measure(chain, samples, reported, inside)
            for chain, reported, inside in zip(checked, tracks, tracks_between, strict=True)
        ]
        visibilities = yield from _measure_visibility(scene, checked, [chain.limb_length for chain in measured], look, skins)
    complete = iter([replace(chain, visibility=visible) for chain, visible in zip(measured, visibilities, strict=True)])
    return [next(complete) if chain.plan.settings.verify else None for chain in solved]


def _sample_between(scene: Scene, chains: list[SolvedChain], tracks: list[Track], look: Sample) -> Story[list[Track | None]]:
    """Track of each chain between its report frames, at the moments worth evaluating; `None` without any.

    In a temporary scene each armature has its own moments: those worth evaluating for one are of no interest for others.
    Armatures evaluated in one batch share all moments of the batch: fetching them one by one would cost more.
    """
    evaluation = look.evaluation
    by_armature: dict[str, list[int]] = {}
    for number, chain in enumerate(chains):
        by_armature.setdefault("" if evaluation == "SCENE" else chain.plan.names.armature, []).append(number)
    affordable = affordable_intervals(evaluation, len(by_armature))
    motions: dict[bytes, MotionBetween] = {}
    with only_reading():
        moments = {
            name: all_frames([_moments(scene, chains[number], tracks[number], motions, affordable) for number in numbers])
            for name, numbers in by_armature.items()
        }
    measured: list[Track | None] = [None] * len(chains)
    for names in _in_batches(chains, by_armature):
        frames = all_frames(moments[name] for name in names)
        if not len(frames):
            continue
        quantities = [quantity for name in names for number in by_armature[name] for quantity in proof_quantities(chains[number])]
        samples = yield replace(look, quantities=quantities, frames=frames)
        for name in names:
            for number in by_armature[name]:
                reported = chains[number].plan.report_frames
                inside = moments[name][(moments[name] > reported[0]) & (moments[name] < reported[-1])]
                between = track(chains[number], samples.on(inside))
                measured[number] = joined_tracks(tracks[number], between, without=reported)
    return measured


def _in_batches(chains: list[SolvedChain], by_armature: dict[str, list[int]]) -> list[list[str]]:
    """The keys of `by_armature`, grouped into the batches that Blender evaluates fastest."""
    quantities = [quantity for chain in chains for quantity in proof_quantities(chain)]
    apart = batches(quantities, objects_by_name()) if len(by_armature) > 1 else []
    found = [[name for name in dict.fromkeys(quantity.object for quantity in each) if name in by_armature] for each in apart]
    return found or [list(by_armature)]


def _moments(scene: Scene, chain: SolvedChain, at_frames: Track, motions: dict[bytes, MotionBetween], affordable: int) -> Array:
    """Moments between frames to evaluate; `motions` caches curve motion for other chains with the same frames."""
    motion = motions.setdefault(at_frames.frames.tobytes(), MotionBetween(scene, at_frames.frames))
    return moments_between(chain, at_frames, motion, affordable=affordable)


@dataclass(frozen=True, slots=True)
class VisibleEnd:
    """The end of a limb as it is seen: by the deforming bone beside its lower link, which may follow other bones."""

    armature: Object
    rest: RestChain
    shown: Shown

    @property
    def is_own(self) -> bool:
        """Whether the visible bone is the limb's lower bone itself."""
        return (self.shown.armature, self.shown.bone) == (self.armature.name, self.rest.lower.name)

    @property
    def is_doubtful(self) -> bool:
        """Whether parents and constraints alone do not show that the visible bone follows at all frames: Blender tells."""
        return not self.is_own and (not self.shown.follows or influences_change(self.armature, self.shown.deciding))

    @property
    def poses(self) -> list[Quantity]:
        """World matrix of the limb's armature and pose of its last bone, then those of the visible bone."""
        name, shown = self.armature.name, self.shown
        quantities = [Quantity("WORLD", name), Quantity("POSE", name, self.rest.bones[-1].name)]
        return [*quantities, Quantity("WORLD", shown.armature), Quantity("POSE", shown.armature, shown.bone)]

    def places(self, samples: Samples) -> tuple[Array, Array]:
        """World places `(F, 3)` of the limb's tip and of its visible end, which are one where the visible bone follows."""
        other = object_named(self.shown.armature)
        at_rest = np.array(seen_from(self.armature, other, self.shown.bone, self.rest.rest_joints()[-1]))
        world, last, shown_world, shown = (samples.every(quantity) for quantity in self.poses)
        return points(world, points(last, self.rest.tip)), points(shown_world, points(shown, at_rest))

    def apart(self, samples: Samples) -> float | None:
        """Largest distance of the visible end from the tip, world units; `None` where it follows at all sampled frames."""
        tip, seen = self.places(samples)
        world = samples.every(Quantity("WORLD", self.armature.name))[0, :3, :3]
        apart = float(magnitude(seen - tip).max())
        return None if apart <= APART * path_length(self.rest.rest_joints() @ world.T) else apart


def visible_end(armature: Object, names: ChainNames, rest: RestChain, skins: Skins) -> VisibleEnd | None:
    """The visible end of a limb; `None` if no bone deforms there."""
    shown = shown_bone(armature, names, skins)
    return None if shown is None else VisibleEnd(armature, rest, shown)


def deforming_end(armature: Object, names: ChainNames, rest: RestChain) -> VisibleEnd | None:
    """A bone that deforms beside the lower link although no motion of the limb can reach it; `None` if there is none."""
    bones = armature.data.bones
    tip = bones[names.tip].tail_local if names.tip_at_tail else bones[names.tip].head_local
    beside = [bone for bone in deforming_beside(armature, bones[names.lower].head_local, tip) if bone != names.lower]
    return VisibleEnd(armature, rest, Shown(beside[0], 0.0, (), (), armature.name)) if beside else None


def doubtful_poses(ends: Iterable[VisibleEnd | None]) -> list[Quantity]:
    """The poses of all ends that parents and constraints alone do not show to follow."""
    return list(dict.fromkeys(pose for end in ends if end is not None and end.is_doubtful for pose in end.poses))


def few_of(frames: Array) -> Array:
    """Frames `(L,)` of a range at which visible bones are evaluated, evenly spread, at most `MOST_LOOKS`."""
    return frames[np.unique(np.linspace(0, len(frames) - 1, min(MOST_LOOKS, len(frames))).round().astype(int))]


def _measure_visibility(
    scene: Scene, chains: list[SolvedChain], lengths: list[float], look: Sample, skins: Skins
) -> Story[list[Visibility | None]]:
    """Whether the visible bone of each chain follows; `None` where no bone deforms. Evaluates only the doubtful chains."""
    visibilities, doubtful, beside = [], {}, set[int]()
    with only_reading():
        for number, chain in enumerate(chains):
            names = chain.plan.names
            armature = object_named(names.armature)
            end = visible_end(armature, names, chain.plan.rest, skins)
            if end is None:
                end = deforming_end(armature, names, chain.plan.rest)
                beside |= {number} if end is not None else set()
            reasons = _reasons(chain, end, skins) if end else ()
            visibilities.append(Visibility(end.shown.bone, end.is_own, end.shown.follows, reasons, None, 0.0) if end else None)
            if end is not None and end.is_doubtful:
                doubtful[number] = end
    if not doubtful:
        return visibilities
    frames = np.unique(np.concatenate([few_of(chains[number].plan.report_frames) for number in doubtful]))
    quantities = [quantity for number, end in doubtful.items() for quantity in (*chains[number].plan.aims, *end.poses)]
    samples = yield replace(look, quantities=quantities, frames=frames)
    for number, end in doubtful.items():
        plan = chains[number].plan
        # Of a bone that only lies there, places alone tell whether it shows the limb.
        unseen = number not in beside and is_unseen(scene, end.armature, plan.names, end.shown, plan.within)
        visibilities[number] = _visibility(chains[number], end, skins, samples, lengths[number], unseen=unseen)
    return visibilities


def _visibility(
    solved: SolvedChain, end: VisibleEnd, skins: Skins, samples: Samples, limb_length: float, *, unseen: bool
) -> Visibility:
    """Compare the visible bone with the chain's tip and target at a few frames, which the samples include.

    unseen : whether other bones are visible in the chain's stead at all frames, wherever they are
    """
    samples, bone = samples.on(few_of(solved.plan.report_frames)), end.shown.bone
    tip, seen = end.places(samples)
    target = points(target_matrices(solved.plan, samples), solved.pose.target_offset)
    away = np.broadcast_to(distances(seen, target), samples.frames.shape)
    apart = np.broadcast_to(distances(seen, tip), samples.frames.shape)
    # What other bones show may be where the keys are: a target with the visible motion makes it so.
    if not np.isfinite(away).any() or not (unseen or apart.max() > APART * limb_length):
        return Visibility(bone, is_own=False, follows=True, hindrances=_unseen(solved, skins), max_distance=None, frame=0.0)
    worst = int(np.nanargmax(np.where(unseen | (apart > APART * limb_length), away, -1.0)))
    reasons, when = _reasons(solved, end, skins), float(samples.frames[worst])
    return Visibility(bone, is_own=False, follows=False, hindrances=reasons, max_distance=float(away[worst]), frame=when)


def _reasons(solved: SolvedChain, end: VisibleEnd, skins: Skins) -> tuple[Sentence, ...]:
    unseen, shown = _unseen(solved, skins), end.shown
    if shown.follows or not shown.hindrances:
        return unseen
    first = shown.hindrances[0]
    cause = Sentence('a driver of the rotation of "{bone}"', {"bone": first.bone})
    if first.constraint:
        cause = Sentence('constraint "{constraint}" of "{bone}"', {"constraint": first.constraint, "bone": first.bone})
    leader = Sentence("the keys") if end.is_own else Sentence('"{bone}"', {"bone": solved.plan.names.lower})
    said = 'Bone "{bone}" does not follow {leader}: {cause} does not act on it.'
    if first.acts:
        said = 'Bone "{bone}" does not follow {leader}: {cause} acts on it.'
    return (*unseen, note(said, bone=shown.bone, leader=leader, cause=cause))


def _unseen(solved: SolvedChain, skins: Skins) -> tuple[Sentence, ...]:
    """Notes on meshes whose modifier is hidden, so that they do not show the motion of the armature or of one that follows it."""
    hidden = skins.hidden(object_named(solved.plan.names.armature))
    return tuple(
        note(
            'Modifier "{modifier}" of "{mesh}" is hidden in the viewport, so that mesh does not follow.',
            modifier=modifier,
            mesh=mesh,
        )
        for modifier, mesh in hidden
    )


PLACED = 5e-4
"""Distance, relative to the limb's length, that a visible bone may move; Blender's own IK leaves up to a third of that."""

TURNED = math.radians(0.5)
"""Angle, radians, by which a visible bone may turn; a bone of a tenth of the limb's length moves its end by 0.09 % of that."""

ON_LINK = 0.05
"""Distance from a link at rest, relative to its length, within which a bone lies on it and twists with it."""

LIMIT = 1e-9
"""Length below which a link has no direction."""


@dataclass(frozen=True, slots=True)
class SeenBones:
    """The bones by which a limb is seen, and what may move them apart from the limb's own motion: nothing."""

    armature: str
    bones: tuple[Node, ...]
    links: tuple[tuple[str, str], ...] = ()
    """Pairs of bones whose heads are the ends of a link; without the second it ends at the first one's tail. Bones on it may
    twist about it where IK poses them, for IK has no control of that."""
    length: float = 0.0
    """Length of the limb at rest, world units."""

    def quantities(self) -> list[Quantity]:
        """Quantities to sample before and after."""
        ends = [Quantity("WORLD", self.armature, bone) for link in self.links for bone in link if bone]
        return [*(Quantity("WORLD", *node) for node in self.bones), *ends]


@dataclass(frozen=True, slots=True)
class Moved:
    """How far a visible bone moves at most."""

    node: Node
    distance: float
    """World units."""
    at_distance: float
    """Frame of that distance."""
    angle: float
    """Radians."""
    at_angle: float
    """Frame of that angle."""
    limit: float
    """Distance that it may move."""

    @property
    def excess(self) -> float:
        """Largest of both relative to what is allowed: above 1 it is seen to move."""
        return max(self.distance / max(self.limit, LIMIT), self.angle / TURNED)


def moved_bones(limb: SeenBones, before: Samples, after: Samples, *, slack: float = 0.0) -> list[Moved]:
    """How far each bone of a limb moves, the worst first.

    slack : world units that keys were allowed to drift
    """
    armature, frames, moves = object_named(limb.armature), before.frames, []
    for node in limb.bones:
        pose = Quantity("WORLD", *node)
        earlier, now = before.every(pose), after.every(pose)
        # A bone scaled along itself moves its end; across, it moves what hangs beside it, told only where that can be seen:
        # Blender's IK leaves axes that are not quite as long as they were.
        length = object_named(node[0]).data.bones[node[1]].length
        grown = length * np.abs(np.diff(np.linalg.norm([earlier[:, :3, :3], now[:, :3, :3]], axis=2), axis=0)[0])
        across = grown[:, [0, 2]].max(axis=-1)
        distances = np.maximum(magnitude(now[:, :3, 3] - earlier[:, :3, 3]), grown[:, 1])
        distances = np.where(across > PLACED * limb.length, np.maximum(distances, across), distances)
        change = nearest_rotation(now[:, :3, :3]) @ np.swapaxes(nearest_rotation(earlier[:, :3, :3]), -1, -2)
        angles = _angles(change)
        link = next((link for link in limb.links if node[0] == limb.armature and _is_on(armature, node[1], link)), None)
        if link is not None:
            angles = _swings(change, _axes(limb.armature, link, before))
        farthest, widest = int(np.argmax(distances)), int(np.argmax(angles))
        moves.append(
            Moved(
                node,
                distance=float(distances[farthest]),
                at_distance=float(frames[farthest]),
                angle=max(0.0, float(angles[widest]) - slack / max(limb.length, LIMIT)),
                at_angle=float(frames[widest]),
                limit=PLACED * limb.length + slack,
            )
        )
    return sorted(moves, key=lambda moved: -moved.excess)


def refuse_movement(moved: Sequence[Moved], units: Units, remedy: Sentence) -> None:
    """Raise `ChainError` if a bone visibly moves; `moved` has the worst first."""
    if not moved or moved[0].excess <= 1.0:
        return
    worst = moved[0]
    is_place = worst.distance / max(worst.limit, LIMIT) >= worst.angle / TURNED
    how = Sentence("would move by {distance}", {"distance": units.text(worst.distance)})
    if not is_place:
        how = Sentence("would turn by {angle} degrees", {"angle": f"{math.degrees(worst.angle):.2g}"})
    raise ChainError(
        'Bone "{bone}" {how} at frame {frame:g}{cause}. {remedy}',
        bone=worst.node[1],
        how=how,
        frame=worst.at_distance if is_place else worst.at_angle,
        cause=_cause(worst.node),
        remedy=remedy,
    )


def _cause(node: Node) -> Sentence | str:
    bone = object_named(node[0]).pose.bones[node[1]]
    names = [f'"{constraint.name}"' for constraint in bone.constraints if is_acting(constraint)]
    return Sentence(", on which {constraints} acts", {"constraints": ", ".join(names)}) if names else ""


def seen_below(
    armature: Object, moved: Iterable[str], keyed: Collection[str] = (), skins: Skins | None = None
) -> tuple[Node, ...]:
    """The bones that a change may visibly move: these, those below them, and those that deform and follow any of them.

    keyed : names of the bones that get keys, which need not stay where they are unless they are among `moved`

    Bones that hang on another one of them without anything of their own are left out: they move as that one does.
    """
    skins, bones = skins or Skins(), set(moved)
    rigs = [armature, *skins.followers(armature)]
    told = {rig: skins.deforms_a_mesh(rig) or not all(bone.use_deform for bone in rig.data.bones) for rig in rigs}
    nodes, shows = {(armature.name, name) for name in bones}, set()
    # Parents are read once: a rig has hundreds of bones, and each round goes over all of them.
    others = [
        ((rig.name, bone.name), (rig.name, bone.parent.name) if bone.parent is not None else None, bone if told[rig] else None)
        for rig in rigs
        for bone in rig.pose.bones
        if rig != armature or bone.name not in keyed
    ]
    followers = [(node, bone) for node, _, bone in others if bone is not None and len(bone.constraints)]
    count = -1
    while count != len(nodes):
        count = len(nodes)
        # Without a skin or a bone that does not deform, a mechanism cannot be told from what is seen.
        nodes.update(node for node, bone in followers if node not in nodes and _follows(bone, nodes))
        for node, above, _ in others:
            if above in nodes:
                nodes.add(node)
    for rig in rigs:
        has_skin = skins.deforms_a_mesh(rig)
        shown = [bone.name for bone in rig.data.bones if bone.use_deform]
        shows |= {(rig.name, name) for name in shown if not has_skin or skins.deforms_a_mesh(rig, name)}
    kept = []
    for node in sorted(nodes & shows or {(armature.name, name) for name in bones}):
        bone = object_named(node[0]).pose.bones[node[1]]
        above = bone.parent is not None and (node[0], bone.parent.name)
        is_carried = above in nodes and above in shows and not bone.constraints
        if not is_carried or (node[0] == armature.name and node[1] in bones):
            kept.append(node)
    return tuple(kept)


def _follows(bone: Object, nodes: Collection[Node]) -> bool:
    for constraint in bone.constraints:
        for entry in entries_of(constraint):
            target = getattr(entry, "target", None)
            if target is not None and (target.name, getattr(entry, "subtarget", "")) in nodes and is_acting(constraint):
                return True
    return False


def _angles(rotations: Array) -> Array:
    """Angles `(F,)`, radians, of rotations; near zero exact, unlike an arc cosine of the trace."""
    (_, xy, xz), (yx, _, yz), (zx, zy, _) = np.moveaxis(rotations, 0, -1)
    skew = np.stack([zy - yz, xz - zx, yx - xy], axis=-1)
    return np.arctan2(magnitude(skew), np.trace(rotations, axis1=1, axis2=2) - 1.0)


def _swings(rotations: Array, axes: Array) -> Array:
    """Angles `(F,)` by which rotations turn the axes `(F, 3)` away: rotations without their twist about them."""
    turned = (rotations @ axes[..., None])[..., 0]
    return np.arctan2(magnitude(np.cross(turned, axes)), np.sum(turned * axes, axis=-1))


def _axes(armature: str, link: tuple[str, str], samples: Samples) -> Array:
    """Vectors `(F, 3)` along a link, world space."""
    first = samples.every(Quantity("WORLD", armature, link[0]))
    if not link[1]:
        return first[:, :3, 1]
    return samples.every(Quantity("WORLD", armature, link[1]))[:, :3, 3] - first[:, :3, 3]


def _is_on(armature: Object, name: str, link: tuple[str, str]) -> bool:
    """Whether a bone lies along a link at rest, with both of its ends."""
    bones = armature.data.bones
    start = np.array(bones[link[0]].head_local)
    end = np.array(bones[link[1]].head_local if link[1] else bones[link[0]].tail_local)
    along, length = end - start, float(np.linalg.norm(end - start))
    if length < LIMIT or name == link[1]:
        return False
    for place in (bones[name].head_local, bones[name].tail_local):
        part = np.clip((np.array(place) - start) @ along / length**2, 0.0, 1.0)
        if np.linalg.norm(np.array(place) - start - part * along) > ON_LINK * length:
            return False
    return True


class Trial:
    """What was written to copies of actions, to be taken back."""

    def __init__(self) -> None:
        self._values: list[Edit] = []

    def put(self, changes: Sequence[Change], muted: Sequence[Property] = ()) -> None:
        """Write changes to the actions that are played now; `muted` are properties to set to true, by owner and data path."""
        for change in changes:
            channels = dict.fromkeys(key.channel for key in change.keys)
            self._values += present_values(datablock_named(change.owner), channels)
        put([replace(change, destination="ACTION", strip="") for change in changes])
        for owner, path in muted:
            self._values += present_values(owner, [Channel(path)])
            apply_edits([Edit(owner, path, 0, value=True)])
        # Otherwise what was there before would count as edits that nobody has keyed.
        write_animated_values()

    def take_back(self) -> None:
        """Restore the values that the properties had, the first last."""
        apply_edits(self._values[::-1])


@contextmanager
def on_copies(scene: Scene, owners: Iterable[Object]) -> Iterator[Trial]:
    """Let datablocks play copies of their actions in a block; whatever is put there is gone afterwards."""
    blocks, trial = list(dict.fromkeys(owners)), Trial()
    with edits_kept(scene, blocks, set()):
        try:
            with trial_actions(blocks):
                yield trial
        finally:
            trial.take_back()
