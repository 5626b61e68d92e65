"""Finish Retarget: feet, hips and hands of a character where the source of its motion has them, in one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.array_types import Array, Mask
from ...core.arrays import every_row, magnitude
from ...core.contacts.skating import skate_share
from ...core.contacts.states import contacts_of_states
from ...core.planting.goals import SAMPLES_PER_FRAME
from ...core.planting.pins import Pin
from ...pipeline.chosen_actions import own_span
from ...pipeline.motion.plan_motion import points
from ...pipeline.report.reports import ClipReport
from ...pipeline.stages import evaluation_of
from ...pipeline.story import Make, Sample, StartOver, Story, Task, Write
from ...records import replace
from ...said import Sentence, joined, note
from ...scene.actions import OwnAction
from ...scene.blender_types import Object, Scene
from ...scene.lookup import object_named
from ...scene.sampling.quantities import Quantity, Samples
from ...settings.feet import FinishSettings
from ...settings.tasks import TABLES
from ..find_contacts.task import steps
from ..find_limbs import stored_limbs
from ..plant.keys.anew import note_strips, piece_changes
from ..plant.plan.planning import LegPlan
from ..plant.report.reporting import LegTrack, count_keys, foot_pose, proof_frames, proof_quantities, track
from ..plant.report.reports import Lengths
from .plan import FinishPlan, plan_finish
from .solve import FinishSolution, solve_finish

HELD = 700
"""Bytes of memory per sampled quantity and frame."""

SCALES, WIDE = (0.3, 3.0), 2.0
"""Usual scales between two characters; and multiple of the scale from which hips are wide or narrow for their legs."""


@dataclass(frozen=True, slots=True)
class FinishedLimb:
    """One leg or arm. Lengths in world units."""

    chain: str
    armature: str
    kind: str
    """`LEG` or `ARM`."""
    keys: int
    contacts: int
    """Number of times that the foot stands, as in the source."""
    left: list[list[float]]
    """First and last frames of contacts left as they are, because planting would move the foot too far."""
    out_of_reach: int
    """Number of frames at which foot or hand cannot be where it belongs."""
    slide_between: float | None
    """Largest slide of a planted point in its contacts, as Blender evaluates the new keys."""
    sole_before: float | None
    """95 % of the frames have the sole's height at most this far from the source's, scaled; before."""
    sole_after: float | None
    """The same after."""

    @property
    def is_on_target(self) -> bool:
        """Whether nothing needs a person's attention."""
        return not self.left and not self.out_of_reach


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishReport(ClipReport):
    """What was put right on a character that has another's motion."""

    SAYS_NOTES: ClassVar[bool] = False
    IS_KEPT: ClassVar[bool] = True
    UNTOLD: ClassVar[frozenset[str]] = frozenset({"lengths"})

    armature: str
    source: str
    chains: list[FinishedLimb]
    scale: float
    """Length of the legs relative to the source's."""
    angle: float
    """Degrees about the vertical by which the source is turned to face as the character does."""
    root: str
    """Bone or object that carries the legs; empty if none was found."""
    max_move: float
    """Largest move of the root."""
    skate_share_source: float
    """Share of the source's low frames at which its feet skate."""
    skate_share_before: float
    """The same share of the character, before."""
    skate_share_after: float | None
    """The same share after."""
    floor: float
    """Height of the floor."""
    meeting: int
    """Number of frames at which palms are as near to each other as in the source."""
    palms_off: float | None
    """Median distance by which palms then are not as far apart as in the source, scaled."""
    lengths: Lengths
    frames: int
    frame_start: float
    frame_end: float

    @property
    def is_as_asked(self) -> bool:
        """Whether nothing needs a person's attention."""
        return all(limb.is_on_target for limb in self.chains)

    @property
    def summary(self) -> Sentence:
        """Who follows whom, and what was planted, moved and left."""
        legs = [limb for limb in self.chains if limb.kind == "LEG"]
        arms, said = len(self.chains) - len(legs), self.lengths.said
        values = {
            "armature": self.armature,
            "source": self.source,
            "scale": f"{self.scale:.2f}",
            "degrees": f"{abs(self.angle):.0f}",
        }
        turned = "{armature} follows {source} (scale {scale}, turned by {degrees} degrees)"
        parts = [Sentence(turned if abs(self.angle) >= 1.0 else "{armature} follows {source} (scale {scale})", values)]
        if self.max_move:
            parts.append(Sentence("{bone} moved by up to {distance}", {"bone": self.root, "distance": said(self.max_move)}))
        planted = sum(limb.contacts for limb in legs)
        if planted:
            parts.append(Sentence("{contacts} contacts of {chains} feet planted", {"contacts": planted, "chains": len(legs)}))
        slide = max((limb.slide_between for limb in legs if limb.slide_between is not None), default=0.0)
        if self.lengths.is_seen(slide):
            parts.append(Sentence("sliding by up to {distance}", {"distance": said(slide)}))
        if arms and self.meeting:
            met = {"count": self.meeting, "distance": said(self.palms_off or 0.0)}
            parts.append(
                Sentence("hands meet at {count} frames", met)
                if self.palms_off is None
                else Sentence("hands meet at {count} frames, off by {distance}", met)
            )
        left = [(limb.chain, *span) for limb in self.chains for span in limb.left]
        if left:
            named = {"chain": left[0][0], "first": f"{left[0][1]:g}", "last": f"{left[0][2]:g}", "count": len(left)}
            parts.append(Sentence("contacts left as they are: {count}, first {chain} at frames {first} to {last}", named))
        missed = next((limb for limb in self.chains if limb.out_of_reach), None)
        if missed is not None:
            reach = {"chain": missed.chain, "count": missed.out_of_reach}
            parts.append(Sentence("{chain} is out of reach at {count} frames", reach))
        return joined(parts, "; ")


def finish_retarget(
    scene: Scene, settings: FinishSettings, active: Object | None, chosen: OwnAction | None
) -> Story[FinishReport]:
    """Put feet, hips and hands of a character where the source of its motion has them."""
    plan = plan_finish(scene, settings, active, own_span(chosen))
    planting, armature = plan.planting, object_named(plan.planting.armature)
    yield StartOver(plan.reaches())
    yield Make(stored_limbs(armature, planting.contacts.legs.found))
    evaluation = evaluation_of([limb.plan for limb in plan.limbs])
    quantities = [*plan.quantities(), *planting.contacts.quantities(), *plan.source.quantities()]
    samples = yield Sample(list(dict.fromkeys(quantities)), planting.samples, evaluation, HELD, share=0.4)
    solved = yield from solve_finish(plan, samples)
    changes = piece_changes(planting, solved.keys, FINISH_RETARGET.name)
    yield Write(changes, lambda: finish_report(plan, solved, samples), also=lambda: note_strips(planting, solved.keys))
    if not settings.verify:
        return finish_report(plan, solved, samples)
    proving = evaluation_of([limb.plan for limb in plan.limbs], proving=True)
    frames = proof_frames(planting, [leg.states for leg in solved.planted.legs[: len(solved.legs)]])
    after = yield Sample(_proof_quantities(plan), frames, proving, share=0.6)
    return finish_report(plan, solved, samples, after)


def _proof_quantities(plan: FinishPlan) -> list[Quantity]:
    return proof_quantities(replace(plan.planting, legs=plan.limbs))


def finish_report(plan: FinishPlan, solved: FinishSolution, before: Samples, after: Samples | None = None) -> FinishReport:
    """The report, from the samples `before` and, with verification, those of the new keys."""
    planting, legs = plan.planting, solved.legs
    length = max(leg.length for leg in legs)
    lengths = Lengths(planting.units, length)
    then = before.on(planting.frames)
    now = None if after is None else after.on(planting.frames)
    limbs = []
    for number, (limb, posed) in enumerate(zip(plan.limbs, solved.planted.legs, strict=True)):
        is_leg = number < len(legs)
        paths = set(limb.plan.rotation_paths())
        keys = count_keys([channel for channel in solved.keys if channel.pieces[0].path in paths])
        left = solved.planted.left[number] if is_leg and solved.planted.left else []
        off_then = _soles_off(limb, then, solved, number) if is_leg else None
        missed = posed.before.extensions_for(posed.ankles - posed.before.joints[:, 0] - solved.planted.moves) > 1.0 + 2e-6
        contacts = contacts_of_states(posed.states, planting.frames)
        limbs.append(
            FinishedLimb(
                chain=limb.chain,
                armature=planting.armature,
                kind="LEG" if is_leg else "ARM",
                keys=keys,
                contacts=len(steps((contact.first, contact.last) for contact in contacts)),
                left=[[contact.first, contact.last] for contact in left],
                out_of_reach=int(np.count_nonzero((missed & posed.changed)[::SAMPLES_PER_FRAME])),
                slide_between=None if after is None or not is_leg else _slide(posed.pins, track(posed.before.leg, after), solved),
                sole_before=off_then,
                sole_after=_soles_off(limb, now, solved, number) if is_leg and now is not None else None,
            )
        )
    rate = planting.frames_per_second
    source_balls = solved.source.ends[: len(legs), ::SAMPLES_PER_FRAME]
    balls = [np.stack([track(leg.leg, which).balls for leg in legs]) for which in (then, now) if which is not None]
    palms = _palms_off(plan, solved, now) if now is not None and plan.arms else None
    return FinishReport(
        armature=planting.armature,
        source=plan.source.armature,
        chains=limbs,
        scale=solved.similarity.scale,
        angle=float(np.degrees(solved.similarity.angle)),
        root="" if planting.root is None else planting.root.name,
        max_move=float(magnitude(solved.planted.moves).max()),
        skate_share_source=skate_share(source_balls, length / solved.similarity.scale, rate),
        skate_share_before=skate_share(balls[0], length, rate),
        skate_share_after=skate_share(balls[1], length, rate) if now is not None else None,
        floor=solved.floor,
        meeting=int(np.count_nonzero(solved.meeting[::SAMPLES_PER_FRAME])),
        palms_off=palms,
        lengths=lengths,
        frames=len(planting.frames),
        frame_start=float(planting.frames[0]),
        frame_end=float(planting.frames[-1]),
        evaluation=before.evaluation,
        notes=[*planting.notes, *_notes(solved)],
    )


def _notes(solved: FinishSolution) -> list[Sentence]:
    """What a person should know of two characters that are built otherwise."""
    notes, (least, most) = [], SCALES
    if not least <= solved.similarity.scale <= most:
        text = "The legs are {scale:.2g} times as long as the source's, so its steps may look heavy or light."
        notes.append(note(text, scale=solved.similarity.scale))
    widths = [
        float(np.median(magnitude(joints[1] - joints[0])))
        for joints in (np.stack([leg.joints[:, 0] for leg in solved.legs]), solved.source.joints[:2, :, 0])
    ]
    wider = widths[0] / max(widths[1] * solved.similarity.scale, np.finfo(float).tiny)
    if wider > WIDE:
        notes.append(note("The hips are {times:.1f} times as wide as the source's, scaled, so feet stand apart.", times=wider))
    return notes


def _soles_off(limb: LegPlan, samples: Samples, solved: FinishSolution, number: int) -> float:
    """Distance from the source's height, scaled, that 95 % of the sole's heights keep: of the lower one of ankle and ball."""
    leg = solved.legs[number].leg
    seen = track(replace(limb, points=leg.points), samples)
    over = np.minimum(seen.joints[:, 2, 2] - solved.rests.ankle, seen.balls[:, 2] - solved.rests.ball)
    return float(np.quantile(np.abs(over - solved.heights[number]), 0.95))


def _slide(pins: Sequence[Pin], seen: LegTrack, solved: FinishSolution) -> float:
    """Largest distance of a planted point from its pin, on the ground."""
    frames, worst = solved.footing.plan.frames, 0.0
    for pin in pins:
        rows = (seen.frames >= frames[pin.first]) & (seen.frames <= frames[pin.last])
        places = (seen.balls if pin.is_ball else seen.heels)[rows]
        ground = solved.footing.ground.at(np.searchsorted(solved.footing.plan.samples, seen.frames[rows]))
        worst = max(worst, float(magnitude(ground.into(places) - pin.place).max(initial=0.0)))
    return worst


def _palms_off(plan: FinishPlan, solved: FinishSolution, samples: Samples) -> float | None:
    """Median of the distance by which palms that meet are not as far apart as in the source, scaled."""
    meets: Mask = solved.meeting[::SAMPLES_PER_FRAME]
    if not meets.any():
        return None
    palms: list[Array] = []
    for arm in plan.arms:
        world, hand = samples[arm.plan.armature_world], samples[foot_pose(arm)]
        palms.append(every_row(points(world, points(hand, arm.points.ball)), len(samples.frames)))
    return float(np.median(magnitude(palms[0] - palms[1] - solved.apart[::SAMPLES_PER_FRAME])[meets]))


FINISH_RETARGET = Task("finish_retarget", TABLES["finish_retarget"], finish_retarget, FinishReport)
