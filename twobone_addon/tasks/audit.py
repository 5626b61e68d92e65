"""Audit: measure clips against limits, without changing anything."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..core import audit as measures
from ..core.array_types import Array, Codes, Mask
from ..core.arrays import magnitude
from ..core.audit import PICTURE_START, Row, Skating, clip_picture
from ..core.contacts.feet import FeetMotion
from ..core.contacts.points import posed_point
from ..core.contacts.skating import skating_frames
from ..core.rig.bones import RestChain
from ..errors import ChainError, FileError, ObjectError, SettingError, refused_by_system
from ..files import read, read_table, refuse_unwritable, write
from ..pipeline.beginning import before_tasks, was_keyed
from ..pipeline.chosen_actions import own_span
from ..pipeline.plan.completing import names_of
from ..pipeline.plan.found_chain import chain_found
from ..pipeline.report.reports import ClipReport, ClipsReport
from ..pipeline.report.units import units_of
from ..pipeline.story import Agree, Sample, Span, Story, Task, Write
from ..records import replace
from ..said import Sentence, joined, note
from ..scene.actions import OwnAction
from ..scene.blender_types import Object, Scene
from ..scene.bones import ChainNames
from ..scene.ground import GroundSurface, changes_shape
from ..scene.lookup import file_at, find_armature, object_named, open_file, playing_action
from ..scene.rig.rest_reading import carrier_of
from ..scene.sampling.quantities import Quantity, Samples
from ..scene.visible.feet_beside import feet_beside
from ..settings.options import ACTIVE
from ..settings.tasks import TABLES, AuditSettings
from .find_contacts.plan import ContactPlan, Legs, contact_frames, contacts_source, foot_plan, keyed_contact
from .find_contacts.solve import FoundContacts, grounded_feet, solve_contacts
from .find_contacts.task import why_none_stands
from .find_limbs import HUGE, found_limbs, said_without_limbs
from .plant.keys.anew import planted_departures
from .plant.pose.standing import LARGE_REPAIR
from .plant.report.reports import Lengths


@dataclass(frozen=True, slots=True)
class ContactAudit:
    """One contact of a foot with the ground."""

    first: float
    """First frame."""
    last: float
    """Last frame."""
    slide: float
    """Distance, world units, that a standing point slides along the ground: mean of its last third from that of its first."""
    height: float
    """Height of the sole over the floor, world units, for three quarters of the time; negative below it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimbAudit:
    """One limb in one clip. Lengths are in world units, angles in radians; `None` where it is no foot or cannot be measured."""

    chain: str
    """Name of the stored chain, or the one that Find Limbs would give it."""
    kind: str
    """`LEG` or `ARM`."""
    length: float
    """Length of the stretched limb."""
    skate_share: float | None = None
    """Share of frames with a low ball of the foot at which it is faster than 0.56 legs a second, see `core.contacts.skating`."""
    slide: float | None = None
    """Median slide of the contacts."""
    floating: float | None = None
    """Median height of standing soles over the floor, if above it."""
    floating_share: float | None = None
    """Share of the frames on the ground at which the sole is higher than the limit."""
    sinking: float | None = None
    """Largest depth of the sole below the floor, ignoring the deepest hundredth of the frames."""
    sinking_share: float | None = None
    """Share of all frames at which the sole is deeper than the limit."""
    knee_pop: float = 0.0
    """99.5th percentile of the second difference of the bend over a thirtieth of a second."""
    knee_pop_worst: float = 0.0
    """Largest second difference of the bend."""
    knee_pop_frame: float = 0.0
    """Frame of `knee_pop_worst`."""
    limb_pop: float = 0.0
    """Largest second difference of the places of middle joint and tip relative to the root, limb lengths."""
    limb_pop_frame: float = 0.0
    """Frame of `limb_pop`."""
    hyperextension: float = 0.0
    """Largest bend to the side opposite to the usual one."""
    hyperextension_frame: float = 0.0
    """Frame of `hyperextension`."""
    stretched: float = 0.0
    """Share of frames at full stretch, within a thousandth of the length."""
    jitter: float | None = None
    """Standard deviation of the noise of middle joint and tip relative to the root, limb lengths; `None` under a second."""
    loop_gap: float = 0.0
    """Largest distance between a joint's places at the last and the first frame, relative to the root, limb lengths."""
    loop_speed_gap: float = 0.0
    """Largest difference between its velocities at these frames, limb lengths a second."""
    toe_pop: float | None = None
    """99.5th percentile of the second difference of the ball of the foot over a thirtieth of a second, limb lengths."""
    foot_pop: float | None = None
    """99.5th percentile of the second difference of the foot's direction, from heel to ball, radians."""
    departure: float | None = None
    """Largest distance of the foot from the motion before Plant Feet, limb lengths; `None` if the clip is not planted here."""
    departure_frame: float | None = None
    """Frame of `departure`."""
    torn: float | None = None
    """Largest distance that a foot beside the limb is farther from the limb's end than before any task keyed them, limb lengths;
    `None` where the foot is on the limb, or nothing is known of before."""
    torn_frame: float | None = None
    """Frame of `torn`."""
    contacts: list[ContactAudit]


PICTURE = "a picture that an audit has drawn"

MEASURES = tuple(entry.name for entry in fields(LimbAudit) if entry.name not in {"chain", "kind", "contacts", "length"})
"""Names of a limb's measures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport(ClipReport):
    """One clip."""

    SAYS_NOTES: ClassVar[bool] = False

    armature: str
    is_fine: bool
    reasons: list[Sentence]
    """Reasons why it is not fine, the worst first."""
    chains: list[LimbAudit]
    skating: Skating | None
    """Skating of all feet; `None` without feet."""
    slide: float | None
    """Median slide of all contacts of all feet, limb lengths."""
    floating: float | None
    """Median height of the soles over the ground in all contacts, limb lengths; negative below it. `None` where not measured."""
    ground: str
    ground_height: float | None
    """Height at which feet stand, or the given one; `None` on an object and without feet."""
    ground_velocity: list[float]
    first_is_rest: bool
    """Whether the first frame is a rest pose; it is left out of all measures."""
    frames: int
    frame_start: float
    frame_end: float
    badness: float
    """Largest ratio of a measure to its limit; over 1 is not fine."""
    worst_frame: float
    """Frame of that measure."""
    picture: str = ""
    """File of the picture; empty without one."""

    @property
    def is_as_asked(self) -> bool:
        """Whether nothing needs the user's attention."""
        return self.is_fine

    @property
    def rank(self) -> float:
        """The worst clip is listed first."""
        return self.badness

    @property
    def summary(self) -> Sentence:
        """One line for the user."""
        return joined(self.reasons, "; ") if self.reasons else Sentence("Fine")


def compared(clip: AuditReport, action: str, earlier: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Iterator[Sentence]:
    """Measures of a clip beside those of an earlier report, for each limb that both have."""
    limbs = earlier.get(action, earlier.get("", next(iter(earlier.values())) if len(earlier) == 1 else None))
    if limbs is None:
        yield note('"{action}" is not in the earlier report', action=action)
        return
    for limb in clip.chains:
        earlier_limb = limbs.get(limb.chain, {})
        for name in MEASURES:
            before, after = earlier_limb.get(name), getattr(limb, name)
            if before is not None and after is not None and not name.endswith("_frame") and (before or after):
                values = {
                    "limb": limb.chain,
                    "measure": name.replace("_", " "),
                    "before": f"{before:.4g}",
                    "after": f"{after:.4g}",
                }
                yield Sentence("{limb}: {measure:22} before {before:>9}   after {after:>9}", values)


DEEP = 4.0
"""Multiple of the sinking limit that no sole may exceed, even briefly."""
ALONE = 2.0
"""Multiple of the limit of all feet up to which one foot may slide or float: with fewer contacts, chance counts more."""
OFTEN = 0.25
"""Largest share of frames with sunk soles that is fine."""
TORN = 0.01
"""Distance of a foot from its limb, limb lengths, beyond that of the motion from before all tasks, up to which it is on it."""
SHORTEST = 1.5
"""Duration of a clip, seconds, from which on jitter can be told from motion: a cycle of a second has no frames at rest."""
OFF_ZERO = 0.12
"""Distance of the feet's height from 0, leg lengths, up to which height 0 may be the intended floor."""


@dataclass(frozen=True, slots=True)
class AuditedLimb:
    """One limb to measure."""

    chain: str
    kind: str
    rest: RestChain
    bones: tuple[Quantity, Quantity, Quantity]
    """World matrices of the upper bone, the lower bone, and the bone that carries the tip."""
    foot: Quantity | None
    """World matrix of a foot that the limb only meets; `None` where it has none."""

    def gaps(self, samples: Samples) -> Array:
        """Distances `(F,)` of such a foot from the limb's end."""
        end = posed_point(self.rest.tip, samples.every(self.bones[2]))
        return np.zeros(len(end)) if self.foot is None else magnitude(samples.every(self.foot)[:, :3, 3] - end)


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """The limbs of one armature, and the ground of its feet."""

    armature: str
    settings: AuditSettings
    limbs: list[AuditedLimb]
    contacts: ContactPlan
    """Contacts of the limbs that stand; without feet where none does."""
    units_per_metre: float
    """Scene units per metre."""
    is_cycle: bool
    earlier: Mapping[str, Mapping[str, Mapping[str, float]]]
    """Measures of the report to compare with, by action and limb; empty without one."""
    departures: Mapping[str, tuple[float, float]]
    """Largest distance of planted feet from their motion before, and its frame, by limb."""

    def quantities(self) -> list[Quantity]:
        """What is sampled."""
        return [quantity for limb in self.limbs for quantity in limb.bones] + [*self.feet_beside(), *self.contacts.quantities()]

    def feet_beside(self) -> list[Quantity]:
        """The feet that limbs only meet."""
        return [limb.foot for limb in self.limbs if limb.foot is not None]


@dataclass(frozen=True, slots=True)
class Audited:
    """Measures of one clip, and the data of its picture."""

    limbs: list[LimbAudit]
    feet: FeetMotion | None
    """Motion of the feet relative to the ground, without a first frame that is a rest pose; `None` without feet."""
    found: FoundContacts | None
    states: Codes
    """`(C, F)` contacts of the feet."""
    skating: measures.Skating | None
    standing_speed: float
    """See `core.audit.standing_speed`; 0 without feet."""
    skates: Mask
    """`(C, F)` frames at which each foot skates."""
    first: int
    """Number of leading frames left out: 1 where the first frame is a rest pose, else 0."""
    is_level: bool
    """Whether the height of the floor under the feet is known, so that floating and sinking can be measured."""
    evaluation: str | dict[str, str]


@dataclass(frozen=True, slots=True)
class _Check:
    """One measure compared with its limit."""

    ratio: float
    """The measure as a multiple of its limit."""
    frame: float
    """Frame at which it is worst, or at which to look first."""
    why: Sentence
    """Reason why the clip is not fine if the ratio is over 1."""


def audit_clip(scene: Scene, settings: AuditSettings, active: Object | None, chosen: OwnAction | None) -> Story[AuditReport]:
    """Measure whether a clip skates, floats, sinks, pops or has a seam; draw it on request."""
    plan = plan_audit(scene, settings, active, own_span(chosen))
    quantities, armature = plan.quantities(), object_named(plan.armature)
    has_before = bool(plan.feet_beside()) and was_keyed(armature)
    share = 0.5 if has_before else 1.0
    samples = yield Sample(quantities, plan.contacts.frames, settings.evaluation, share=share)
    if not all(np.abs(samples[quantity]).max() < HUGE for quantity in quantities):
        raise ObjectError(
            'Armature "{armature}" has a transform that is not a number. Clear its transform.', armature=plan.armature
        )
    before = None
    if has_before:
        legs = [quantity for limb in plan.limbs if limb.foot is not None for quantity in (limb.bones[2], limb.foot)]
        with before_tasks(scene, armature):
            before = yield Sample(legs, plan.contacts.frames, settings.evaluation, start=share, share=1.0 - share)
    solution = audited(plan, samples, before)
    report = audit_report(scene, plan, solution, chosen.name if chosen is not None else "")
    if not settings.picture:
        return report
    action = chosen.name if chosen is not None else playing_action(object_named(plan.armature)) or plan.armature
    path = picture_path(settings.picture, action, has_several=settings.actions != ACTIVE)
    path = yield Agree(path, _apart)
    report = replace(report, picture=str(path))

    def draw() -> None:
        picture = _picture(plan, solution, f"{plan.armature}: {action}", report.sentence)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise refused_by_system(path.parent, "made", error) from error
        write(path, picture.encode("utf-8", "backslashreplace"), is_clip_picture, PICTURE)

    yield Write([], lambda: report, also=draw)
    return report


class _LimbOfRig(NamedTuple):
    """A limb of the armature, stored or found."""

    kind: str
    names: ChainNames
    toe: str
    side: str


def plan_audit(scene: Scene, settings: AuditSettings, active: Object | None, span: Span | None) -> AuditPlan:
    """Plan all limbs of one armature; it may be linked or have stretched time, since nothing is written."""
    if settings.picture and not settings.picture.lower().endswith(".svg"):
        raise SettingError('Picture is "{path}". Name a file that ends in .svg.', path=settings.picture)
    armature = find_armature(settings.armature, active)
    if settings.picture and "{action}" not in settings.picture and settings.actions == ACTIVE:
        path = picture_path(settings.picture, "", has_several=False)
        if path.parent.is_dir():
            refuse_unwritable(path, is_clip_picture, PICTURE)
    frames = contact_frames(scene, settings, armature, span)
    enabled = [chain for chain in armature.twobone.chains if chain.enabled]
    limbs = {
        chain.name: _LimbOfRig(chain.limb if chain.limb != "NONE" else "LEG", names_of(chain), chain.toe, chain.side)
        for chain in enabled
    }
    # If any chain is marked as a leg, those that are not marked are no limbs.
    if any(chain.limb == "LEG" for chain in enabled):
        limbs = {name: limb for name, limb in limbs.items() if armature.twobone.chains[name].limb != "NONE"}
    found = None if limbs else found_limbs(scene, armature)
    limbs_found = found.limbs if found is not None else ()
    limbs = limbs or {limb.chain: _LimbOfRig(limb.kind, limb.names, limb.toe, limb.side) for limb in limbs_found}
    if found is not None and not limbs:
        why = said_without_limbs(armature, found)
        if why:
            raise ChainError(
                'Armature "{armature}" has no enabled chain, and no limbs were found. {why} Add its limbs to the list.',
                armature=armature.name,
                why=joined(why),
            )
        raise ChainError(
            'Armature "{armature}" has no enabled chain, and no limbs were found. Add its limbs to the list.',
            armature=armature.name,
        )
    standing = {name: limb for name, limb in limbs.items() if limb.kind == "LEG" or settings.arms}
    feet = [foot_plan(armature, name, limb.names, limb.toe) for name, limb in standing.items()]
    surface = GroundSurface(scene, settings.ground_object) if settings.ground == "OBJECT" else None
    named, toes = ({name: limb.names for name, limb in standing.items()}, {name: limb.toe for name, limb in standing.items()})
    legs = Legs(armature.name, limbs_found, named, toes, {name: limb.side for name, limb in standing.items()})
    held = surface.name if surface is not None and changes_shape(object_named(surface.name)) else ""
    keyed = [keyed_contact(armature, name, frames) for name in standing]
    rate = scene.render.fps / scene.render.fps_base
    source = contacts_source(scene, settings, legs, (float(frames[0]), float(frames[-1]))) if settings.contacts_from else None
    contacts = ContactPlan(armature.name, settings, legs, frames, rate, feet, keyed, surface, held, source)
    action = armature.animation_data.action if armature.animation_data else None
    is_cycle = settings.cycles == "ALL" or (settings.cycles == "AUTO" and action is not None and action.use_cyclic)
    plans = [_limb(armature, name, limb.kind, limb.names) for name, limb in limbs.items()]
    departures = planted_departures(armature, (float(frames[0]), float(frames[-1])))
    units_per_metre, earlier = 1.0 / units_of(scene).scale, _read_earlier(settings.compare)
    return AuditPlan(armature.name, settings, plans, contacts, units_per_metre, is_cycle, earlier, departures)


def audit_report(scene: Scene, plan: AuditPlan, solution: Audited, action: str) -> AuditReport:
    """Report of one clip."""
    checks = sorted(_checks(scene, plan, solution), key=lambda check: -check.ratio)
    found, feet = solution.found, solution.feet
    contacts = [
        (contact.slide / limb.length, contact.height / limb.length) for limb in solution.limbs for contact in limb.contacts
    ]
    slide, level = np.median(contacts, axis=0).tolist() if contacts else (None, None)
    notes = why_none_stands(found) if found else []
    height = found.ground_height if found else None
    if feet and height is not None and plan.settings.max_float * feet.leg_length < abs(height) < OFF_ZERO * feet.leg_length:
        template = "Feet stand at height {height}. Set Ground to Height where their floor is at another one."
        notes.append(note(template, height=("-" if height < 0.0 else "") + units_of(scene).text(abs(height))))
    if feet and not solution.is_level:
        notes.append(note("Feet stand on several levels, so floating and sinking are not measured. Name the ground object."))
    frames = plan.contacts.frames
    report = AuditReport(
        armature=plan.armature,
        is_fine=all(check.ratio <= 1.0 for check in checks),
        reasons=[check.why for check in checks if check.ratio > 1.0],
        chains=solution.limbs,
        skating=solution.skating,
        slide=slide,
        floating=level if solution.is_level else None,
        ground=plan.settings.ground,
        ground_height=height,
        ground_velocity=found.ground_velocity.tolist() if found else [0.0, 0.0, 0.0],
        first_is_rest=solution.first == 1,
        frames=len(frames),
        frame_start=float(frames[0]),
        frame_end=float(frames[-1]),
        badness=checks[0].ratio if checks else 0.0,
        worst_frame=checks[0].frame if checks else float(frames[0]),
        evaluation=solution.evaluation,
        notes=notes,
    )
    return replace(report, notes=[*notes, *compared(report, action, plan.earlier)]) if plan.earlier else report


AUDIT = Task("audit", TABLES["audit"], audit_clip, AuditReport)


def clips_of(report: AuditReport | ClipsReport) -> Sequence[Any]:
    """The clips of a report, the worst first."""
    return report.clips if isinstance(report, ClipsReport) else [report]


def _limb(armature: Object, chain: str, kind: str, names: ChainNames) -> AuditedLimb:
    last = carrier_of(armature, names)
    bones = tuple(Quantity("WORLD", armature.name, bone) for bone in (names.upper, names.lower, last))
    feet = feet_beside(armature, names)
    foot = Quantity("WORLD", armature.name, feet[0].name) if feet else None
    return AuditedLimb(chain, kind, chain_found(armature, names).rest, bones, foot)  # type: ignore[arg-type]


def is_clip_picture(path: Path) -> bool:
    """Whether a file is a picture that an audit has drawn."""
    try:
        return read(path).decode("utf-8", "replace").startswith(PICTURE_START)
    except FileError:
        return False


def _read_earlier(path: str) -> dict[str, dict[str, dict[str, float]]]:
    """Measures in an earlier report, by action and limb; raises `SettingError` or `FileError` where it is no audit report."""
    if not path:
        return {}
    report = read_table(file_at(path))
    if not isinstance(report, dict) or report.get("kind") != "audit":
        raise SettingError('Compare is "{path}", which is not an audit report. Choose another file.', path=path)
    try:
        clips = report.get("clips", [report])
        return {str(clip.get("action", "")): {limb["chain"]: _measures(limb) for limb in clip["chains"]} for clip in clips}
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise SettingError(
            'Compare is "{path}", an audit report that lacks its measures. Choose another file.', path=path
        ) from error


def _measures(limb: Mapping[str, Any]) -> dict[str, float]:
    return {name: float(limb[name]) for name in MEASURES if limb.get(name) is not None}


def audited(plan: AuditPlan, samples: Samples, before: Samples | None) -> Audited:
    """Measure one clip from its samples, and from those of its feet beside limbs `before` any task keyed them, where known."""
    contacts, settings, rate = plan.contacts, plan.settings, plan.contacts.rate
    feet, found, skating, speed = None, None, None, 0.0
    states, skates, first, is_level = (
        np.zeros((0, len(contacts.frames)), int),
        np.zeros((0, len(contacts.frames)), bool),
        0,
        False,
    )
    stances: dict[str, list[measures.StanceMeasures]] = {}
    shares: dict[str, float] = {}
    if contacts.feet:
        # The motion has placed soles and heels for which nothing better is known.
        found = solve_contacts(contacts, samples)
        contacts = found.plan
        feet = grounded_feet(contacts, samples).feet
        first = int(found.story.has_rest_first)
        feet, states = feet.since(first), found.to_key()[:, first:]
        balls = feet.points[:, 1].copy()
        balls[..., 2] = feet.heights[:, 1]
        low, skates = skating_frames(balls, feet.leg_length, rate)
        of_feet = zip(contacts.feet, feet.points, feet.heights, states, low, skates, found.may_stand, strict=True)
        for foot, points, heights, foot_states, is_low, foot_skates, may_stand in of_feet:
            if not may_stand:
                continue
            stances[foot.chain] = measures.stances_of(points, heights, foot_states, rate)
            shares[foot.chain] = np.count_nonzero(foot_skates) / np.count_nonzero(is_low)
        scale = np.cbrt(np.abs(np.linalg.det(samples.every(contacts.world)[0, :3, :3])))
        # Its heights are those of joints: toes are over the sole, heels on it.
        joint_over_sole = np.array([[0.0, foot.points.ball_height * scale] for foot in contacts.feet])[..., None]
        metre = measures.metre(feet.leg_length, plan.units_per_metre)
        skating = measures.kimodo_skating(feet.points, feet.heights + joint_over_sole, states, metre, rate)
        speed = measures.standing_speed(feet.points, states, metre, rate)
        is_level = settings.ground != "AUTO" or measures.on_one_level(
            [stance for of_foot in stances.values() for stance in of_foot], feet.leg_length
        )
    limbs, frames = [], contacts.frames[first:]
    for limb in plan.limbs:
        upper, lower, last = (samples.every(bone)[first:] for bone in limb.bones)
        joints = np.stack([upper[:, :3, 3], lower[:, :3, 3], posed_point(limb.rest.tip, last)], axis=1)
        length = max(float(magnitude(np.diff(joints, axis=1)).sum(axis=1).mean()), 1e-30)
        rotations = upper[:, :3, :3] / np.maximum(np.linalg.norm(upper[:, :3, :3], axis=1, keepdims=True), 1e-30)
        bends = measures.signed_bends(joints, rotations)
        rays = np.moveaxis(joints[:, 1:] - joints[:, :1], 0, 1) / length
        knee_pops, limb_pops = measures.pops(bends[:, None], rate), measures.pops(np.concatenate(list(rays), axis=-1), rate)
        gap, speed_gap = measures.loop_gaps(rays, rate)
        limb_audit = LimbAudit(
            chain=limb.chain,
            kind=limb.kind,
            length=length,
            knee_pop=float(np.quantile(knee_pops, 0.995)),
            knee_pop_worst=float(knee_pops.max()),
            knee_pop_frame=float(frames[knee_pops.argmax()]),
            limb_pop=float(limb_pops.max()),
            limb_pop_frame=float(frames[limb_pops.argmax()]),
            hyperextension=max(0.0, float(-bends.min())),
            hyperextension_frame=float(frames[bends.argmin()]),
            stretched=float(measures.is_stretched(joints).mean()),
            jitter=measures.jitter(rays, rate) if len(frames) >= SHORTEST * rate else None,
            loop_gap=gap,
            loop_speed_gap=speed_gap,
            contacts=[],
        )
        if before is not None and limb.foot is not None:
            farther = (limb.gaps(samples) - limb.gaps(before))[first:] / length
            limb_audit = replace(limb_audit, torn=max(0.0, float(farther.max())), torn_frame=float(frames[farther.argmax()]))
        if feet is not None and limb.chain in stances:
            number = [foot.chain for foot in contacts.feet].index(limb.chain)
            rows = [
                ContactAudit(float(frames[stance.first]), float(frames[stance.last]), stance.slide, stance.height)
                for stance in stances[limb.chain]
            ]
            slide = float(np.median([row.slide for row in rows])) if rows else None
            heel, ball = feet.points[number]
            directions = (ball - heel) / np.maximum(magnitude(ball - heel), 1e-30)[:, None]
            departure = plan.departures.get(limb.chain, (None, None))
            limb_audit = replace(
                limb_audit,
                skate_share=shares[limb.chain],
                slide=slide,
                toe_pop=float(np.quantile(measures.pops(ball, rate), 0.995)) / length,
                foot_pop=float(np.quantile(measures.pops(directions, rate), 0.995)),
                departure=departure[0],
                departure_frame=departure[1],
                contacts=rows,
            )
            if is_level:
                limb_audit = _with_heights(
                    limb_audit, stances[limb.chain], feet.heights[number].min(axis=0), states[number], settings
                )
        limbs.append(limb_audit)
    return Audited(limbs, feet, found, states, skating, speed, skates, first, is_level, samples.evaluation)


def _with_heights(
    limb: LimbAudit, stances: Sequence[measures.StanceMeasures], lowest: Array, states: Codes, settings: AuditSettings
) -> LimbAudit:
    """Add the measures of floating and sinking, from heights `(F,)` of the sole's lowest point over the floor."""
    level = float(np.median([stance.height for stance in stances])) if stances else 0.0
    standing = lowest[states > 0]
    return replace(
        limb,
        floating=max(0.0, level),
        floating_share=float((standing > settings.max_float * limb.length).mean()) if len(standing) else 0.0,
        sinking=max(0.0, float(-np.quantile(lowest, 0.01))),
        sinking_share=float((lowest < -settings.max_sink * limb.length).mean()),
    )


def _compared(value: float, limit: float, frame: float, template: str, **values: Any) -> _Check:
    ratio = value / limit if limit > 0.0 else (float("inf") if value > 0.0 else 0.0)
    return _Check(min(ratio, 1e9), frame, note(template, frame=frame, **values))


def _all_or_alone(together: _Check, alone: Sequence[_Check]) -> list[_Check]:
    """Checks of one measure of all feet and of each: one sentence, so one number, says what all do; else who does it alone."""
    if together.ratio <= 1.0:
        return [together, *alone]
    return [replace(together, ratio=max(check.ratio for check in (together, *alone)))]


def _standing_checks(
    plan: AuditPlan, solution: Audited, feet: Sequence[LimbAudit], text: Callable[[float], str]
) -> Iterator[_Check]:
    """Compare slide and height of standing feet with their limits, of all feet and of each; `text` says lengths."""
    settings, frames = plan.settings, plan.contacts.frames
    rows = [(row.slide / limb.length, row.height / limb.length, row, limb) for limb in feet for row in limb.contacts]
    slides, levels = [], []  # Of each foot.
    for limb in feet:
        who = {"limb": limb.chain}
        start = limb.contacts[0].first if limb.contacts else float(frames[0])
        if limb.slide is not None:
            why = "{limb} slides by {distance} a contact (from frame {frame:g})"
            far, farthest = limb.slide / limb.length, max(limb.contacts, key=lambda row: row.slide).first
            slides.append(_compared(far, ALONE * settings.max_slide, farthest, why, distance=text(limb.slide), **who))
        if limb.floating is not None:
            why, high = "{limb} stands {distance} over the ground (frame {frame:g})", limb.floating / limb.length
            levels.append(_compared(high, ALONE * settings.max_float, start, why, distance=text(limb.floating), **who))
    if rows:
        worst = max(rows, key=lambda row: row[0])
        slide = float(np.median([row[0] for row in rows]))
        why = "feet slide by {distance} a contact, farthest from frame {frame:g}"
        distance = text(slide * worst[3].length)
        slides = _all_or_alone(_compared(slide, settings.max_slide, worst[2].first, why, distance=distance), slides)
        if solution.is_level:
            level = float(np.median([row[1] for row in rows]))
            why = "feet stand {distance} over the ground (frame {frame:g})"
            first, distance = rows[0][2].first, text(abs(level) * worst[3].length)
            levels = _all_or_alone(_compared(max(0.0, level), settings.max_float, first, why, distance=distance), levels)
    yield from (*slides, *levels)


def _checks(scene: Scene, plan: AuditPlan, solution: Audited) -> Iterator[_Check]:
    """Compare every measure that has a limit with it."""
    settings, units, frames = plan.settings, units_of(scene), plan.contacts.frames
    feet = [limb for limb in solution.limbs if limb.skate_share is not None]
    text = Lengths(units, max(limb.length for limb in feet)).said if feet else units.text

    if solution.first:
        yield _compared(2.0, 1.0, float(frames[0]), "the first frame ({frame:g}) is a rest pose")
    yield from _standing_checks(plan, solution, feet, text)
    for limb in feet:
        who = {"limb": limb.chain}
        why, far = "{limb} was planted {share:.0%} of its length off the animation (frame {frame:g})", limb.departure or 0.0
        yield _compared(far, LARGE_REPAIR, limb.departure_frame or 0.0, why, share=far, **who)
        start = limb.contacts[0].first if limb.contacts else float(frames[0])
        if measures.may_skate(solution.standing_speed, stands=limb.slide is not None):
            why = "{limb} skates at {share:.0%} of its low frames"
            yield _compared(limb.skate_share or 0.0, settings.max_skate, start, why, share=limb.skate_share or 0.0, **who)
        if limb.sinking is not None and limb.sinking_share is not None:
            why, deep = "{limb} is up to {distance} in the ground, at {share:.0%} of the frames", limb.sinking / limb.length
            ratio = max(limb.sinking_share / OFTEN, deep / max(DEEP * settings.max_sink, 1e-9))
            yield _compared(ratio, 1.0, start, why, distance=text(limb.sinking), share=limb.sinking_share, **who)
    for limb in solution.limbs:
        yield from _limb_checks(plan, limb, text)


def _limb_checks(plan: AuditPlan, limb: LimbAudit, text: Callable[[float], str]) -> Iterator[_Check]:
    """Compare the measures that arms have as well with their limits; `text` says lengths."""
    settings, frames = plan.settings, plan.contacts.frames
    who = {"limb": limb.chain}
    if limb.torn is not None:
        why = "{limb}: the foot is {share:.1%} of the limb farther from it than before it was keyed (frame {frame:g})"
        yield _compared(limb.torn, TORN, limb.torn_frame or 0.0, why, share=limb.torn, **who)
    why = "{limb}: the joint pops at frame {frame:g}"
    yield _compared(limb.knee_pop_worst, settings.max_knee_pop, limb.knee_pop_frame, why, **who)
    yield _compared(limb.limb_pop, settings.max_limb_pop, limb.limb_pop_frame, "{limb} pops at frame {frame:g}", **who)
    why = "{limb} bends to the wrong side by {degrees:.0f} degrees at frame {frame:g}"
    degrees = float(np.degrees(limb.hyperextension))
    yield _compared(limb.hyperextension, settings.max_hyperextension, limb.hyperextension_frame, why, degrees=degrees, **who)
    if limb.jitter is not None:
        why = "{limb} jitters by {distance}"
        yield _compared(limb.jitter, settings.max_jitter, float(frames[0]), why, distance=text(limb.jitter * limb.length), **who)
    if plan.is_cycle:
        why = "{limb}: the cycle's ends are {distance} apart (frame {frame:g})"
        distance = text(limb.loop_gap * limb.length)
        yield _compared(limb.loop_gap, settings.max_loop_gap, float(frames[-1]), why, distance=distance, **who)


def _apart(paths: Sequence[Path]) -> list[Path]:
    """The files with numbers added where several have one name: names of actions differ in letters that files do not have."""
    apart: list[Path] = []
    for path in paths:
        number, stem, taken = 1, path.stem, {str(used).casefold() for used in apart}
        while str(path).casefold() in taken:
            number += 1
            path = path.with_name(f"{stem} {number}{path.suffix}")  # noqa: PLW2901
        apart.append(path)
    return apart


def picture_path(asked: str, action: str, *, has_several: bool) -> Path:
    """File of the picture of a clip; names of shots and actions are made names of files, so that none leaves the folder."""
    shot, name = (re.sub(r"[^\w .-]|^[. ]+", "_", text) or "_" for text in (open_file() or "untitled", action))
    path = file_at(asked.replace("{shot}", shot).replace("{action}", name))
    return path if "{action}" in asked or not has_several else path.with_name(f"{path.stem} {name}{path.suffix}")


def _picture(plan: AuditPlan, solution: Audited, title: str, verdict: str) -> str:
    frames, rows = plan.contacts.frames[solution.first :], []
    names = [foot.chain for foot in plan.contacts.feet]
    for limb in solution.limbs:
        limits = ((limb.knee_pop_worst, plan.settings.max_knee_pop), (limb.limb_pop, plan.settings.max_limb_pop))
        at = zip((limb.knee_pop_frame, limb.limb_pop_frame), limits, strict=True)
        pops = [frame for frame, (value, limit) in at if value > limit]
        if limb.chain in names and solution.feet is not None:
            number = names.index(limb.chain)
            heights = solution.feet.heights[number] / solution.feet.leg_length
            rows.append(Row(limb.chain, heights, solution.states[number] > 0, solution.skates[number], pops))
        else:
            nowhere = np.zeros(len(frames), bool)
            rows.append(Row(limb.chain, np.zeros((0, len(frames))), nowhere, nowhere, pops))
    return clip_picture(title, verdict, frames, rows)
