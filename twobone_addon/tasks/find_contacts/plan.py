"""Plan finding contacts: which feet, over which frames, on which ground. Everything that can be refused is refused here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...core.array_types import Array, Codes, Mask
from ...core.contacts.finding import Stance
from ...core.contacts.points import FootPoints
from ...core.contacts.states import Contact, ContactState, contacts_of_states, runs, states_of_contacts
from ...core.curves.frames import FRAME_DECIMALS, frame_grid, meets
from ...core.rig.bones import RestChain
from ...errors import ChainError, ObjectError, RangeError
from ...pipeline.plan.completing import names_of
from ...pipeline.plan.found_chain import chain_found
from ...pipeline.plan.stored import StoredChain
from ...pipeline.story import Span, range_asked
from ...records import replace
from ...said import Sentence, joined
from ...scene.blender_types import FCurve, Object, Scene
from ...scene.bones import ChainNames
from ...scene.graph.motion_span import motion_span, within_motion
from ...scene.ground import GroundSurface, changes_shape
from ...scene.keys.contact_keys import (
    ContactKeys,
    contact_changes,
    contact_curve,
    contact_path,
    keyed_by_hand,
    keyed_states,
    write_contacts,
)
from ...scene.keys.destinations import played_name
from ...scene.keys.guarding import refuse_stretched_time, refuse_unwritable
from ...scene.keys.reading import read_frames
from ...scene.keys.replaced import FOUND
from ...scene.lookup import find_armature, object_named
from ...scene.rig.rest_reading import carrier_of, foot_bone, read_foot_points
from ...scene.sampling.quantities import Quantity
from ...scene.versions import curve_bag
from ...scene.visible.feet_beside import with_foot_along
from ...scene.writer import assign
from ...settings.feet import ContactSettings
from ..find_limbs import LimbRecord, found_limbs, said_without_limbs

SAME_FRAME = 0.01
"""Difference of frames below which they are the same."""


def is_keyed(armature: Object, chain: str) -> bool:
    """Whether the chain of that name is stored and has contact keys in the current action."""
    stored = armature.twobone.chains.get(chain)
    return stored is not None and contact_curve(armature, stored) is not None


@dataclass(frozen=True, slots=True)
class ChainStates:
    """The contact to key on a stored chain."""

    chain: str
    states: Codes
    kept: Mask
    """Which states are kept as edited by hand."""
    found: Codes
    """The states to note as found."""
    stances: Sequence[Stance | None] = ()
    """Of each contact in `found`, whose measures are noted, too; without, those of the earlier note stay."""
    given: Mask | None = None
    """`(F,)` where another armature or a file gave the contact, so that planting must not shorten it; `None` for nowhere."""


def write_states(armature: Object, frames: Array, feet: Sequence[ChainStates], *, task: str = FOUND) -> None:
    """Key the states of stored chains at `frames` `(F,)`, and note what was found beside them."""
    chains = armature.twobone.chains
    keys = [ContactKeys(chains[foot.chain], foot.states, foot.kept) for foot in feet]
    write_contacts(armature, frames, keys, task=task)
    for foot in feet:
        _note(armature, foot, frames)


def take_contact(armature: Object, chain: StoredChain, span: Span, *, stands: bool) -> None:
    """Key a contact again as it was found in `span`; or, as if by hand, that the foot is in the air there."""
    frames = even_frames(span)
    states = states_of_contacts(noted_contacts(armature, chain), frames) if stands else np.zeros(len(frames), dtype=int)
    write_contacts(armature, frames, [ContactKeys(chain, states, np.full(len(frames), not stands))])


def noted_contacts(armature: Object, chain: StoredChain) -> list[Contact]:
    """The contacts of a stored chain as last found in the current action."""
    return [Contact(*contact[:3]) for contact in _noted(armature, chain).get("contacts", ())]


def noted_measures(armature: Object, chain: StoredChain) -> list[list[float]]:
    """Travel, move by planting, and confidence of each of the `noted_contacts`; empty where they are not known."""
    return [contact[3:] for contact in _noted(armature, chain).get("contacts", ())]


def edited_by_hand(armature: Object, chain: str, frames: Array) -> Mask:
    """Mask `(F,)` of frames whose contact was keyed by hand, or where found keys were moved, deleted or overwritten."""
    stored = armature.twobone.chains.get(chain)
    if stored is None:
        return np.zeros(len(frames), dtype=bool)
    by_hand, noted = keyed_by_hand(armature, stored, frames), _noted(armature, stored)
    if not noted:
        return by_hand
    # What no search has seen cannot have been changed since.
    known = (frames >= noted["first"]) & (frames <= noted["last"])
    before = states_of_contacts(noted_contacts(armature, stored), frames)
    return by_hand | (known & (keyed_states(armature, stored, frames) != before))


def given_from_outside(armature: Object, chain: str, frames: Array) -> Mask:
    """Mask `(F,)` of frames whose contact another armature or a file gave."""
    stored = armature.twobone.chains.get(chain)
    spans = [] if stored is None else _noted(armature, stored).get("given", [])
    return (
        np.any([(frames >= first) & (frames <= last) for first, last in spans], axis=0) if spans else np.zeros(len(frames), bool)
    )


def contact_frame(armature: Object, frame: float, *, forward: bool) -> float | None:
    """The next or previous frame at which a contact of any chain begins, changes or ends; `None` if there is none."""
    changes = [contact_changes(armature, chain) for chain in armature.twobone.chains]
    frames = np.unique(np.concatenate(changes)) if changes else np.empty(0)
    beyond = frames[frames > frame + SAME_FRAME] if forward else frames[frames < frame - SAME_FRAME][::-1]
    return float(beyond[0]) if len(beyond) else None


def _noted(armature: Object, chain: StoredChain) -> dict:
    """First and last frame, and contacts, as last found in the current action; empty without a legible note."""
    noted = _all_noted(chain)
    # Files of earlier versions have one note for all actions.
    entry = noted if "first" in noted else noted.get(played_name(armature), {})
    try:
        contacts = [
            [float(first), float(last), str(point), *map(float, measures)] for first, last, point, *measures in entry["contacts"]
        ]
        given = [[float(first), float(last)] for first, last in entry.get("given", ())]
        legible = {"first": float(entry["first"]), "last": float(entry["last"]), "contacts": contacts, "given": given}
    except (KeyError, TypeError, ValueError, OverflowError):
        return {}
    numbers = [
        legible["first"],
        legible["last"],
        *(end for span in given for end in span),
        *(number for first, last, _, *more in contacts for number in (first, last, *more)),
    ]
    points, lengths = {contact[2] for contact in contacts}, {len(contact) for contact in contacts}
    return legible if np.all(np.isfinite(numbers)) and points <= set(ContactState.__members__) and lengths <= {3, 6} else {}


def _all_noted(chain: StoredChain) -> dict:
    """The notes of all actions; empty if they are illegible, and then the next ones replace them."""
    try:
        noted = json.loads(chain.found_contacts or "{}")
    except (ValueError, RecursionError):
        return {}
    return noted if isinstance(noted, dict) else {}


def _note(armature: Object, foot: ChainStates, frames: Array) -> None:
    """Note the found contacts with their measures, to detect edits later; earlier notes outside the frames are kept."""
    chain, states, stances = armature.twobone.chains[foot.chain], foot.found, foot.stances
    first, last = float(frames[0]), float(frames[-1])
    given = [] if foot.given is None else [[float(frames[start]), float(frames[end])] for start, end in runs(foot.given)]
    noted, contacts = _noted(armature, chain), []
    for number, contact in enumerate(contacts_of_states(states, frames)):
        earlier = [old[3:] for old in noted.get("contacts", ()) if old[0] <= contact.last and old[1] >= contact.first]
        stance = stances[number] if stances else None
        measures = [stance.travel, stance.moved, stance.confidence] if stance else next(iter(earlier), [])
        contacts.append([contact.first, contact.last, contact.point, *measures])
    if noted and noted["first"] <= last + 1.0 and noted["last"] >= first - 1.0:
        before = _clipped(noted["contacts"], noted["first"], first - 1.0)
        contacts = [*before, *contacts, *_clipped(noted["contacts"], last + 1.0, noted["last"])]
        before = _clipped(noted["given"], noted["first"], first - 1.0)
        given = [*before, *given, *_clipped(noted["given"], last + 1.0, noted["last"])]
        first, last = min(first, noted["first"]), max(last, noted["last"])
    all_noted = _all_noted(chain)
    others = {} if "first" in all_noted else all_noted
    entry = {"first": first, "last": last, "contacts": contacts, **({"given": given} if given else {})}
    assign(chain, "found_contacts", json.dumps({**others, played_name(armature): entry}))


def _clipped(contacts: list, first: float, last: float) -> list:
    """Contacts cut off at `first` and `last`."""
    clipped = [[max(start, first), min(end, last), *more] for start, end, *more in contacts]
    return [contact for contact in clipped if contact[0] <= contact[1]]


SIDES = {"LEFT": 0, "RIGHT": 1}

MOST_FRAMES = 300_000
"""Most frames of one search that fit into memory."""


@dataclass(frozen=True, slots=True)
class Legs:
    """Limbs that may stand: stored chains, or found limbs, which are stored before anything is keyed."""

    armature: str
    found: tuple[LimbRecord, ...]
    """Limbs to store; none if the armature's list has legs."""
    names: Mapping[str, ChainNames]
    """Bones of each limb, by the present or future name of its chain."""
    toes: Mapping[str, str]
    """Toe bone of each limb; empty if it has none."""
    sides: Mapping[str, str]
    """Side of each limb: `LEFT`, `RIGHT`, or another word if unknown."""


@dataclass(frozen=True, slots=True)
class FootPlan:
    """A limb that may stand."""

    chain: str
    """Name of its chain."""
    rest: RestChain
    points: FootPoints
    foot: Quantity
    """World matrices of the bone that carries the points."""
    hip: Quantity
    """World matrices of the upper bone."""


@dataclass(frozen=True, slots=True)
class KeyedContact:
    """Contact of one limb, as keyed before the search."""

    is_keyed: bool
    states: Codes
    """`(F,)`, see `core.contacts.states`."""
    by_hand: Mask
    """`(F,)` mask of frames keyed or edited by hand."""
    is_given: Mask
    """`(F,)` mask of frames whose contact another armature or a file gave."""


@dataclass(frozen=True, slots=True)
class ContactPlan:
    """Feet of one armature, with their frames and ground."""

    armature: str
    settings: ContactSettings
    legs: Legs
    frames: Array
    """`(F,)`"""
    rate: float
    """Number of these frames per second."""
    feet: list[FootPlan]
    keyed: list[KeyedContact]
    """Keyed contact of each foot."""
    surface: GroundSurface | None
    held_ground: str
    """Name of a ground object that changes shape over time, of which the shape at the current frame is used; otherwise empty."""
    source: ContactPlan | None = None
    """Feet of another armature, in the same order, whose contacts are taken over."""
    labels: Codes | None = None
    """`(C, F)` contact states from a file, or keyed ones to export."""
    untold: Sentence | None = None
    """Note on frames of the action that the file does not cover."""

    @property
    def world(self) -> Quantity:
        """World matrices of the armature."""
        return Quantity("WORLD", self.armature)

    @property
    def ground(self) -> Quantity | None:
        """World matrices of the ground object; `None` without one."""
        return Quantity("WORLD", self.surface.name) if self.surface else None

    def quantities(self) -> list[Quantity]:
        """Quantities to sample."""
        wanted_quantities = [self.world, *(quantity for foot in self.feet for quantity in (foot.foot, foot.hip))]
        wanted_quantities += self.source.quantities() if self.source else []
        return [*wanted_quantities, self.ground] if self.ground else wanted_quantities


def plan_contacts(
    scene: Scene, settings: ContactSettings, active: Object | None, span: Span | None, *, reads_only: bool = False
) -> ContactPlan:
    """Find the feet and their ground, over `span` if one is given; raises a `TwoBoneError`. Changes nothing.

    reads_only : whether nothing will be keyed, so that the armature need not be writable
    """
    armature = find_armature(settings.armature, active)
    frames = contact_frames(scene, settings, armature, span)
    refuse_stretched_time(scene)
    if not reads_only:
        refuse_unwritable(armature, [], "ACTION")
    surface = GroundSurface(scene, settings.ground_object) if settings.ground == "OBJECT" else None
    legs = legs_of(scene, armature, arms=settings.arms)
    stored = [armature.twobone.chains[name] for name in legs.names if name in armature.twobone.chains]
    if not reads_only:
        refuse_unwritable(armature, [contact_path(chain) for chain in stored], "ACTION")
    # The frames of a loop that ends between whole ones are not quite a frame apart.
    step = (frames[-1] - frames[0]) / max(len(frames) - 1, 1) if is_loop(armature, (frames[0], frames[-1])) else 1.0
    rate = scene.render.fps / scene.render.fps_base / step
    feet = [foot_plan(armature, chain, names, legs.toes[chain]) for chain, names in legs.names.items()]
    held = surface.name if surface is not None and changes_shape(object_named(surface.name)) else ""
    keyed = [keyed_contact(armature, chain, frames) for chain in legs.names]
    source = contacts_source(scene, settings, legs, (float(frames[0]), float(frames[-1]))) if settings.contacts_from else None
    return ContactPlan(armature.name, settings, legs, frames, rate, feet, keyed, surface, held, source)


def contacts_source(scene: Scene, settings: ContactSettings, legs: Legs, span: Span) -> ContactPlan:
    """Plan for the source of the contacts of `legs`, its feet in their order; raises `TwoBoneError` if they do not correspond."""
    if settings.contacts_from == legs.armature:
        raise ObjectError(
            'Armature "{armature}" cannot be its own source of contacts. Choose another one.', armature=legs.armature
        )
    # The other armature stands on ground of its own.
    source_settings = replace(
        settings, armature=settings.contacts_from, contacts_from="", ground="AUTO", ground_moves="AUTO", sole_height=0.0
    )
    plan = plan_contacts(scene, source_settings, None, span, reads_only=True)

    def side(armature_legs: Legs, chain: str) -> int:
        return SIDES.get(armature_legs.sides[chain], 2)

    ours, theirs = (sorted(every.sides, key=partial(side, every)) for every in (legs, plan.legs))
    if [side(legs, chain) for chain in ours] != [side(plan.legs, chain) for chain in theirs]:
        raise ChainError(
            'The legs of "{source}" do not match those of "{armature}" ({found} and {wanted}). Set the Side of their chains.',
            source=plan.armature,
            armature=legs.armature,
            found=", ".join(plan.legs.sides[chain] for chain in theirs),
            wanted=", ".join(legs.sides[chain] for chain in ours),
        )
    partner = dict(zip(ours, theirs, strict=True))
    feet = {foot.chain: foot for foot in plan.feet}
    return replace(plan, feet=[feet[partner[chain]] for chain in legs.names])


def keyed_contact(armature: Object, chain: str, frames: Array) -> KeyedContact:
    """The present keyed contact of the chain of that name; none if there is no such chain yet."""
    stored = armature.twobone.chains.get(chain)
    states = np.zeros(len(frames), dtype=int) if stored is None else keyed_states(armature, stored, frames)
    by_hand, given = edited_by_hand(armature, chain, frames), given_from_outside(armature, chain, frames)
    return KeyedContact(is_keyed(armature, chain), states, by_hand, given)


def legs_of(scene: Scene, armature: Object, *, arms: bool = False) -> Legs:
    """The enabled chains that are legs; if none is marked as one, all enabled chains that are not arms.

    If no enabled chain may be a leg, the limbs of the armature are searched for. Raises `ChainError` if there are no legs.
    """
    enabled = [chain for chain in armature.twobone.chains if chain.enabled]
    legs = [chain for chain in enabled if chain.limb == "LEG"] or [chain for chain in enabled if chain.limb != "ARM"]
    if legs:
        legs += [chain for chain in enabled if arms and chain.limb == "ARM"]
        toes, sides = {chain.name: chain.toe for chain in legs}, {chain.name: chain.side for chain in legs}
        names = {chain.name: with_foot_along(armature, names_of(chain)) for chain in legs}
        return Legs(armature.name, (), names, toes, sides)
    found = found_limbs(scene, armature)
    limbs = found.limbs
    standing = [limb for limb in limbs if _may_stand(armature, limb, "LEG")]
    if not standing:
        why = said_without_limbs(armature, found) if all(limb.kind != "LEG" for limb in limbs) else []
        if why:
            raise ChainError(
                'Armature "{armature}" has no enabled chain that is a leg, and no legs were found. {why} '
                "Add its legs to the list.",
                armature=armature.name,
                why=joined(why),
            )
        raise ChainError(
            'Armature "{armature}" has no enabled chain that is a leg, and no legs were found. Add its legs to the list.',
            armature=armature.name,
        )
    standing += [limb for limb in limbs if arms and _may_stand(armature, limb, "ARM")]
    toes, sides = {limb.chain: limb.toe for limb in standing}, {limb.chain: limb.side for limb in standing}
    names = {limb.chain: with_foot_along(armature, limb.names) for limb in standing}
    return Legs(armature.name, limbs, names, toes, sides)


def _may_stand(armature: Object, limb: LimbRecord, kind: str) -> bool:
    """Whether the limb's chain is, or will be, enabled and of that kind."""
    if limb.is_new:
        return limb.kind == kind
    chain = armature.twobone.chains[limb.chain]
    return chain.enabled and (limb.kind if chain.limb == "NONE" else chain.limb) == kind


def contact_range(scene: Scene, settings: ContactSettings, armature: Object, *, loops: bool = False) -> Span:
    """First and last frame of the settings; the scene's range is narrowed to the keys of all that moves the armature.

    Before the first key and after the last one it holds its pose. If anything but plain keys may move it or its bones, the
    range of the scene is kept. Keys of contacts count, too.

    loops : whether a cycle whose keys are not on whole frames is used as a whole
    """
    bounds = range_asked(scene, settings)
    if settings.frame_range != "SCENE":
        return bounds
    moving = [(armature.name, ""), *((armature.name, bone.name) for bone in armature.pose.bones)]
    span = motion_span([*moving, *([(settings.ground_object, "")] if settings.ground == "OBJECT" else [])])
    if loops and span is not None and bounds[0] < span[0] + 1.0 and span[1] - 1.0 < bounds[1] and is_loop(armature, span):
        return span
    return within_motion(span, bounds)


def is_loop(armature: Object, span: Span) -> bool:
    """Whether the armature's action has keys over just `span`, ends as it begins, and has an end that is no whole frame."""
    bag = curve_bag(armature)
    if bag is None or span[1] - span[0] < 1.0 or all(abs(end - round(end)) <= SAME_FRAME for end in span):
        return False
    rotations: dict[str, list[FCurve]] = {}
    keys = [(frames[0], frames[-1]) for frames in map(read_frames, bag.fcurves) if len(frames)]
    if np.abs([min(first for first, _ in keys) - span[0], max(last for _, last in keys) - span[1]]).max() > SAME_FRAME:
        return False
    for curve in bag.fcurves:
        if curve.data_path.endswith((".rotation_quaternion", ".rotation_euler")):
            rotations.setdefault(curve.data_path, []).append(curve)
    for curves in rotations.values():
        start, end = (np.array([curve.evaluate(frame) for curve in curves]) for frame in span)
        # A quaternion and its negative are one rotation.
        if not meets(np.stack([start, end])) and not meets(np.stack([-start, end])):
            return False
    return bool(rotations)


def contact_frames(scene: Scene, settings: ContactSettings, armature: Object, span: Span | None) -> Array:
    """Frames `(F,)` to search: those of `span`, or else of the settings; raises `RangeError` if there are too many."""
    start, end = contact_range(scene, settings, armature) if span is None else span
    if end - start >= MOST_FRAMES:
        raise RangeError(
            "The range from {start:g} to {end:g} has more than {most:,} frames. Choose a shorter range.",
            start=start,
            end=end,
            most=MOST_FRAMES,
        )
    return even_frames((start, end)) if is_loop(armature, (start, end)) else frame_grid(start, end)


def even_frames(span: Span) -> Array:
    """Frames `(F,)` from first to last, evenly spaced, with a step as near to one frame as possible."""
    return np.round(np.linspace(*span, round(span[1] - span[0]) + 1), FRAME_DECIMALS)


def foot_plan(armature: Object, chain: str, names: ChainNames, toe: str) -> FootPlan:
    """The foot of a limb; raises `ChainError` if its bones are missing."""
    rest = chain_found(armature, names).rest
    foot = foot_bone(armature, names)
    return FootPlan(
        chain=chain,
        rest=rest,
        points=read_foot_points(armature, names, rest, toe),
        foot=Quantity("WORLD", armature.name, foot.name if foot else carrier_of(armature, names)),
        hip=Quantity("WORLD", armature.name, names.upper),
    )
