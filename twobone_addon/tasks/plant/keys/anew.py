"""Plant feet again, from the motion before the earlier planting, whether or not contacts or settings have changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, fields

import numpy as np

from ....core.array_types import Array, Codes
from ....core.contacts.states import Contact, contacts_of_states, states_of_contacts
from ....pipeline.beginning import Beginning, Reach
from ....scene.blender_types import Object, Scene
from ....scene.graph.motion_digests import text_digest
from ....scene.keys.contact_keys import keyed_states
from ....scene.keys.destinations import strips_of
from ....scene.keys.replaced import Ledger
from ....scene.keys.writing import Earlier
from ....scene.lookup import object_named
from ....settings.planting import PlantSettings
from ..plan.planning import PlantingPlan
from .curves import ChannelPieces
from .writing import write_pieces

IRRELEVANT = {"armature", "frame_range", "frame_start", "frame_end", "evaluation", "verify", "keep_targets"}
"""Settings that do not affect the planted motion, or that the plan contains."""

TASK, ROOT_MOTION_TASK = "plant", "root_motion"
"""Task names under which keys are recorded. Root motion has its own, since planting again must not remove it: a user adds it once
and expects it to stay."""


@dataclass(frozen=True, slots=True)
class Planting:
    """Record of a planting, to detect whether contacts or settings have changed since."""

    first: float
    last: float
    contacts: dict[str, list[tuple[float, float, str]]]
    """Contacts of each leg as first frame, last frame and point, by chain name."""
    settings: str
    """Digest of the settings."""
    strips: list[str]
    """Names of the NLA strips it created."""
    paths: list[str]
    """Data paths of the keys it wrote into the action."""
    is_on_top: bool = False
    """Whether it started from the result of an earlier planting."""


@dataclass(frozen=True, slots=True)
class EarlierPlanting:
    """What happens to an earlier planting."""

    taken_back: tuple[Earlier, ...] = ()
    """Its keys that were removed."""
    is_anew: bool = False
    """Whether contacts or settings differ from it, and this planting starts from the motion before it."""
    is_on_top: bool = False
    """Whether it had contacts that are gone now, and could not be removed."""


def planted_before(plan: PlantingPlan) -> list[Reach]:
    """Paths and frames that earlier plantings of the same legs and frames have keyed in the action, to start from before them."""
    if plan.settings.destination == "NLA" or _has_root_motion(plan):
        return []
    matching = [each for each in _plantings(object_named(plan.armature)) if _matches(each, plan) and not each.strips]
    return [Reach(plan.armature, set(each.paths), (each.first, each.last)) for each in matching]


def earlier_planting(plan: PlantingPlan, beginning: Beginning) -> EarlierPlanting:
    """What happens to earlier plantings that overlap the plan's frames."""
    start, end = float(plan.frames[0]), float(plan.frames[-1])
    overlapping = [each for each in _plantings(object_named(plan.armature)) if each.first <= end and each.last >= start]
    matching = next((each for each in overlapping if _matches(each, plan)), None)
    then_and_now = [pair for each in overlapping for pair in _contacts_then_and_now(each, plan)]
    has_changed = any(not np.array_equal(then, now) for then, now in then_and_now)
    has_changed |= matching is not None and matching.settings != _digest(plan)
    starts_over = bool(beginning.earlier) and matching is not None and not matching.is_on_top
    is_on_top = not starts_over and any(np.any(then & ~now) for then, now in then_and_now)
    return EarlierPlanting(beginning.earlier, is_anew=starts_over and has_changed, is_on_top=is_on_top)


def write_and_note(scene: Scene, plan: PlantingPlan, channels: Sequence[ChannelPieces], earlier: EarlierPlanting) -> None:
    """Write the keys of all channels, and record the planting for the next run."""
    armature, start, end = object_named(plan.armature), float(plan.frames[0]), float(plan.frames[-1])
    in_strips = plan.settings.destination == "NLA"
    task = ROOT_MOTION_TASK if _has_root_motion(plan) else TASK
    present = _plantings(armature)
    kept, replaced = [each for each in present if not _matches(each, plan)], [each for each in present if _matches(each, plan)]
    write_pieces(scene, plan, channels, task=task, earlier=earlier.taken_back)
    if channels:
        planting = Planting(
            first=start,
            last=end,
            contacts={
                chain: list(map(astuple, contacts_of_states(states, plan.frames))) for chain, states in _states(plan, plan.frames)
            },
            settings=_digest(plan),
            strips=sorted({channel.strip for channel in channels}) if in_strips else [],
            paths=[] if in_strips else sorted({channel.pieces[0].path for channel in channels}),
            is_on_top=any(each.is_on_top or not earlier.taken_back for each in replaced),
        )
        kept.append(planting)
    if channels or earlier.taken_back:
        armature.twobone.plantings = json.dumps([asdict(each) for each in kept])


def _plantings(armature: Object) -> list[Planting]:
    """Recorded plantings whose keys and strips all still exist; none if the record is unreadable."""
    ledger = Ledger.present(armature)
    replaced = ledger.planted_paths() if ledger is not None else set()
    names = {each.name for each in fields(Planting)}
    try:
        listed = json.loads(armature.twobone.plantings or "[]")
        recorded = [Planting(**{name: value for name, value in each.items() if name in names}) for each in listed]
    except (ValueError, TypeError, AttributeError):
        return []
    return [
        each for each in recorded if replaced.issuperset(each.paths) and all(strips_of(armature, [name]) for name in each.strips)
    ]


def _matches(planting: Planting, plan: PlantingPlan) -> bool:
    """Whether a planting has the same legs and frames as a plan."""
    expected = (float(plan.frames[0]), float(plan.frames[-1]), [leg.chain for leg in plan.legs])
    return (planting.first, planting.last, list(planting.contacts)) == expected


def _contacts_then_and_now(planting: Planting, plan: PlantingPlan) -> Iterator[tuple[Codes, Codes]]:
    """States of each leg that planting and plan share, at the frames they share: as planted, and as keyed now."""
    frames = plan.frames[(plan.frames >= planting.first) & (plan.frames <= planting.last)]
    for chain, now in _states(plan, frames):
        if chain in planting.contacts:
            yield states_of_contacts([Contact(*contact) for contact in planting.contacts[chain]], frames), now


def _states(plan: PlantingPlan, frames: Array) -> list[tuple[str, Codes]]:
    """Chain name and currently keyed contact states `(F,)` of each leg."""
    armature = object_named(plan.armature)
    return [(leg.chain, keyed_states(armature, armature.twobone.chains[leg.chain], frames)) for leg in plan.legs]


def _digest(plan: PlantingPlan) -> str:
    return text_digest(repr(sorted((name, value) for name, value in asdict(plan.settings).items() if name not in IRRELEVANT)))


def _has_root_motion(plan: PlantingPlan) -> bool:
    """Whether the settings add or remove root motion."""
    return isinstance(plan.settings, PlantSettings) and plan.settings.root_motion != "KEEP"
