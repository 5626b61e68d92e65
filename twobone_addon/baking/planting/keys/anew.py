"""Feet that are planted again: where contacts or settings are others now, that begins with the motion from before."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, astuple, dataclass

import numpy as np

from ....array_types import Array, Codes
from ....contacts.states import Contact, contacts_of_states, states_of_contacts
from ....scene.blender_types import Object, Scene
from ....scene.keys.clearing import count_baked_keys
from ....scene.keys.contact_keys import keyed_states
from ....scene.keys.destinations import strips_of
from ....scene.keys.fingerprints import keys_digest, text_digest
from ....scene.keys.replaced import replaced_paths, taken_back
from ....scene.lookup import object_named
from ....scene.versions import curve_bag
from ....scene.walk.restoring import edits_kept
from ....settings.planting import PlantSettings
from ..plan.planning import PlantingPlan
from .curves import ChannelPieces
from .writing import write

WITHOUT_A_SAY = {"armature", "frame_range", "frame_start", "frame_end", "evaluation", "verify", "keep_targets"}
"""Fields of the settings that do not change what is planted, or that the plan has."""


@dataclass(frozen=True, slots=True)
class Planting:
    """What was planted, to tell whether that is to be something else now, and whether somebody has changed it."""

    first: float
    last: float
    contacts: dict[str, list[tuple[float, float, str]]]
    """Of each leg, by its chain's name."""
    settings: str
    """Digest of the settings."""
    stays: bool
    """Whether it is not taken back alone: it is in strips, came with root motion, or has replaced baked keys, never noted."""
    strips: list[str]
    """Names of the strips that were made."""
    paths: list[str]
    """Data paths of the keys that were made in the action."""
    keys: str
    """Their digest."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """With which motion planting begins."""

    earlier: Planting | None = None
    """What the same legs were planted to in the same frames, where that is still there."""
    is_anew: bool = False
    """Whether that was taken back, since it is to be something else now."""
    is_on_top: bool = False
    """Whether legs are not to stand any more where they were planted, and that could not be taken back."""


@contextmanager
def begun(scene: Scene, plan: PlantingPlan) -> Iterator[Beginning]:
    """While the block runs, the motion is the one to plant; if the block ends early, an earlier planting is there again.

    That is taken back first if it was to be another one, and nobody has changed its keys.
    """
    armature, start, end = object_named(plan.armature), float(plan.frames[0]), float(plan.frames[-1])
    around = [each for each in _plantings(armature) if each.first <= end and each.last >= start]
    earlier = next((each for each in around if _is_of(each, plan)), None)
    untouched = earlier if earlier is not None and earlier.keys == _keys(armature, earlier.paths, start, end) else None
    then_and_now = [pair for each in around for pair in _contacts_then_and_now(each, plan)]
    is_another = any(not np.array_equal(then, now) for then, now in then_and_now)
    is_another |= earlier is not None and earlier.settings != _settings(plan)
    if untouched is None or not is_another or untouched.stays or _moves_along(plan) or plan.settings.destination != "ACTION":
        yield Beginning(untouched, is_on_top=any(np.any(then & ~now) for then, now in then_and_now))
        return
    with ExitStack() as stack:
        with edits_kept(scene, [armature], {(armature, path) for path in untouched.paths}):
            stack.enter_context(taken_back(armature, untouched.paths, start, end))
        yield Beginning(is_anew=True)


def write_and_note(scene: Scene, plan: PlantingPlan, channels: Sequence[ChannelPieces], beginning: Beginning) -> None:
    """Write the keys of all channels, and note what was planted, for the next time."""
    armature, start, end = object_named(plan.armature), float(plan.frames[0]), float(plan.frames[-1])
    in_strips = plan.settings.destination == "NLA"
    paths = set() if in_strips else {channel.pieces[0].path for channel in channels}
    bag = curve_bag(armature)
    covers = count_baked_keys(bag, paths, start, end) > 0 if bag is not None else False
    stays = beginning.earlier.stays if beginning.earlier is not None else covers
    write(scene, plan, channels)
    if not channels:
        return
    others = [each for each in _plantings(armature) if not _is_of(each, plan)]
    made_on = sorted(paths.union(beginning.earlier.paths if beginning.earlier is not None else ()))
    made = Planting(
        first=start,
        last=end,
        contacts={
            chain: list(map(astuple, contacts_of_states(states, plan.frames))) for chain, states in _states(plan, plan.frames)
        },
        settings=_settings(plan),
        stays=stays or in_strips or _moves_along(plan),
        strips=sorted({channel.strip for channel in channels}) if in_strips else [],
        paths=made_on,
        keys=_keys(armature, made_on, start, end),
    )
    armature.twobone.plantings = json.dumps([asdict(each) for each in (*others, made)])


def _plantings(armature: Object) -> list[Planting]:
    """Those that are still there as a whole; none where what is noted is not legible."""
    replaced = replaced_paths(armature)
    try:
        noted = [Planting(**each) for each in json.loads(armature.twobone.plantings or "[]")]
    except (ValueError, TypeError):
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


def _keys(armature: Object, paths: Sequence[str], start: float, end: float) -> str:
    bag = curve_bag(armature)
    return keys_digest(bag, paths, start, end) if bag is not None else ""


def _moves_along(plan: PlantingPlan) -> bool:
    """Whether root motion is wanted: that is asked for by one press, and not meant to come back with the next."""
    return isinstance(plan.settings, PlantSettings) and plan.settings.root_motion != "KEEP"
