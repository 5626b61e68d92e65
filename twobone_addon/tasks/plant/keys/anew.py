"""Feet that are planted again, from the motion before, whether or not contacts or settings have changed."""

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

WITHOUT_A_SAY = {"armature", "frame_range", "frame_start", "frame_end", "evaluation", "verify", "keep_targets"}
"""Fields of the settings that do not change what is planted, or that the plan has."""

TASK, MOVING_ALONG = "plant", "root_motion"
"""Whose keys they are. Root motion is asked for by one press and not meant to come back with the next: nobody starts over
from before it."""


@dataclass(frozen=True, slots=True)
class Planting:
    """What was planted, to tell whether that has changed."""

    first: float
    last: float
    contacts: dict[str, list[tuple[float, float, str]]]
    """Of each leg, by its chain's name."""
    settings: str
    """Digest of the settings."""
    strips: list[str]
    """Names of the strips that were made."""
    paths: list[str]
    """Data paths of the keys that were made in the action."""
    is_on_top: bool = False
    """Whether it began with what an earlier one had left."""


@dataclass(frozen=True, slots=True)
class EarlierPlanting:
    """What becomes of an earlier planting."""

    taken_back: tuple[Earlier, ...] = ()
    is_anew: bool = False
    """Whether it was to be something else, and this one starts from before it."""
    is_on_top: bool = False
    """Whether legs are not to stand any more where they were planted, and that could not be taken back."""


def planted_before(plan: PlantingPlan) -> list[Reach]:
    """What an earlier planting of the same legs and frames has keyed in the action, to start over from before it."""
    if plan.settings.destination == "NLA" or _moves_along(plan):
        return []
    own = [each for each in _plantings(object_named(plan.armature)) if _is_of(each, plan) and not each.strips]
    return [Reach(plan.armature, set(each.paths), (each.first, each.last)) for each in own]


def earlier_planting(plan: PlantingPlan, beginning: Beginning) -> EarlierPlanting:
    """What becomes of what was planted around the plan's frames."""
    start, end = float(plan.frames[0]), float(plan.frames[-1])
    around = [each for each in _plantings(object_named(plan.armature)) if each.first <= end and each.last >= start]
    own = next((each for each in around if _is_of(each, plan)), None)
    then_and_now = [pair for each in around for pair in _contacts_then_and_now(each, plan)]
    is_another = any(not np.array_equal(then, now) for then, now in then_and_now)
    is_another |= own is not None and own.settings != _settings(plan)
    starts_over = bool(beginning.earlier) and own is not None and not own.is_on_top
    is_on_top = not starts_over and any(np.any(then & ~now) for then, now in then_and_now)
    return EarlierPlanting(beginning.earlier, is_anew=starts_over and is_another, is_on_top=is_on_top)


def write_and_note(scene: Scene, plan: PlantingPlan, channels: Sequence[ChannelPieces], earlier: EarlierPlanting) -> None:
    """Write the keys of all channels, and note what was planted, for the next time."""
    armature, start, end = object_named(plan.armature), float(plan.frames[0]), float(plan.frames[-1])
    in_strips = plan.settings.destination == "NLA"
    task = MOVING_ALONG if _moves_along(plan) else TASK
    before = _plantings(armature)
    noted, again = [each for each in before if not _is_of(each, plan)], [each for each in before if _is_of(each, plan)]
    write_pieces(scene, plan, channels, task=task, earlier=earlier.taken_back)
    if channels:
        made = Planting(
            first=start,
            last=end,
            contacts={
                chain: list(map(astuple, contacts_of_states(states, plan.frames))) for chain, states in _states(plan, plan.frames)
            },
            settings=_settings(plan),
            strips=sorted({channel.strip for channel in channels}) if in_strips else [],
            paths=[] if in_strips else sorted({channel.pieces[0].path for channel in channels}),
            is_on_top=any(each.is_on_top or not earlier.taken_back for each in again),
        )
        noted.append(made)
    if channels or earlier.taken_back:
        armature.twobone.plantings = json.dumps([asdict(each) for each in noted])


def _plantings(armature: Object) -> list[Planting]:
    """Those that are still there as a whole; none where what is noted is not legible."""
    ledger = Ledger.present(armature)
    replaced = ledger.planted_paths() if ledger is not None else set()
    names = {each.name for each in fields(Planting)}
    try:
        listed = json.loads(armature.twobone.plantings or "[]")
        noted = [Planting(**{name: value for name, value in each.items() if name in names}) for each in listed]
    except (ValueError, TypeError, AttributeError):
        return []
    return [
        each for each in noted if replaced.issuperset(each.paths) and all(strips_of(armature, [name]) for name in each.strips)
    ]


def _is_of(planting: Planting, plan: PlantingPlan) -> bool:
    """Whether a planting is of a plan's legs and frames."""
    own = (float(plan.frames[0]), float(plan.frames[-1]), [leg.chain for leg in plan.legs])
    return (planting.first, planting.last, list(planting.contacts)) == own


def _contacts_then_and_now(planting: Planting, plan: PlantingPlan) -> Iterator[tuple[Codes, Codes]]:
    """States of each leg of both, at the frames of both: as they were planted, and as they are keyed."""
    frames = plan.frames[(plan.frames >= planting.first) & (plan.frames <= planting.last)]
    for chain, now in _states(plan, frames):
        if chain in planting.contacts:
            yield states_of_contacts([Contact(*contact) for contact in planting.contacts[chain]], frames), now


def _states(plan: PlantingPlan, frames: Array) -> list[tuple[str, Codes]]:
    """Names of the legs, and their contacts as they are keyed now, `(F,)`."""
    armature = object_named(plan.armature)
    return [(leg.chain, keyed_states(armature, armature.twobone.chains[leg.chain], frames)) for leg in plan.legs]


def _settings(plan: PlantingPlan) -> str:
    return text_digest(repr(sorted((name, value) for name, value in asdict(plan.settings).items() if name not in WITHOUT_A_SAY)))


def _moves_along(plan: PlantingPlan) -> bool:
    """Whether root motion is wanted."""
    return isinstance(plan.settings, PlantSettings) and plan.settings.root_motion != "KEEP"
