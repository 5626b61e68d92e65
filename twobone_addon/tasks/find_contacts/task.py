"""Find Contacts: find when the feet of a character stand, and key it on its chains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.array_types import Array, Codes
from ...core.arrays import magnitude
from ...core.contacts.points import FootPoints, posed_point
from ...core.contacts.states import Contact, contacts_of_states, on_ball, on_heel, runs
from ...pipeline.chosen_actions import own_span
from ...pipeline.gate import refuse_unseen
from ...pipeline.motion.sampling import sample
from ...pipeline.plan.completing import names_of
from ...pipeline.proof import VisibleEnd, doubtful_poses, visible_end
from ...pipeline.report.reports import ClipReport
from ...pipeline.report.units import Units, units_of
from ...pipeline.story import Make, Sample, Story, Task, Write
from ...said import Sentence, joined, note
from ...scene.actions import OwnAction
from ...scene.blender_types import Object, Property, Scene
from ...scene.keys.contact_keys import contact_curve, contact_path, keyed_states
from ...scene.lookup import object_named
from ...scene.sampling.quantities import Samples
from ...scene.visible.skin import Skins
from ...settings.feet import ContactSettings
from ...settings.tasks import TABLES
from ..find_limbs import stored_limbs
from .plan import ChainStates, ContactPlan, FootPlan, foot_plan, noted_contacts, noted_measures, plan_contacts, write_states
from .solve import FoundContacts, solve_contacts

MOST_FRAMES = 20_000
"""Longest range that is shown, in frames."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """One stance of a foot."""

    first: float
    last: float
    """First and last frame."""
    ends: Array
    """`(2, 3)` mean positions of heel and ball while they stand; if only one of them does, twice the same."""


@dataclass(frozen=True, slots=True)
class FootPicture:
    """Paths and contacts of one foot over the scene's range."""

    frames: Array
    """`(F,)`"""
    paths: Array
    """`(2, F, 3)` paths of heel and ball."""
    states: Codes
    """`(F,)` keyed contact states, see `core.contacts.states`."""
    prints: tuple[Footprint, ...]

    @property
    def length(self) -> float:
        """Length of the foot from heel to ball."""
        return float(np.median(magnitude(self.paths[1] - self.paths[0])))


def foot_pictures(scene: Scene, armature: Object) -> list[FootPicture]:
    """Feet of all enabled chains with contact keys; none if the range is too long. Raises `TwoBoneError` for a broken chain."""
    chains = [chain for chain in armature.twobone.chains if chain.enabled and contact_curve(armature, chain) is not None]
    frames = np.arange(scene.frame_start, scene.frame_end + 1, dtype=float)
    if not chains or not 0 < len(frames) <= MOST_FRAMES:
        return []
    feet = [foot_plan(armature, chain.name, names_of(chain), chain.toe) for chain in chains]
    samples = sample(scene, [foot.foot for foot in feet], frames)
    states = [keyed_states(armature, chain, frames) for chain in chains]
    matrices = [samples.every(foot.foot) for foot in feet]
    return [
        _picture(foot, matrices_of_foot, code, frames)
        for foot, matrices_of_foot, code in zip(feet, matrices, states, strict=True)
    ]


def _picture(foot: FootPlan, matrices: Array, states: Codes, frames: Array) -> FootPicture:
    paths = np.array([posed_point(point, matrices) for point in (foot.points.heel, foot.points.ball)])
    prints = tuple(
        _print(paths[:, first : last + 1], states[first : last + 1], frames[[first, last]]) for first, last in runs(states > 0)
    )
    return FootPicture(frames, paths, states, prints)


def _print(paths: Array, states: Codes, ends: Array) -> Footprint:
    stands = [on_heel(states), on_ball(states)]
    places = [path[on].mean(axis=0) for path, on in zip(paths, stands, strict=True) if on.any()]
    return Footprint(float(ends[0]), float(ends[1]), np.array([places[0], places[-1]]))


@dataclass(frozen=True, slots=True)
class ChainContacts:
    """Contacts of one limb."""

    chain: str
    """Name of the stored chain."""
    contacts: list[Contact]
    """`[first, last, point]` of each, the point `HEEL`, `BALL` or `BOTH`."""
    travel: list[float | None]
    """Distance that the foot travels over the ground in each contact, world units; `None` where you keyed it."""
    confidence: list[float | None]
    """How well the motion supports each contact, 0 to 1; `None` where you keyed it."""
    moved: list[float | None]
    """Distance by which planting would move the foot in each contact, at most, world units; `None` where you keyed it."""
    kept_frames: int
    """Frames kept as edited by hand."""
    is_seen: bool
    """Whether the visible limb follows the chain's bones; false, for example, while the rig is on IK."""
    sole: str
    """Source of the sole's position: `MESH`, `BONE`, `MOTION`, `SET` or `REST`."""

    @property
    def is_on_target(self) -> bool:
        """Whether nothing needs a person's attention."""
        return self.is_seen


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactReport(ClipReport):
    """Contacts of one armature and the ground they are on."""

    SAYS_NOTES: ClassVar[bool] = False
    UNTOLD: ClassVar[frozenset[str]] = frozenset({"units"})

    armature: str
    chains: list[ChainContacts]
    ground: str
    """`AUTO`, `HEIGHT` or `OBJECT`."""
    ground_height: float | None
    """Height of flat ground, world units; `None` for an object."""
    ground_velocity: list[float]
    """World units per second, along the world's axes."""
    first_is_rest: bool
    """Whether the first frame is a rest pose and was left out."""
    held_ground: str
    """Name of a ground object that deforms over time, if its shape at the current frame was used; otherwise empty."""
    frames: int
    frame_start: float
    frame_end: float
    units: Units
    """Units of the scene; not in the JSON, which uses world units."""

    @property
    def is_as_asked(self) -> bool:
        """Whether nothing needs a person's attention."""
        return all(chain.is_on_target for chain in self.chains)

    def lines(self) -> list[str]:
        """What the command line prints, headed by the armature."""
        first, *others = ClipReport.lines(self)
        return [f"{self.armature}: {first}", *others]

    def details(self) -> list[str]:
        """What the command line prints besides with `--verbose`: the contacts of each chain."""
        said = [
            ", ".join(f"{contact.first:g}-{contact.last:g} {contact.point}" for contact in chain.contacts)
            for chain in self.chains
        ]
        return [f"  {chain.chain}: {contacts}" for chain, contacts in zip(self.chains, said, strict=True)]

    @property
    def summary(self) -> Sentence:
        """How many contacts there are, and what needs a person's attention."""
        standing = [chain for chain in self.chains if chain.contacts]
        unseen = [not_seen(chain.chain) for chain in self.chains if not chain.is_seen][:1]
        if not standing:
            return joined([Sentence("No contacts found: no foot stands on the ground"), *unseen], "; ")
        count = sum(len(steps((contact.first, contact.last) for contact in chain.contacts)) for chain in standing)
        parts = [_found(count, len(standing))]
        parts += unseen
        speed = sum(along * along for along in self.ground_velocity) ** 0.5
        if speed:
            parts.append(Sentence("the ground moves at {speed} per second", {"speed": self.units.text(speed)}))
        if self.first_is_rest:
            parts.append(Sentence("the first frame is a rest pose and was left out"))
        if self.held_ground:
            parts.append(taken_as_it_is(self.held_ground))
        kept = sum(chain.kept_frames for chain in self.chains)
        if kept:
            parts.append(Sentence("{count} frames kept as edited", {"count": kept}))
        return joined(parts, "; ")


def assumed_soles(points: Mapping[str, FootPoints]) -> list[Sentence]:
    """A note on soles whose position is assumed, from the contact points of the feet by chain or bone; none if all are known."""
    assumed = [chain for chain, foot_points in points.items() if foot_points.source == "REST" and foot_points.up.any()]
    if not assumed:
        return []
    return [
        note(
            "The soles of {chains} are assumed to be right below the ankles. Set Sole Height if they are not.",
            chains=", ".join(assumed),
        )
    ]


def why_none_stands(found: FoundContacts) -> list[Sentence]:
    """Notes on feet that turn like wheels, and on a body that is not over its feet or feet under which a ground mesh ends."""
    off, plan = found.off_ground, found.plan
    wheels = [foot.chain or foot.foot.bone for foot, is_wheel in zip(plan.feet, found.wheels, strict=True) if is_wheel]
    notes = []
    if wheels:
        template = "Feet that turn all the way round, like wheels, are not taken to stand: {chains}."
        notes.append(note(template, chains=", ".join(wheels)))
    if found.is_lying:
        notes.append(
            note(
                'The body of armature "{armature}" is not over its feet for most of the time, so no foot was taken to stand. '
                "Was it imported with the wrong up axis? Import it again with Z up, or key its contacts by hand.",
                armature=plan.armature,
            )
        )
    elif plan.surface is not None and off.any():
        notes.append(
            note(
                'Ground "{ground}" ends under {chains}, first at frame {frame:g}. Make it larger, or set a height instead.',
                ground=plan.surface.name,
                chains=", ".join(foot.chain for foot, is_off in zip(plan.feet, off, strict=True) if is_off.any()),
                frame=float(plan.frames[off.any(axis=0).argmax()]),
            )
        )
    return notes


def not_seen(chain: str) -> Sentence:
    """Sentence for a chain that its visible limb does not follow."""
    return Sentence("{chain}: the visible limb does not follow. Use Switch to FK", {"chain": chain})


def taken_as_it_is(ground: str) -> Sentence:
    """Sentence for a ground that deforms, while only its shape at one frame was used."""
    return Sentence("{ground} deforms; its shape at this frame was used", {"ground": ground})


BEGINS_ANEW = 1.5
"""Frames from the last of a contact to the first of the next where another stance begins: in a cycle whose ends lie between
frames, steps are a little longer or shorter than one."""


def steps(contacts: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """First and last frame of each stance, from those of its consecutive contacts, in order."""
    joined_contacts: list[tuple[float, float]] = []
    for first, last in contacts:
        if joined_contacts and first - joined_contacts[-1][1] < BEGINS_ANEW:
            joined_contacts[-1] = (joined_contacts[-1][0], last)
        else:
            joined_contacts.append((first, last))
    return joined_contacts


@dataclass(frozen=True, slots=True)
class FoundStance:
    """One time of a foot on the ground as it was found, for a person to look at before planting."""

    chain: str
    first: float
    last: float
    stands: bool
    """Whether its contacts are still keyed, so that Plant Feet plants it."""
    slide: float | None
    """Distance that the foot travels over the ground, world units; `None` where the contact was imported."""
    moved: float | None
    """Distance by which planting would move the foot, at most."""
    confidence: float | None


def found_stances(armature: Object) -> list[FoundStance]:
    """All stances last found in the current action of an armature; those that planting would move farthest come first."""
    stances = []
    for chain in armature.twobone.chains:
        if contact_curve(armature, chain) is None:
            continue
        contacts, measures = noted_contacts(armature, chain), noted_measures(armature, chain)
        for first, last in steps((contact.first, contact.last) for contact in contacts):
            known = [
                measure for contact, measure in zip(contacts, measures, strict=True) if measure and first <= contact.first <= last
            ]
            slide, moved, confidence = (column for column in zip(*known, strict=True)) if known else ([], [], [])
            # Three of its frames tell whether any of it is still keyed.
            stands = bool(keyed_states(armature, chain, np.array([first, (first + last) // 2, last])).any())
            worst = max(slide, default=None), max(moved, default=None), min(confidence, default=None)
            stances.append(FoundStance(chain.name, first, last, stands, *worst))
    return sorted(stances, key=lambda stance: -(stance.moved or 0.0))


def _found(count: int, chains: int) -> Sentence:
    if count == 1:
        return Sentence("1 contact on one chain")
    if chains == 1:
        return Sentence("{count} contacts on one chain", {"count": count})
    return Sentence("{count} contacts on {chains} chains", {"count": count, "chains": chains})


def find_contacts(
    scene: Scene, settings: ContactSettings, active: Object | None, chosen: OwnAction | None
) -> Story[ContactReport]:
    """Find when the feet of a character stand, and key it on its chains."""
    plan = plan_contacts(scene, settings, active, own_span(chosen))
    within = float(plan.frames[0]), float(plan.frames[-1])
    refuse_unseen(scene, object_named(plan.armature), plan.legs.names.values(), within)
    return (yield from key_contacts(scene, plan))


def key_contacts(scene: Scene, plan: ContactPlan) -> Story[ContactReport]:
    """Sample the feet, find when they stand or take it from the plan, and key it, but keep edits by hand on request."""
    ends = visible_feet(plan)
    samples = yield Sample([*plan.quantities(), *doubtful_poses(ends.values())], plan.frames, plan.settings.evaluation)
    found, armature = solve_contacts(plan, samples), object_named(plan.armature)
    report = contact_report(scene, plan, found, samples=samples, ends=ends)
    yield Make(stored_limbs(armature, plan.legs.found))

    given = np.full(len(plan.frames), plan.source is not None or plan.labels is not None)

    def write() -> None:
        feet = [
            ChainStates(foot.chain, states, kept, found.states[number], found.stances(number, found.states[number]), given)
            for number, (foot, states, kept) in enumerate(zip(plan.feet, found.to_key(), found.kept(), strict=True))
        ]
        write_states(armature, plan.frames, feet)

    paths = [Property(armature, contact_path(armature.twobone.chains[foot.chain])) for foot in plan.feet]
    yield Write([], lambda: report, lambda: paths, write)
    return report


def visible_feet(plan: ContactPlan) -> dict[str, VisibleEnd]:
    """The visible end of each limb of which some bone deforms, by the name of its chain."""
    armature, skins = object_named(plan.armature), Skins()
    ends = {foot.chain: visible_end(armature, plan.legs.names[foot.chain], foot.rest, skins) for foot in plan.feet}
    return {chain: end for chain, end in ends.items() if end is not None}


def contact_report(
    scene: Scene, plan: ContactPlan, found: FoundContacts, *, samples: Samples, ends: Mapping[str, VisibleEnd]
) -> ContactReport:
    """Report on the contacts of one action."""
    unseen = {chain for chain, end in ends.items() if end.is_doubtful and end.apart(samples) is not None}
    chains = []
    for number, (foot, states, kept) in enumerate(zip(plan.feet, found.to_key(), found.kept(), strict=True)):
        contacts, stances = contacts_of_states(states, plan.frames), found.stances(number, states)
        chains.append(
            ChainContacts(
                chain=foot.chain,
                contacts=list(contacts),
                travel=[stance.travel if stance else None for stance in stances],
                confidence=[stance.confidence if stance else None for stance in stances],
                moved=[stance.moved if stance else None for stance in stances],
                kept_frames=int(np.count_nonzero(kept)),
                is_seen=foot.chain not in unseen,
                sole=found.plan.feet[number].points.source,
            )
        )
    return ContactReport(
        armature=plan.armature,
        chains=chains,
        ground=plan.settings.ground,
        ground_height=found.ground_height,
        ground_velocity=found.ground_velocity.tolist(),
        frames=len(plan.frames),
        frame_start=float(plan.frames[0]),
        frame_end=float(plan.frames[-1]),
        first_is_rest=found.story.has_rest_first,
        held_ground=plan.held_ground,
        evaluation=found.evaluation,
        units=units_of(scene),
        notes=[
            *([plan.untold] if plan.untold else []),
            *why_none_stands(found),
            *assumed_soles({foot.chain or foot.foot.bone: foot.points for foot in found.plan.feet}),
        ],
    )


FIND_CONTACTS = Task("find_contacts", TABLES["find_contacts"], find_contacts, ContactReport)
