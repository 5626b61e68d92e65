"""The reverse of the bake: the motion that a chain has becomes keys on its target, and on its pole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from ...array_types import Array
from ...arrays import magnitude
from ...errors import ObjectError
from ...rig.inverse import TWO
from ...scene.blender_types import Object, Scene
from ...scene.keys.destinations import open_destination
from ...scene.keys.guarding import refuse_stretched_time, refuse_unwritable
from ...scene.keys.writing import ChannelKeys, write_keys
from ...scene.lookup import find_object
from ...scene.walk.evaluate import Quantity, Samples
from ...scene.walk.parent_frames import parent_frames, refuse_constrained
from ...scene.walk.restoring import edits_kept
from ...scene.walk.stepping import Steps, at_once
from ...settings import BakeSettings
from ..keys.reducing import KeyDrift
from ..motion.plan_motion import motion_quantities
from ..motion.sampling import sample_steps
from ..plan.planning import ChainPlan, plan_chain
from ..pose.solving import Solved
from ..report.records import BakeReport, ChainReport
from ..report.reporting import chain_report
from ..stages import SkipCheckError, Stopwatch, all_frames, evaluation_of
from .keys import LOCATION, location_keys, location_space
from .missing_guides import missing_guides
from .solving import TargetMotion, solve_target

SAME_SHAPE = 1e-3
"""Part of the chain's length that joints may be moved by and still be where they were to the eye."""


@dataclass(frozen=True, slots=True)
class TargetReport(ChainReport):
    """What became of one target. `max_error` is its distance from the tip; `max_off_plane` that of the joints before."""

    pole: str = ""
    max_round_trip: float | None = None
    """Farthest that a bake with this target brings a joint from where it is now, world units."""


@dataclass(frozen=True, slots=True)
class _Guide:
    """A target or a pole, its keys, and where they are to bring it."""

    thing: Object
    keys: list[ChannelKeys]
    drift: float
    places_world: Array
    """`(F, 3)`"""


@dataclass(frozen=True, slots=True)
class _Guided:
    """One chain and what guides it."""

    plan: ChainPlan
    solved: TargetMotion
    guides: list[_Guide]


def bake_targets(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None = None) -> BakeReport:
    """The same as `bake_targets_steps`, at once."""
    return at_once(bake_targets_steps(scene, wanted, active))


def bake_targets_steps(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None = None) -> Steps[BakeReport]:
    """Key each chain's target where its tip is, and the pole where it keeps the chain's plane, in one walk over time.

    A target or pole that the settings leave out is made. Raises a `TwoBoneError` before anything is changed; see also
    `stages.SkipCheckError`.
    """
    with missing_guides(scene, wanted, active) as settings:
        return (yield from _given_guides(scene, settings, active))


def _given_guides(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None) -> Steps[BakeReport]:
    watch = Stopwatch()
    with watch.stage("read"):
        refuse_stretched_time(scene)
        plans = [plan_chain(scene, _of_the_chain(settings), active) for settings in wanted]
        things = [_things(plan.settings) for plan in plans]
        _refuse_shared(things)
    samples, guided = yield from _solved(scene, plans, things, watch)
    with watch.stage("write"):
        _write(scene, guided)
    with watch.stage("verify"):
        try:
            errors = yield from _measured(scene, guided)
        except SkipCheckError:
            errors = [None] * len(guided)
    chains = [_report(chain, error) for chain, error in zip(guided, errors, strict=True)]
    return BakeReport(chains, watch.seconds, samples.evaluation)


def _of_the_chain(settings: BakeSettings) -> BakeSettings:
    """An automatic range is the scene's here: the keys that a target has are those that go."""
    return replace(settings, frame_range="SCENE") if settings.frame_range == "AUTO" else settings


def _things(settings: BakeSettings) -> list[Object]:
    """The objects that get keys: the target, and the pole where there is one."""
    roles = [("Target", settings.target, settings.target_bone)]
    if settings.plane == "POLE":
        roles.append(("Pole", settings.pole, settings.pole_bone))
    things = []
    for role, name, bone in roles:
        if bone:
            raise ObjectError(
                f'{role} "{name}" is a bone, "{bone}"; only objects can be keyed. Choose an object, such as an empty.'
            )
        thing = find_object(role, name)
        refuse_constrained(thing)
        refuse_unwritable(thing, [LOCATION], settings.destination)
        things.append(thing)
    if len(things) > 1 and things[0] == things[1]:
        raise ObjectError(f'"{things[0].name}" cannot be target and pole at once. Choose two objects.')
    return things


def _refuse_shared(things: list[list[Object]]) -> None:
    """One object cannot be in two places."""
    names = [thing.name for chain in things for thing in chain]
    shared = next((name for name in names if names.count(name) > 1), None)
    if shared is not None:
        raise ObjectError(f'Object "{shared}" is target or pole of two chains. Choose another object for one of them.')


def _solved(
    scene: Scene, plans: list[ChainPlan], things: list[list[Object]], watch: Stopwatch
) -> Steps[tuple[Samples, list[_Guided]]]:
    """Find, sample and solve all chains in one walk over time; changes nothing."""
    frames = all_frames(plan.frames for plan in plans)
    with parent_frames([thing for chain in things for thing in chain]) as stand_ins:
        with watch.stage("sample"):
            parents = [Quantity("WORLD", name) for name in stand_ins]
            own = [quantity for plan in plans for quantity in (*motion_quantities(plan), *plan.poses)]
            samples = yield from sample_steps(scene, [*own, *parents], frames, evaluation=evaluation_of(plans))
        with watch.stage("solve"):
            left = iter(parents)
            guided = []
            for plan, chain_things in zip(plans, things, strict=True):
                own_samples = samples.on(plan.frames)
                spaces = [location_space(thing, own_samples.every(next(left))) for thing in chain_things]
                solved = solve_target(plan, own_samples, spaces[0])
                guided.append(_Guided(plan, solved, _keyed(plan, solved, chain_things, spaces)))
    return samples, guided


def _keyed(plan: ChainPlan, solved: TargetMotion, things: list[Object], spaces: list[Array]) -> list[_Guide]:
    places = [solved.targets_world, *([] if solved.poles_world is None else [solved.poles_world])]
    return [
        _Guide(thing, *location_keys(plan, thing, space, place), place)
        for thing, space, place in zip(things, spaces, places, strict=True)
    ]


def _write(scene: Scene, guided: list[_Guided]) -> None:
    things = [guide.thing for chain in guided for guide in chain.guides]
    with edits_kept(scene, things, {(thing, LOCATION) for thing in things}):
        for chain in guided:
            start, end = float(chain.plan.frames[0]), float(chain.plan.frames[-1])
            for guide in chain.guides:
                with open_destination(guide.thing, chain.plan.settings.destination, guide.thing.name, start, end) as bag:
                    write_keys(bag, guide.keys, start, end)


def _measured(scene: Scene, guided: list[_Guided]) -> Steps[list[float | None]]:
    """Farthest that target or pole, evaluated by Blender, are from where they are to be; `None` where nobody asked."""
    checked = [chain for chain in guided if chain.plan.settings.verify]
    if not checked:
        return [None] * len(guided)
    plans = [chain.plan for chain in checked]
    frames = all_frames(plan.report_frames for plan in plans)
    quantities = [Quantity("WORLD", guide.thing.name) for chain in checked for guide in chain.guides]
    samples = yield from sample_steps(scene, quantities, frames, evaluation=evaluation_of(plans, proving=True))
    return [_worst(chain, samples) if chain.plan.settings.verify else None for chain in guided]


def _worst(chain: _Guided, samples: Samples) -> float:
    plan = chain.plan
    samples = samples.on(plan.report_frames)
    errors = [
        samples.every(Quantity("WORLD", guide.thing.name))[:, :3, 3] - guide.places_world[plan.report_rows]
        for guide in chain.guides
    ]
    return float(magnitude(np.stack(errors)).max())


def _report(chain: _Guided, error: float | None) -> TargetReport:
    plan, solved, guides = chain.plan, chain.solved, chain.guides
    keys = [key for guide in guides for key in guide.keys]
    base = chain_report(
        Solved(plan, solved.motion, solved.chain, []), keys, None, drift=KeyDrift(max(guide.drift for guide in guides))
    )
    rows = plan.report_rows
    values = {entry.name: getattr(base, entry.name) for entry in fields(base)}
    values |= {
        "max_error": error,
        "max_off_plane": float(solved.off_plane[rows].max()),
        "max_round_trip": float(solved.round_trip[rows].max()),
        "pole": guides[1].thing.name if len(guides) > 1 else "",
        "notes": [*(note for note in base.notes if note not in plan.notes), *_notes(plan, solved)],
    }
    return TargetReport(**values)


def _notes(plan: ChainPlan, solved: TargetMotion) -> list[str]:
    wrong = plan.report_frames[solved.wrong_side[plan.report_rows]]
    if len(wrong):
        count, first = len(wrong), wrong[0]
        return [
            f"At {count} frames, first at {first:g}, the chain bends to the other side. Bake it with the other bend, or Keep."
        ]
    links = len(plan.rest.turning)
    moved = solved.round_trip[plan.report_rows]
    if links == TWO or moved.max() <= SAME_SHAPE * solved.length:
        return []
    note = f"A target does not tell how {links} links bend: a bake with it moves joints by up to {moved.max():.3g}."
    if plan.settings.reference == "POSE":
        return [note]
    return [f"{note} With the reference Current Pose they keep the shape they have."]
