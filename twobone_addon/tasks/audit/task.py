"""Audit: measure clips against limits, without changing anything."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...core.array_types import Array, Codes, Mask
from ...core.arrays import magnitude
from ...core.audit import measures
from ...core.audit.picture import Row, clip_picture
from ...core.contacts.feet import FeetMotion
from ...core.contacts.points import posed_point
from ...core.contacts.skating import skating_frames
from ...core.rig.bones import RestChain
from ...errors import ChainError, ObjectError, SettingError
from ...pipeline.clips import ClipsReport, report_of_clips
from ...pipeline.plan.completing import names_of
from ...pipeline.plan.found_chain import chain_found
from ...pipeline.report.units import units_of
from ...pipeline.task import Done, Look, Outcome, Span, Task
from ...said import Sentence, note
from ...scene.blender_types import Object, Scene
from ...scene.bones import ChainNames
from ...scene.ground import GroundSurface, changes_shape
from ...scene.lookup import file_at, find_armature, object_named, open_file
from ...scene.rig.rest_reading import carrier_of
from ...scene.sampling.quantities import Quantity, Samples
from ...scene.sampling.stepping import Steps
from ...settings.auditing import AuditSettings
from ...settings.options import ACTIVE
from ...settings.tasks import TABLES
from ..find_contacts.plan import ContactPlan, Legs, contact_frames, contacts_source, foot_plan, keyed_contact
from ..find_contacts.solve import FoundContacts, grounded_feet, solve_contacts
from ..find_limbs.finding import HUGE, found_limbs
from .audit_report import AuditReport, ContactAudit, LimbAudit, compared

DEEP = 4.0
"""Multiple of the sinking limit that no sole may exceed, even briefly."""
ALONE = 2.0
"""Multiple of the limit of all feet up to which one foot may slide or float: with fewer contacts, chance counts more."""
CONTACT_FAST = 0.3
"""Mean speed of feet on the ground, metres a second, above which they skate; recorded walks have up to 0.16, skating ones 0.5."""
OFTEN = 0.25
"""Largest share of frames with sunk soles that is fine."""
SHORTEST = 1.0
"""Duration of a clip, seconds, from which on jitter can be distinguished from motion."""
OFF_ZERO = 0.12
"""Distance of the feet's height from 0, leg lengths, up to which height 0 may be the intended floor."""


@dataclass(frozen=True, slots=True)
class LimbPlan:
    """One limb to measure."""

    chain: str
    kind: str
    rest: RestChain
    bones: tuple[Quantity, Quantity, Quantity]
    """World matrices of the upper bone, the lower bone, and the bone that carries the tip."""


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """The limbs of one armature, and the ground of its feet."""

    armature: str
    settings: AuditSettings
    limbs: list[LimbPlan]
    contacts: ContactPlan
    """Contacts of the limbs that stand; without feet where none does."""
    units_per_metre: float
    """Scene units per metre."""
    is_cycle: bool
    earlier: Mapping[str, Any]
    """Earlier report to compare with (parsed JSON); empty without one."""


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


class Audit(Task[AuditSettings, AuditPlan, Audited, None]):
    """Measure whether clips skate, float, sink, pop or have a seam."""

    NAME = "audit"
    TABLE = TABLES["audit"]
    READS_ONLY = True

    def plan(self, scene: Scene, settings: AuditSettings, active: Object | None, span: Span | None) -> AuditPlan:
        """Plan all limbs of one armature; it may be linked or have stretched time, since nothing is written."""
        if settings.picture and not settings.picture.lower().endswith(".svg"):
            raise SettingError('Picture is "{path}". Name a file that ends in .svg.', path=settings.picture)
        armature = find_armature(settings.armature, active)
        frames = contact_frames(scene, settings, armature, span)
        enabled = [chain for chain in armature.twobone.chains if chain.enabled]
        limbs = {
            chain.name: (chain.limb if chain.limb != "NONE" else "LEG", names_of(chain), chain.toe, chain.side)
            for chain in enabled
        }
        if any(chain.limb == "LEG" for chain in enabled):
            limbs = {name: limb for name, limb in limbs.items() if armature.twobone.chains[name].limb != "NONE"}
        found = () if limbs else tuple(found_limbs(scene, armature))
        limbs = limbs or {limb.chain: (limb.kind, limb.names, limb.toe, limb.side) for limb in found}
        if not limbs:
            raise ChainError(
                'Armature "{armature}" has no enabled chain, and no limbs were found. Add its limbs to the list.',
                armature=armature.name,
            )
        standing = {name: limb for name, limb in limbs.items() if limb[0] == "LEG" or settings.arms}
        feet = [foot_plan(armature, name, names, toe) for name, (_, names, toe, _) in standing.items()]
        surface = GroundSurface(scene, settings.ground_object) if settings.ground == "OBJECT" else None
        named = {name: names for name, (_, names, _, _) in standing.items()}
        toes = {name: toe for name, (_, _, toe, _) in standing.items()}
        legs = Legs(armature.name, found, named, toes, {name: side for name, (_, _, _, side) in standing.items()})
        held = surface.name if surface is not None and changes_shape(object_named(surface.name)) else ""
        keyed = [keyed_contact(armature, name, frames) for name in standing]
        rate = scene.render.fps / scene.render.fps_base
        source = contacts_source(scene, settings, legs, (float(frames[0]), float(frames[-1]))) if settings.contacts_from else None
        contacts = ContactPlan(armature.name, settings, legs, frames, rate, feet, keyed, surface, held, source)
        action = armature.animation_data.action if armature.animation_data else None
        is_cycle = settings.cycles == "ALL" or (settings.cycles == "AUTO" and action is not None and action.use_cyclic)
        plans = [_limb(armature, name, kind, names) for name, (kind, names, _, _) in limbs.items()]
        return AuditPlan(
            armature.name, settings, plans, contacts, 1.0 / units_of(scene).scale, is_cycle, _read_earlier(settings.compare)
        )

    def solve(self, plan: AuditPlan, begun: Any, look: Look) -> Steps[Audited]:
        """Sample and measure the clip; raises `ObjectError` where a transform is not finite."""
        quantities = [quantity for limb in plan.limbs for quantity in limb.bones] + plan.contacts.quantities()
        samples = yield from look(quantities, plan.contacts.frames, evaluation=plan.settings.evaluation)
        if not all(np.abs(samples[quantity]).max() < HUGE for quantity in quantities):
            raise ObjectError(
                'Armature "{armature}" has a transform that is not a number. Clear its transform.', armature=plan.armature
            )
        return audited(plan, samples)

    def judge(self, scene: Scene, done: Done[AuditPlan, Audited, None]) -> AuditReport:
        """Report of one clip; also writes its picture where one is requested."""
        plan, solution = done.plan, done.solution
        checks = sorted(_checks(scene, plan, solution), key=lambda check: -check.ratio)
        found, feet = solution.found, solution.feet
        slides = [each.slide / limb.length for limb in solution.limbs for each in limb.contacts]
        notes = []
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
            slide=float(np.median(slides)) if slides else None,
            ground=plan.settings.ground,
            ground_height=height,
            ground_velocity=found.ground_velocity.tolist() if found else [0.0, 0.0, 0.0],
            first_is_rest=solution.first == 1,
            frames=len(frames),
            frame_start=float(frames[0]),
            frame_end=float(frames[-1]),
            badness=checks[0].ratio if checks else 0.0,
            worst_frame=checks[0].frame if checks else float(frames[0]),
            seconds={},
            evaluation=solution.evaluation,
            notes=notes,
        )
        if plan.earlier:
            report = replace(report, notes=[*notes, *compared(report, done.action, plan.earlier)])
        if not plan.settings.picture:
            return report
        return replace(report, picture=_draw(plan, solution, report, done.action))

    def report(self, outcome: Outcome[AuditPlan, Audited, None]) -> AuditReport | ClipsReport:
        """Report of all clips, the worst first."""
        report = report_of_clips(outcome, self.NAME)
        return replace(report, clips=clips_of(report)) if isinstance(report, ClipsReport) else report


AUDIT = Audit()


def clips_of(report: AuditReport | ClipsReport) -> list[tuple[str, AuditReport]]:
    """Clips of a report with the names of their actions (empty for the present one), the worst first."""
    clips: Any = report.clips if isinstance(report, ClipsReport) else [("", report)]
    return sorted(clips, key=lambda clip: -clip[1].badness)


def _limb(armature: Object, chain: str, kind: str, names: ChainNames) -> LimbPlan:
    last = carrier_of(armature, names)
    bones = tuple(Quantity("WORLD", armature.name, bone) for bone in (names.upper, names.lower, last))
    return LimbPlan(chain, kind, chain_found(armature, names).rest, bones)  # type: ignore[arg-type]


def _read_earlier(path: str) -> Mapping[str, Any]:
    """Read an earlier report from a file; raises `SettingError` where it is no audit report."""
    if not path:
        return {}
    try:
        found = json.loads(file_at(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingError('Compare is "{path}", which cannot be read: {error}.', path=path, error=str(error)) from None
    if not isinstance(found, dict) or found.get("kind") != "audit":
        raise SettingError('Compare is "{path}", which is not an audit report. Choose another file.', path=path)
    return found


def audited(plan: AuditPlan, samples: Samples) -> Audited:
    """Measure one clip from its samples."""
    contacts, settings, rate = plan.contacts, plan.settings, plan.contacts.rate
    feet = found = skating = None
    states, skates, first, is_level = (
        np.zeros((0, len(contacts.frames)), int),
        np.zeros((0, len(contacts.frames)), bool),
        0,
        False,
    )
    stances: dict[str, list[measures.Stance]] = {}
    shares: dict[str, float] = {}
    if contacts.feet:
        found, feet = solve_contacts(contacts, samples), grounded_feet(contacts, samples).feet
        first = int(found.story.has_rest_first)
        feet, states = feet.since(first), found.to_key()[:, first:]
        balls = feet.points[:, 1].copy()
        balls[..., 2] = feet.heights[:, 1]
        low, skates = skating_frames(balls, feet.leg_length, rate)
        for foot, *arrays in zip(contacts.feet, feet.points, feet.heights, states, low, skates, strict=True):
            stances[foot.chain] = measures.stances_of(*arrays[:3], rate)  # type: ignore[arg-type]
            shares[foot.chain] = np.count_nonzero(arrays[4]) / np.count_nonzero(arrays[3])
        scale = np.cbrt(np.abs(np.linalg.det(samples.every(contacts.world)[0, :3, :3])))
        joint_over_sole = np.array([[0.0, foot.points.ball_height * scale] for foot in contacts.feet])[..., None]
        metre = measures.metre(feet.leg_length, plan.units_per_metre)
        skating = measures.kimodo_skating(feet.points, feet.heights + joint_over_sole, states, metre, rate)
        is_level = settings.ground != "AUTO" or measures.is_flat([s for each in stances.values() for s in each], feet.leg_length)
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
        if feet is not None and limb.chain in stances:
            place = [foot.chain for foot in contacts.feet].index(limb.chain)
            rows = [ContactAudit(float(frames[e.first]), float(frames[e.last]), e.slide, e.height) for e in stances[limb.chain]]
            slide = float(np.median([row.slide for row in rows])) if rows else None
            limb_audit = replace(limb_audit, skate_share=shares[limb.chain], slide=slide, contacts=rows)
            if is_level:
                limb_audit = _with_heights(
                    limb_audit, stances[limb.chain], feet.heights[place].min(axis=0), states[place], settings
                )
        limbs.append(limb_audit)
    return Audited(limbs, feet, found, states, skating, skates, first, is_level, samples.evaluation)


def _with_heights(
    limb: LimbAudit, stances: Sequence[measures.Stance], lowest: Array, states: Codes, settings: AuditSettings
) -> LimbAudit:
    """Add the measures of floating and sinking, from heights `(F,)` of the sole's lowest point over the floor."""
    level = float(np.median([each.height for each in stances])) if stances else 0.0
    standing = lowest[states > 0]
    return replace(
        limb,
        floating=max(0.0, level),
        floating_share=float((standing > settings.max_float * limb.length).mean()) if len(standing) else 0.0,
        sinking=max(0.0, float(-np.quantile(lowest, 0.01))),
        sinking_share=float((lowest < -settings.max_sink * limb.length).mean()),
    )


def _checks(  # noqa: C901 - one list of limits
    scene: Scene, plan: AuditPlan, solution: Audited
) -> Iterator[_Check]:
    """Compare every measure that has a limit with it."""
    settings, text, frames = plan.settings, units_of(scene).text, plan.contacts.frames

    def check(value: float, limit: float, frame: float, template: str, **values: Any) -> _Check:
        ratio = value / limit if limit > 0.0 else (float("inf") if value > 0.0 else 0.0)
        return _Check(min(ratio, 1e9), frame, note(template, frame=frame, **values))

    if solution.first:
        yield check(2.0, 1.0, float(frames[0]), "the first frame ({frame:g}) is a rest pose")
    feet = [limb for limb in solution.limbs if limb.skate_share is not None]
    rows = [(row.slide / limb.length, row.height / limb.length, row, limb) for limb in feet for row in limb.contacts]
    if rows:
        worst = max(rows, key=lambda row: row[0])
        slide = float(np.median([row[0] for row in rows]))
        why = "feet slide by {distance} a contact, farthest from frame {frame:g}"
        yield check(slide, settings.max_slide, worst[2].first, why, distance=text(slide * worst[3].length))
        if solution.is_level:
            level = float(np.median([row[1] for row in rows]))
            why = "feet stand {distance} over the ground (frame {frame:g})"
            yield check(max(0.0, level), settings.max_float, rows[0][2].first, why, distance=text(abs(level) * worst[3].length))
    for limb in feet:
        who = {"limb": limb.chain}
        start = limb.contacts[0].first if limb.contacts else float(frames[0])
        if limb.slide is not None:
            why = "{limb} slides by {distance} a contact (from frame {frame:g})"
            farthest = max(limb.contacts, key=lambda row: row.slide).first
            yield check(limb.slide / limb.length, ALONE * settings.max_slide, farthest, why, distance=text(limb.slide), **who)
        # Toes are also low while they swing, so low frames alone do not prove skating; the speed of standing feet decides.
        if limb.slide is None or (solution.skating and solution.skating.foot_skate_from_contacts > CONTACT_FAST):
            why = "{limb} skates at {share:.0%} of its low frames"
            yield check(limb.skate_share or 0.0, settings.max_skate, start, why, share=limb.skate_share or 0.0, **who)
        if limb.floating is not None and limb.sinking is not None and limb.sinking_share is not None:
            why = "{limb} stands {distance} over the ground (frame {frame:g})"
            high = limb.floating / limb.length
            yield check(high, ALONE * settings.max_float, start, why, distance=text(limb.floating), **who)
            why, deep = "{limb} is up to {distance} in the ground, at {share:.0%} of the frames", limb.sinking / limb.length
            ratio = max(limb.sinking_share / OFTEN, deep / max(DEEP * settings.max_sink, 1e-9))
            yield check(ratio, 1.0, start, why, distance=text(limb.sinking), share=limb.sinking_share, **who)
    for limb in solution.limbs:
        who = {"limb": limb.chain}
        why = "{limb}: the joint pops at frame {frame:g}"
        yield check(limb.knee_pop_worst, settings.max_knee_pop, limb.knee_pop_frame, why, **who)
        yield check(limb.limb_pop, settings.max_limb_pop, limb.limb_pop_frame, "{limb} pops at frame {frame:g}", **who)
        why = "{limb} bends to the wrong side by {degrees:.0f} degrees at frame {frame:g}"
        degrees = float(np.degrees(limb.hyperextension))
        yield check(limb.hyperextension, settings.max_hyperextension, limb.hyperextension_frame, why, degrees=degrees, **who)
        if limb.jitter is not None:
            why = "{limb} jitters by {distance}"
            yield check(limb.jitter, settings.max_jitter, float(frames[0]), why, distance=text(limb.jitter * limb.length), **who)
        if plan.is_cycle:
            why = "{limb}: the cycle's ends are {distance} apart (frame {frame:g})"
            distance = text(limb.loop_gap * limb.length)
            yield check(limb.loop_gap, settings.max_loop_gap, float(frames[-1]), why, distance=distance, **who)


def _draw(plan: AuditPlan, solution: Audited, report: AuditReport, action: str) -> str:
    """Write the picture of a clip and return its file; raises `SettingError` where that cannot be written."""
    data = object_named(plan.armature).animation_data
    action = action or (data.action.name if data is not None and data.action is not None else plan.armature)
    name = re.sub(r"[^\w .-]", "_", action)
    path = file_at(plan.settings.picture.replace("{shot}", open_file() or "untitled").replace("{action}", name))
    if "{action}" not in plan.settings.picture and plan.settings.actions != ACTIVE:
        path = path.with_name(f"{path.stem} {name}{path.suffix}")
    frames, rows = plan.contacts.frames[solution.first :], []
    names = [foot.chain for foot in plan.contacts.feet]
    for limb in solution.limbs:
        limits = ((limb.knee_pop_worst, plan.settings.max_knee_pop), (limb.limb_pop, plan.settings.max_limb_pop))
        at = zip((limb.knee_pop_frame, limb.limb_pop_frame), limits, strict=True)
        pops = [frame for frame, (value, limit) in at if value > limit]
        if limb.chain in names and solution.feet is not None:
            place = names.index(limb.chain)
            heights = solution.feet.heights[place] / solution.feet.leg_length
            rows.append(Row(limb.chain, heights, solution.states[place] > 0, solution.skates[place], pops))
        else:
            nowhere = np.zeros(len(frames), bool)
            rows.append(Row(limb.chain, np.zeros((0, len(frames))), nowhere, nowhere, pops))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(clip_picture(f"{plan.armature}: {action}", report.sentence(), frames, rows), encoding="utf-8")
    except OSError as error:
        raise SettingError('Picture "{path}" cannot be written: {error}.', path=str(path), error=str(error)) from None
    return str(path)
