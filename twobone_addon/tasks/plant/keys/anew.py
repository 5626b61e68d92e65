"""Plant feet again, from the motion before the earlier planting, whether or not contacts or settings have changed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields

import numpy as np

from ....core.array_types import Array, Codes
from ....core.contacts.states import Contact, contacts_of_states, states_of_contacts
from ....pipeline.beginning import Beginning, ToWrite
from ....pipeline.story import Span
from ....scene.blender_types import Object
from ....scene.graph.motion_digests import text_digest
from ....scene.keys.contact_keys import keyed_states
from ....scene.keys.destinations import is_untouched_strip, note_root
from ....scene.keys.ledger import Ledger
from ....scene.keys.writing import Change, Earlier
from ....scene.lookup import object_named
from ....scene.writer import assign
from ....settings.feet import PlantSettings
from ..plan.planning import PlantingPlan
from .curves import ChannelPieces

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
    given: dict[str, list[tuple[float, float, str]]] = field(default_factory=dict)
    """Contacts that it started from, by chain name: planting may shorten them."""
    departures: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Largest distance of each foot from the motion before, in leg lengths, and its frame, by chain name."""


@dataclass(frozen=True, slots=True)
class EarlierPlanting:
    """What happens to an earlier planting."""

    taken_back: tuple[Earlier, ...] = ()
    """Its keys that were removed."""
    is_anew: bool = False
    """Whether contacts or settings differ from it, and this planting starts from the motion before it."""
    is_on_top: bool = False
    """Whether it had contacts that are gone now, and could not be removed."""
    given: Mapping[str, Codes] = field(default_factory=dict)
    """States `(F,)` that it started from, by chain name, if the keyed ones are those that it left; else empty."""
    matching: Planting | None = None
    """The planting of the same legs and frames in the same action."""


def planted_before(plan: PlantingPlan) -> list[ToWrite]:
    """What earlier plantings of the same legs and frames have keyed, to start from before them: in strips, for strips."""
    if _has_root_motion(plan):
        return []
    in_strips = plan.settings.destination == "NLA"
    return [
        ToWrite(plan.armature, frozenset(planting.paths), (planting.first, planting.last), strip)
        for planting in _plantings(object_named(plan.armature))
        if _matches(planting, plan) and bool(planting.strips) == in_strips
        for strip in planting.strips or [""]
    ]


def earlier_planting(plan: PlantingPlan, beginning: Beginning) -> EarlierPlanting:
    """What happens to earlier plantings that overlap the plan's frames."""
    armature, start, end = object_named(plan.armature), float(plan.frames[0]), float(plan.frames[-1])
    recorded = _plantings(armature)
    # Of those of the same legs and frames in several actions, the one whose contacts are keyed now.
    alike = [planting for planting in recorded if _matches(planting, plan)]
    keyed = [planting for planting in alike if _is_as_keyed(planting, armature, plan.frames)]
    matching = next(iter([*keyed, *alike]), None)
    overlapping = [planting for planting in recorded if planting.first <= end and planting.last >= start]
    overlapping = [planting for planting in overlapping if planting == matching or not _matches(planting, plan)]
    then_and_now = [pair for planting in overlapping for pair in _contacts_then_and_now(planting, armature, plan.frames)]
    has_changed = any(not np.array_equal(then, now) for then, now in then_and_now)
    has_changed |= matching is not None and matching.settings != _digest(plan)
    starts_over = bool(beginning.earlier) and matching is not None and not matching.is_on_top
    is_on_top = not starts_over and any(np.any(then & ~now) for then, now in then_and_now)
    given: dict[str, Codes] = {}
    # To shorten once more what was shortened would make another planting of it.
    if matching is not None and _is_as_keyed(matching, armature, plan.frames):
        given = {
            chain: states_of_contacts([Contact(*contact) for contact in contacts], plan.frames)
            for chain, contacts in matching.given.items()
        }
    return EarlierPlanting(beginning.earlier, starts_over and has_changed, is_on_top, given, matching)


def note_planting(
    plan: PlantingPlan,
    channels: Sequence[ChannelPieces],
    earlier: EarlierPlanting,
    given: Sequence[Codes],
    departures: Sequence[Array],
) -> None:
    """Record the planting that was just written, with the states that each leg was `given`, for the next run.

    departures : (F,) for each leg, distances from the motion before, in leg lengths
    """
    armature, start, end = object_named(plan.armature), float(plan.frames[0]), float(plan.frames[-1])
    in_strips = plan.settings.destination == "NLA"
    kept = [
        planting
        for planting in _plantings(armature)
        if planting != earlier.matching and not (_matches(planting, plan) and _is_as_keyed(planting, armature, plan.frames))
    ]
    note_strips(plan, channels)
    if channels:
        planting = Planting(
            first=start,
            last=end,
            contacts={
                leg.chain: list(contacts_of_states(states, plan.frames))
                for leg, states in ((leg, _keyed(armature, leg.chain, plan.frames)) for leg in plan.legs)
            },
            settings=_digest(plan),
            strips=sorted({channel.strip for channel in channels}) if in_strips else [],
            paths=[] if in_strips else sorted({channel.pieces[0].path for channel in channels}),
            is_on_top=earlier.matching is not None and (earlier.matching.is_on_top or not earlier.taken_back),
            given={
                leg.chain: list(contacts_of_states(states, plan.frames)) for leg, states in zip(plan.legs, given, strict=False)
            },
            departures={
                leg.chain: (float(far.max()), float(plan.frames[far.argmax()]))
                for leg, far in zip(plan.legs, departures, strict=False)
            },
        )
        kept.append(planting)
    if channels or earlier.taken_back:
        assign(armature.twobone, "plantings", json.dumps([asdict(planting) for planting in kept]))


def planted_departures(armature: Object, span: Span) -> dict[str, tuple[float, float]]:
    """Largest distance of each planted foot from the motion before, in leg lengths, and its frame, by chain name.

    Of the plantings of the present action that still stand and overlap `span`.
    """
    farthest: dict[str, tuple[float, float]] = {}
    for planting in _plantings(armature):
        frames = np.arange(math.ceil(planting.first), planting.last + 1.0)
        if planting.first <= span[1] and planting.last >= span[0] and _is_as_keyed(planting, armature, frames):
            for chain, (far, frame) in planting.departures.items():
                farthest[chain] = max(farthest.get(chain, (0.0, 0.0)), (float(far), float(frame)))
    return farthest


def _plantings(armature: Object) -> list[Planting]:
    """Recorded plantings whose keys and strips all still exist; none if the record is unreadable."""
    names = {entry.name for entry in fields(Planting)}
    try:
        listed = json.loads(armature.twobone.plantings or "[]")
        # A later version may have written more than this one knows.
        recorded = [Planting(**{name: value for name, value in record.items() if name in names}) for record in listed]
    except (ValueError, TypeError, AttributeError):
        return []
    # A long walk's ledger takes longer to read than all else here.
    ledger = Ledger.present(armature) if recorded else None
    replaced = ledger.planted_paths() if ledger is not None else set()
    return [
        planting
        for planting in recorded
        if replaced.issuperset(planting.paths) and all(is_untouched_strip(armature, name) is not None for name in planting.strips)
    ]


def _matches(planting: Planting, plan: PlantingPlan) -> bool:
    """Whether a planting has the same legs and frames as a plan."""
    expected = (float(plan.frames[0]), float(plan.frames[-1]), [leg.chain for leg in plan.legs])
    return (planting.first, planting.last, list(planting.contacts)) == expected


def _is_as_keyed(planting: Planting, armature: Object, frames: Array) -> bool:
    """Whether the contacts of a planting are those that are keyed now."""
    return all(np.array_equal(*pair) for pair in _contacts_then_and_now(planting, armature, frames))


def _contacts_then_and_now(planting: Planting, armature: Object, frames: Array) -> Iterator[tuple[Codes, Codes]]:
    """States of each leg of a planting that is still there, at those frames that it has: as planted, and as keyed now."""
    frames = frames[(frames >= planting.first) & (frames <= planting.last)]
    for chain, contacts in planting.contacts.items():
        if chain in armature.twobone.chains:
            yield states_of_contacts([Contact(*contact) for contact in contacts], frames), _keyed(armature, chain, frames)


def _keyed(armature: Object, chain: str, frames: Array) -> Codes:
    """Currently keyed contact states `(F,)` of a leg."""
    return keyed_states(armature, armature.twobone.chains[chain], frames)


def _digest(plan: PlantingPlan) -> str:
    return text_digest(repr(sorted((name, value) for name, value in asdict(plan.settings).items() if name not in IRRELEVANT)))


def _has_root_motion(plan: PlantingPlan) -> bool:
    """Whether the settings add or remove root motion."""
    return isinstance(plan.settings, PlantSettings) and plan.settings.root_motion != "KEEP"


def planting_changes(plan: PlantingPlan, channels: Sequence[ChannelPieces]) -> list[Change]:
    """The keys of a planting as changes."""
    return piece_changes(plan, channels, ROOT_MOTION_TASK if _has_root_motion(plan) else TASK)


def piece_changes(plan: PlantingPlan, channels: Sequence[ChannelPieces], task: str) -> list[Change]:
    """The keys of all channels as changes."""
    return [
        Change(
            owner=plan.armature,
            keys=channel.pieces,
            within=(float(plan.frames[0]), float(plan.frames[-1])),
            task=task,
            destination=plan.settings.destination,
            strip=channel.strip,
            in_pieces=True,
            is_whole=plan.is_whole,
        )
        for channel in channels
    ]


def note_strips(plan: PlantingPlan, channels: Sequence[ChannelPieces]) -> None:
    """Record on the strips of limbs which strip holds the root's keys."""
    if plan.settings.destination == "NLA" and plan.root is not None:
        note_root(object_named(plan.armature), {channel.strip for channel in channels} - {plan.root.name}, plan.root.name)
