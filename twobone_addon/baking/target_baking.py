"""The reverse of the bake: the motion that a chain has becomes keys on its target, and on its pole."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from ..array_types import Array
from ..errors import ObjectError
from ..scene.blender_types import Object, Scene
from ..scene.destinations import open_destination
from ..scene.guarding import refuse_unwritable
from ..scene.lookup import find_object
from ..scene.parent_frames import parent_frames, refuse_constrained
from ..scene.restoring import edits_kept
from ..scene.sampling import Quantity, Samples
from ..scene.writing import ChannelKeys, write_keys
from ..settings import BakeSettings
from .motion import motion_quantities
from .planning import ChainPlan, plan_chain
from .report import BakeReport, ChainReport
from .reporting import chain_report
from .sampling import sample
from .solving import Solved
from .stages import Stopwatch, evaluation_of
from .target_keys import LOCATION, location_keys, location_space
from .target_solving import TargetMotion, solve_target


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


def bake_target(scene: Scene, wanted: BakeSettings, active: Object | None = None) -> BakeReport:
    """Key the target where the chain's tip is, and the pole where it keeps the chain's plane.

    Raises a `TwoBoneError` before anything is changed.
    """
    watch = Stopwatch()
    with watch.stage("read"):
        plan = plan_chain(scene, wanted, active, writes=False)
        things = _guides(plan.settings)
    with parent_frames(things) as stand_ins:
        with watch.stage("sample"):
            parents = [Quantity("WORLD", name) for name in stand_ins]
            quantities = [*motion_quantities(plan), *plan.poses, *parents]
            samples = sample(scene, quantities, plan.frames, evaluation=evaluation_of([plan]))
        with watch.stage("solve"):
            spaces = [location_space(thing, samples[parent]) for thing, parent in zip(things, parents, strict=True)]
            solved = solve_target(plan, samples, np.arange(len(plan.frames)), spaces[0])
    guides = _keyed(plan, solved, things, spaces)
    with watch.stage("write"):
        _write(scene, plan, guides)
    with watch.stage("verify"):
        error = _measured(scene, plan, guides) if plan.settings.verify else None
    return BakeReport([_report(plan, solved, guides, error)], watch.seconds, samples.evaluation)


def _guides(settings: BakeSettings) -> list[Object]:
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


def _keyed(plan: ChainPlan, solved: TargetMotion, things: list[Object], spaces: list[Array]) -> list[_Guide]:
    places = [solved.targets_world, *([] if solved.poles_world is None else [solved.poles_world])]
    return [
        _Guide(thing, *location_keys(plan, thing, space, place), place)
        for thing, space, place in zip(things, spaces, places, strict=True)
    ]


def _write(scene: Scene, plan: ChainPlan, guides: list[_Guide]) -> None:
    start, end = float(plan.frames[0]), float(plan.frames[-1])
    written = {(guide.thing, LOCATION) for guide in guides}
    with edits_kept(scene, [guide.thing for guide in guides], written):
        for guide in guides:
            with open_destination(guide.thing, plan.settings.destination, guide.thing.name, start, end) as bag:
                write_keys(bag, guide.keys, start, end)


def _measured(scene: Scene, plan: ChainPlan, guides: list[_Guide]) -> float:
    """Farthest that target or pole, evaluated by Blender, are from where they are to be."""
    quantities = [Quantity("WORLD", guide.thing.name) for guide in guides]
    samples: Samples = sample(scene, quantities, plan.report_frames, evaluation=evaluation_of([plan], proving=True))
    errors = [
        samples[quantity][:, :3, 3] - guide.places_world[plan.report_rows]
        for quantity, guide in zip(quantities, guides, strict=True)
    ]
    return float(np.sqrt(np.sum(np.stack(errors) ** 2, axis=-1)).max())


def _report(plan: ChainPlan, solved: TargetMotion, guides: list[_Guide], error: float | None) -> TargetReport:
    keys = [key for guide in guides for key in guide.keys]
    base = chain_report(Solved(plan, solved.motion, solved.chain, []), keys, None, drift=max(guide.drift for guide in guides))
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
    if not len(wrong):
        return []
    count, first = len(wrong), wrong[0]
    note = f"At {count} frames, first at {first:g}, the chain bends to the other side. Bake it with the other bend, or Keep."
    return [note]
