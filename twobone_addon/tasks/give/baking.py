"""Bake a chain's motion onto its target and pole, where these are objects such as empties."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from ...core.array_types import Array, Indices
from ...core.arrays import magnitude
from ...core.curves.drift import Drift
from ...core.curves.frames import turning_points
from ...core.rig.channels import Matrices, channel_rotations
from ...core.rig.following import TWO
from ...core.rig.rotations import is_flat, nearest_rotation
from ...errors import ObjectError, SettingError, WriteError
from ...pipeline.keying import KeyDrift, all_held_beside, full_rate_keys, planned_few_keys, with_calm_axes
from ...pipeline.motion.plan_motion import motion_quantities
from ...pipeline.plan.naming import named
from ...pipeline.plan.planning import ChainPlan, plan_chain
from ...pipeline.pose.solving import CurveSamples, SolvedChain, Surroundings, rotation_curves
from ...pipeline.report.reporting import chain_report
from ...pipeline.report.reports import BakeReport, ChainReport
from ...pipeline.report.units import digits
from ...pipeline.stages import all_frames, evaluation_of, with_steps
from ...pipeline.story import Sample, Story
from ...records import extended, replace
from ...said import WARN, Sentence, note
from ...scene.blender_types import Object, Scene
from ...scene.bones import rotation_channel
from ...scene.keys.guarding import refuse_stretched_time, refuse_unwritable
from ...scene.keys.reading import read_keyed
from ...scene.keys.replaced import limb_name
from ...scene.keys.tables import ChannelKeys
from ...scene.keys.writing import Change
from ...scene.lookup import find_object, rotation_values
from ...scene.new_objects import parent_frames, refuse_constrained
from ...scene.sampling.quantities import Quantity, Samples
from ...settings import BakeSettings
from .solve import TargetMotion, ended_where_cut, location_values, round_trip, solve_target


@dataclass(frozen=True, kw_only=True)
class TargetReport(ChainReport):
    """One target. `max_error` is its largest distance from the tip, `max_off_plane` that of the joints from the plane."""

    BAKED: ClassVar[str] = "{keys} keys on the targets of {chains} chains"

    pole: str
    """Name of the pole; empty where there is none."""
    max_round_trip: float | None
    """Largest distance that a bake with this target moves a joint, world units; measured with the keys as written."""
    max_end_turn: float | None
    """Largest angle that this bake rotates the bone at the tip, degrees, where that copies the target."""
    stored: str = ""
    """Name of the stored chain; empty where there is none."""
    target_bone: str = ""
    """Bone that was keyed as the target; empty for an object."""
    pole_bone: str = ""
    """Bone that was keyed as the pole; empty without pole, or for an object."""
    constraint: str = ""
    """Name of the IK constraint that follows the controls; empty where none does."""
    base_bone: str = ""
    """First bone of the IK, where it had to be keyed as well; else empty."""

    @property
    def keyed(self) -> tuple[str, ...]:
        """Names of the keyed objects."""
        return self.target, self.pole

    @property
    def says(self) -> Sentence:
        """The keyed objects, and the chain that they were keyed for."""
        things = ", ".join(name for name in self.keyed if name) + (f" ({self.stored})" if self.stored else "")
        values = {"things": things, "keys": self.keys, "curves": self.channels}
        return Sentence("{things}: {keys} keys on {curves} curves", values)


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveReport(BakeReport, TargetReport):
    """All targets."""

    chains: Sequence[TargetReport]


LOCATION = "location"
GROUP = "Object Transforms"
"""Channel group in which Blender itself puts an object's F-Curves."""

FLAT_TO_BLENDER = 1e-6
"""Volume spanned by a space's axes, relative to their lengths, that is 0 within the single precision of Blender's matrices."""


def location_space(owner: Object, parent_world: Array) -> Array:
    """Transforms `(F, 4, 4)` from an object's location channels to world space.

    parent_world : (F, 4, 4), the object's world matrix without its own location, rotation and scale
    """
    space = parent_world.copy()
    space[:, :3, 3] += parent_world[:, :3, :3] @ np.array(owner.delta_location)
    return space


def refuse_flat(owner: Object, frames: Array, space: Array) -> None:
    """Raise `WriteError` where an object's location cannot move it freely, because its parent is scaled to 0.

    space : (F, 4, 4), see `location_space`
    """
    flat = is_flat(space[:, :3, :3], FLAT_TO_BLENDER)
    if flat.any():
        raise WriteError(
            'Object "{object}" inherits a scale of 0 from its parent at frame {frame:g}, so keys would not place it where the '
            "limb is. Change the parent's scale, or clear the object's parent.",
            object=owner.name,
            frame=frames[np.argmax(flat)],
        )


class FittedKeys(NamedTuple):
    """Keys of channels that are keyed together."""

    keys: list[ChannelKeys]
    drift: float
    """What reducing them cost, world units; 0 for keys on all frames."""


def location_keys(plan: ChainPlan, owner: Object, space: Array, places_world: Array) -> FittedKeys:
    """Keys of an object's location that bring it to `places_world` `(F, 3)`.

    space : (F, 4, 4), see `location_space`
    """
    values = location_values(space, places_world)
    present = np.array(owner.location)
    curves = [CurveSamples(LOCATION, axis, GROUP, values[:, axis], np.full(len(values), present[axis])) for axis in range(3)]
    return chosen_keys(plan, owner, curves, location_drift(values, space[:, :3, :3]))


def location_drift(values: Array, linear: Array) -> Drift:
    """Function measuring the world-space distance of locations from `values` `(F, 3)`; `linear` `(F, 3, 3)` maps to the world."""
    linear = np.broadcast_to(linear, (len(values), 3, 3))
    return lambda tried, indices: magnitude((linear[indices] @ (tried - values[indices])[..., None])[..., 0])


def rotation_space(owner: Object, parent_world: Array) -> Array:
    """Rotations `(F, 3, 3)` that come before an object's own rotation: its parent's times its delta rotation."""
    mode = owner.rotation_mode
    delta = owner.delta_rotation_quaternion if mode == "QUATERNION" else (*owner.delta_rotation_euler, 0.0)
    turn = np.eye(3)[None] if mode == "AXIS_ANGLE" else channel_rotations(mode, np.array([delta]))
    return nearest_rotation(parent_world[:, :3, :3]) @ turn


def rotation_keys(plan: ChainPlan, owner: Object, space: Array, turns_world: Array, *, lever: float) -> FittedKeys:
    """Keys that give an object the rotations `turns_world` `(F, 3, 3)`.

    space : (F, 3, 3), see `rotation_space`; lever : distance at which a drift of the rotation is measured
    """
    rotation = np.swapaxes(space, -1, -2) @ turns_world
    path = rotation_channel(owner.rotation_mode)
    curves = rotation_samples(plan, owner, path, GROUP, rotation, mode=owner.rotation_mode, present=rotation_values(owner))
    return chosen_keys(plan, owner, curves, rotation_drift(owner.rotation_mode, rotation, lever))


def rotation_samples(
    plan: ChainPlan, owner: Object, path: str, group: str, rotation: Array, *, mode: str, present: Sequence[float]
) -> list[CurveSamples]:
    """Continuous curves for all channels of a rotation property of an object or one of its bones.

    rotation : (F, 3, 3); present : the channels' present values
    """
    return continuous_samples(path, group, rotation, rotation_beside(plan, owner, path, present), mode=mode, present=present)


def rotation_beside(plan: ChainPlan, owner: Object, path: str, present: Sequence[float]) -> Surroundings:
    """Values of a rotation's channels beside the range of a plan, where it is keyed there."""
    keyed = [read_keyed(owner, path, index, *plan.within) for index in range(4)]
    sides = []
    for side in (0, 1):
        outer = [channel.beside[side] for channel in keyed]
        values = [now if value is None else value for value, now in zip(outer, present, strict=True)]
        sides.append(
            np.array(values[: 3 if path.endswith("euler") else 4]) if any(value is not None for value in outer) else None
        )
    return Surroundings(*sides)


def continuous_samples(
    path: str, group: str, rotation: Array, beside: Surroundings, *, mode: str, present: Sequence[float]
) -> list[CurveSamples]:
    """Curves as of `rotation_samples`, with what is beside them known."""
    now = np.broadcast_to(np.array(present), (len(rotation), 4))
    # All channels of an Euler rotation are keyed, since an unkeyed one may have any value at other frames.
    all_axes = frozenset(range(3))
    curves = rotation_curves(mode, rotation=Matrices(rotation), present=now, outside=beside, baked=all_axes)
    return [
        CurveSamples(path, index, group, curves.values[:, column], now[:, index]) for column, index in enumerate(curves.indices)
    ]


def rotation_drift(mode: str, rotation: Array, lever: float) -> Drift:
    """Function measuring how far rotations other than `rotation` `(F, 3, 3)` move points at the distance `lever`."""

    def drift(tried: Array, indices: Indices) -> Array:
        padded = np.concatenate([tried, np.zeros((*tried.shape[:-1], 4 - tried.shape[-1]))], axis=-1)
        difference = channel_rotations(mode, padded) - rotation[indices]
        # A rotation by angle a differs from the identity by 2 sqrt(2) sin(a/2) (Frobenius norm); the chord is that / sqrt(2).
        return np.sqrt(0.5 * np.sum(difference**2, axis=(-1, -2))) * lever

    return drift


def chosen_keys(plan: ChainPlan, owner: Object, curves: list[CurveSamples], drift: Drift) -> FittedKeys:
    """Full-rate or reduced keys, by the settings, of channels keyed together."""
    keyed = {curve.channel: read_keyed(owner, curve.path, curve.index, *plan.within) for curve in curves}
    keys, worst_drift = full_rate_keys(plan, curves), 0.0
    if plan.settings.keys == "REDUCE":
        calm, values = with_calm_axes(curves)
        few = planned_few_keys(plan, calm, values, drift, plan.report_frames[turning_points(values[plan.report_rows])])
        keys, worst_drift = few.keys, float(few.drifts.max())
    return FittedKeys(all_held_beside(plan, keyed, curves, keys), worst_drift)


SAME_SHAPE = 1e-3
"""Joint displacement, relative to the chain's length, below which no difference is visible."""


@dataclass(frozen=True, slots=True)
class _Guide:
    """A target or pole, its keys, and the places that they should bring it to."""

    owner: Object
    keys: list[ChannelKeys]
    drift: float
    places_world: Array
    """`(F, 3)` goals of the keys."""

    @property
    def world(self) -> Quantity:
        """Its world matrix."""
        return Quantity("WORLD", self.owner.name)


@dataclass(frozen=True, slots=True)
class Guided:
    """A chain with its target and, if any, its pole."""

    plan: ChainPlan
    solved: TargetMotion
    guides: list[_Guide]


@dataclass(frozen=True, slots=True)
class GuideProof:
    """Errors of a chain's guides as Blender evaluates them."""

    error: float
    """Largest distance of a guide from its goal, world units."""
    round_trip: float
    """Largest distance that a bake with these guides moves a joint, world units."""
    end_turn: float | None
    """Largest angle that it rotates the bone at the tip, radians; `None` where that does not copy the target."""


def with_rotation(settings: BakeSettings) -> BakeSettings:
    """Settings that also key the target's rotation."""
    return replace(settings, end_rotation="TARGET")


def planned_guides(
    scene: Scene, chains: Sequence[BakeSettings], active: Object | None
) -> tuple[list[ChainPlan], list[list[Object]]]:
    """Plan the chains and find the target and pole of each; raises a `TwoBoneError` where these could not be keyed."""
    refuse_stretched_time(scene)
    for chain in chains:
        with named(chain):
            _refuse_source(chain)
    # The target's own keys, which would give an automatic range, are about to be replaced.
    chains = [replace(chain, frame_range="SCENE") if chain.frame_range == "AUTO" else chain for chain in chains]
    plans, objects = [], []
    for chain in chains:
        with named(chain):
            plans.append(plan_chain(scene, chain, active))
            objects.append(_guide_objects(plans[-1].settings))
    _refuse_shared(objects)
    return plans, objects


def _refuse_source(settings: BakeSettings) -> None:
    """Raise `SettingError` for a target on another character's limb: the keys made here place it at this limb."""
    if settings.target_root_bone:
        raise SettingError(
            'Target Root Bone is "{bone}", but keys for a target are made where this limb is. Leave it empty to bake a target.',
            bone=settings.target_root_bone,
        )


def _guide_objects(settings: BakeSettings) -> list[Object]:
    """Objects that get keys: the target and, with the plane Pole, the pole; raises a `TwoBoneError` where one cannot."""
    roles = [("Target", settings.target, settings.target_bone)]
    if settings.plane == "POLE":
        roles.append(("Pole", settings.pole, settings.pole_bone))
    objects = []
    for role, name, bone in roles:
        if bone:
            raise ObjectError(
                '{role} "{armature}" is a bone, "{bone}"; only objects can be keyed. Choose an object, such as an empty.',
                role=Sentence(role),
                armature=name,
                bone=bone,
            )
        owner = find_object(role, name)
        refuse_constrained(owner)
        rotation = [rotation_channel(owner.rotation_mode)] if role == "Target" and settings.end_rotation == "TARGET" else []
        refuse_unwritable(owner, [LOCATION, *rotation], settings.destination)
        objects.append(owner)
    if len(objects) > 1 and objects[0] == objects[1]:
        raise ObjectError('"{object}" cannot be target and pole at once. Choose two objects.', object=objects[0].name)
    return objects


def _refuse_shared(objects: list[list[Object]]) -> None:
    """Raise `ObjectError` where two chains share a guide: one object cannot be in two places."""
    names = [owner.name for chain in objects for owner in chain]
    shared = next((name for name in names if names.count(name) > 1), None)
    if shared is not None:
        raise ObjectError(
            'Object "{object}" is target or pole of two chains. Choose another object for one of them.', object=shared
        )


def solved_guides(
    plans: Sequence[ChainPlan], objects: Sequence[Sequence[Object]]
) -> Story[tuple[list[Guided], str | dict[str, str]]]:
    """Solve all chains in one pass over time; return them with their guides' keys, and how the motion was sampled."""
    frames = all_frames(plan.frames for plan in plans)
    plans = yield from with_steps(plans, [[*plan.poses, *plan.base] for plan in plans])
    with parent_frames([owner for chain in objects for owner in chain]) as stand_ins:
        # A stand-in is where the object would be without location, rotation and scale of its own.
        parents = [Quantity("WORLD", name) for name in stand_ins]
        chain_quantities = [quantity for plan in plans for quantity in (*motion_quantities(plan), *plan.poses)]
        samples = yield Sample([*chain_quantities, *parents], frames, evaluation_of(plans))
        remaining_parents = iter(parents)
        guided = []
        for plan, chain_guides in zip(plans, objects, strict=True):
            chain_samples = samples.on(plan.frames)
            parents_world = [chain_samples.every(next(remaining_parents)) for _ in chain_guides]
            spaces = [location_space(*pair) for pair in zip(chain_guides, parents_world, strict=True)]
            for owner, space in zip(chain_guides, spaces, strict=True):
                refuse_flat(owner, plan.frames, space)
            solved = solve_target(plan, chain_samples, spaces[0])
            ended = ended_where_cut(plan, solved)
            guided.append(Guided(ended, solved, _keyed(ended, solved, chain_guides, spaces, parents_world)))
    return guided, samples.evaluation


def _keyed(
    plan: ChainPlan, solved: TargetMotion, objects: Sequence[Object], spaces: list[Array], parents_world: list[Array]
) -> list[_Guide]:
    places = [solved.targets_world, *([] if solved.poles_world is None else [solved.poles_world])]
    guides = [
        _Guide(owner, *location_keys(plan, owner, space, place), place)
        for owner, space, place in zip(objects, spaces, places, strict=True)
    ]
    if solved.turns_world is not None:
        target, space = guides[0], rotation_space(objects[0], parents_world[0])
        turns, drift = rotation_keys(plan, target.owner, space, solved.turns_world, lever=solved.length)
        guides[0] = replace(target, keys=[*target.keys, *turns], drift=max(target.drift, drift))
    return guides


def guide_changes(guided: Sequence[Guided], task: str) -> list[Change]:
    """Keys of all guides, as changes to be written."""
    return [
        Change(
            owner=guide.owner.name,
            keys=guide.keys,
            within=chain.plan.within,
            task=task,
            limb=limb_name(chain.plan.names.armature, chain.plan.names.upper),
            destination=chain.plan.settings.destination,
            strip=guide.owner.name,
            is_from_elsewhere=True,
        )
        for chain in guided
        for guide in chain.guides
    ]


def measured_guides(guided: Sequence[Guided]) -> Story[list[GuideProof | None]]:
    """Measure the written keys as Blender evaluates them; `None` for chains that are not verified."""
    checked = [chain for chain in guided if chain.plan.settings.verify]
    if not checked:
        return [None] * len(guided)
    plans = [chain.plan for chain in checked]
    frames = all_frames(plan.frames for plan in plans)
    quantities = [guide.world for chain in checked for guide in chain.guides]
    samples = yield Sample(quantities, frames, evaluation_of(plans, proving=True))
    return [_proof(chain, samples) if chain.plan.settings.verify else None for chain in guided]


def _proof(chain: Guided, samples: Samples) -> GuideProof:
    plan, rows = chain.plan, chain.plan.report_rows
    worlds = [samples.on(plan.frames).every(guide.world) for guide in chain.guides]
    errors = [world[rows, :3, 3] - guide.places_world[rows] for world, guide in zip(worlds, chain.guides, strict=True)]
    pole_world = worlds[1][:, :3, 3] if len(worlds) > 1 else None
    moved, turned = round_trip(plan, chain.solved, worlds[0], pole_world)
    end_turn = None if chain.solved.turns_world is None else float(turned[rows].max())
    return GuideProof(float(magnitude(np.stack(errors)).max()), float(moved[rows].max()), end_turn)


def guide_report(chain: Guided, proof: GuideProof | None) -> TargetReport:
    """Report of one chain's target and pole."""
    plan, solved, guides = chain.plan, chain.solved, chain.guides
    keys = [key for guide in guides for key in guide.keys]
    drift = KeyDrift(max(guide.drift for guide in guides))
    report = chain_report(SolvedChain(plan, solved.motion, [], solved.pose), keys, None, drift=drift, twist=solved.twist)
    report = replace(
        report,
        max_error=proof.error if proof else None,
        max_off_plane=float(solved.off_plane[plan.report_rows].max()),
        notes=[*(sentence for sentence in report.notes if sentence not in plan.notes), *_notes(plan, solved, proof)],
    )
    return extended(
        TargetReport,
        report,
        pole=guides[1].owner.name if len(guides) > 1 else "",
        max_round_trip=proof.round_trip if proof else None,
        max_end_turn=math.degrees(proof.end_turn) if proof and proof.end_turn is not None else None,
        stored=plan.settings.stored,
    )


def _notes(plan: ChainPlan, solved: TargetMotion, proof: GuideProof | None) -> list[Sentence]:
    """Notes on why a bake with the target visibly fails to reproduce the motion; none where it does reproduce it."""
    wrong = plan.report_frames[solved.wrong_side[plan.report_rows]]
    notes = []
    if len(wrong):
        count, first = len(wrong), wrong[0]
        notes.append(
            note(
                "At {count} frames, first at {first:g}, the chain bends to the other side. Bake it with the other bend, or Keep.",
                count=count,
                first=first,
            )
        )
    if proof is None or proof.round_trip <= SAME_SHAPE * solved.length:
        return notes
    links, distance = len(plan.rest.turning), digits(proof.round_trip)
    if links > TWO:
        moved = Sentence("A target does not determine how {links} links bend: a bake with it moves joints by up to {distance}.")
        if plan.settings.reference != "POSE":
            moved = Sentence(
                "A target does not determine how {links} links bend: a bake with it moves joints by up to {distance}. With the "
                "reference Current Pose they keep the shape they have."
            )
        return [*notes, replace(moved, values={"links": links, "distance": distance}, level=WARN)]
    if notes:
        return notes
    if plan.settings.keys == "REDUCE":
        moved = Sentence(
            "The target's keys are reduced: a bake with it moves joints by up to {distance}. Lower the tolerance, or key every "
            "frame."
        )
    elif _changes_motion(plan) and solved.off_plane[plan.report_rows].max() <= SAME_SHAPE * solved.length:
        moved = Sentence("The chain's Reach settings change the motion: a bake with its target moves joints by up to {distance}.")
    else:
        moved = Sentence(
            "The motion leaves the plane: a bake with it moves joints by up to {distance}. The plane Pole keeps any motion of "
            "two bones."
        )
    return [replace(moved, values={"distance": distance}, level=WARN)]


def _changes_motion(plan: ChainPlan) -> bool:
    """Whether limits or reach settings make a bake deviate from the target, or a bake would lose the chain's present stretch."""
    settings = plan.settings
    limited = settings.use_limits or settings.min_distance > 0.0 or settings.max_distance > 0.0
    return limited or settings.reach != "CLAMP" or bool(plan.stretched_before)
