"""Nudge: move a limb's tip at a frame, fading into the limb's motion before and after.

The action stores all nudges of a limb. Each run solves the limb from its motion without nudges, with the sum of all: so several
add up, and each can be changed or removed independently.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...core.array_types import Array, SampledFrames
from ...core.arrays import every_row, magnitude
from ...core.contacts.states import ContactState
from ...core.curves.frames import merge_frames, ranges
from ...core.nudges import NEAR_END, CycledNudge, Nudge, Span, joined_spans, offsets, with_nudge, without_nudge
from ...core.solver import Reach
from ...errors import ChainError, RangeError, SettingError, WriteError
from ...pipeline.beginning import ToWrite
from ...pipeline.gate import foot_left_behind, refuse_left_behind, refuse_posed, who_poses
from ...pipeline.motion.plan_motion import points
from ...pipeline.plan.chain_plan import ChainPlan
from ...pipeline.plan.completing import completed
from ...pipeline.plan.found_chain import end_bone_of, find_chain
from ...pipeline.plan.frame_choice import LAST_FRAME
from ...pipeline.plan.planning import plan_chain, refuse_unwritable_chain
from ...pipeline.report.reporting import along_notes
from ...pipeline.report.reports import Report
from ...pipeline.report.units import Units, units_of
from ...pipeline.stages import evaluation_of
from ...pipeline.story import Sample, StartOver, Story, Task, Write
from ...records import replace
from ...said import Sentence, joined, note
from ...scene.actions import OwnAction
from ...scene.blender_types import Object, Property, Scene
from ...scene.keys.clearing import unmake
from ...scene.keys.contact_keys import keyed_states
from ...scene.keys.ledger import Ledger
from ...scene.keys.nudges import keep_nudges, nudges_of
from ...scene.keys.reading import key_frames, motion_curves, read_frames, read_keyed, repeats
from ...scene.keys.replaced import NUDGED, limb_name
from ...scene.keys.tables import INTERPOLATION
from ...scene.keys.writing import Change
from ...scene.lookup import find_armature, object_named
from ...scene.versions import curve_bag
from ...scene.visible.skin import Skins
from ...settings import BakeSettings
from ...settings.tasks import TABLES, NudgeSettings
from .solve import NudgeSolution, quantities, solve_nudges


@dataclass(frozen=True, slots=True)
class NudgedRange:
    """A range of consecutive frames that get keys."""

    limb: ChainPlan
    """Plan of the limb at the keyed frames."""
    start: float
    """Frame at which the nudges begin; the motion is unchanged there, except at the seam of a cycle."""
    end: float
    """Frame at which the nudges end; the motion is unchanged there, except at the seam of a cycle."""


def parts_of(plan: NudgePlan, nudges: Sequence[Nudge]) -> list[NudgedRange]:
    """Parts of the motion at which a limb needs keys: on whole frames, frames of its own keys, and frames of the nudges.

    A cycle that is nudged at its end has keys there, so that it meets its beginning; elsewhere the first and last frame of a
    part are not nudged, and join the unchanged curve outside.
    """
    cycled = [CycledNudge(nudge, plan.cycle_of(nudge)) for nudge in nudges]
    spans = joined_spans([_over_easing(plan.limb, span) for nudge, cycle in cycled for span in nudge.spans(cycle)])
    key_frames = np.concatenate([plan.own_frames, *(_repeated(nudge.frame, cycle) for nudge, cycle in cycled)])
    nudged_ranges = []
    for start, end in spans:
        ends = np.array([start, end])
        at_seam = np.isin(ends, plan.cycle or ()) & offsets(cycled, ends).any(axis=-1)
        first, last = np.where(at_seam, ends, (start + NEAR_END, end - NEAR_END))
        seams = ends[at_seam]
        frames = merge_frames(seams, key_frames, np.arange(math.ceil(first), math.floor(last) + 1.0))
        frames = frames[(frames >= first) & (frames <= last)]
        if len(frames):
            nudged_ranges.append(NudgedRange(_limb_at(plan, frames, (start, end), at_seam), start, end))
    return nudged_ranges


def _over_easing(limb: ChainPlan, span: Span) -> Span:
    """Extend the span where it would end between two keys with an easing such as Sine, which cannot be split."""
    start, end = span
    tables = [keyed.table for keyed in limb.keyed.values() if keyed.table is not None]
    while True:
        longer = start, end
        for table in tables:
            frames, eased = table["co"][:, 0].astype(float), table["interpolation"][:, 0] > INTERPOLATION["BEZIER"]
            for first, last in zip(frames[:-1][eased[:-1]], frames[1:][eased[:-1]], strict=True):
                start = first if first < start < last else start
                end = last if first < end < last else end
        if longer == (start, end):
            return longer


def _repeated(frame: float, cycle: Span | None) -> Array:
    """Frame `(1,)` within the cycle at which a nudge's frame repeats."""
    if cycle is None:
        return np.array([frame])
    return np.array([cycle[0] + (frame - cycle[0]) % (cycle[1] - cycle[0])])


def _limb_at(plan: NudgePlan, frames: Array, within: Span, at_seam: Array) -> ChainPlan:
    """Plan of the limb at frames `(F,)`, with the keys of its channels around the part `within`."""
    armature, (start, end) = object_named(plan.armature), within
    keyed = {
        channel: read_keyed(armature, *channel, start + 1.0, end - 1.0, baked=was.baked)
        for channel, was in plan.limb.keyed.items()
    }
    settings = replace(plan.limb.settings, key_before=not at_seam[0], key_after=not at_seam[1])
    return replace(plan.limb, settings=settings, frames=SampledFrames(frames), report_rows=np.arange(len(frames)), keyed=keyed)


QUARTER = 0.25
"""Default duration of a nudge's fade-in and of its fade-out, seconds."""


@dataclass(frozen=True, slots=True)
class NudgePlan:
    """One limb, and the nudges that it should have."""

    settings: NudgeSettings
    armature: str
    chain: str
    """Name of the stored chain; empty where none is stored for the limb."""
    limb: ChainPlan
    """Its two frames are the first and the last that old and new nudges affect."""
    frame: float
    new: Nudge | None
    """The nudge that is added; `None` where one is removed."""
    nudges: Sequence[Nudge]
    """All nudges that the limb should have."""
    known: Sequence[Nudge]
    """All nudges that it has now."""
    cycle: Span | None
    """First and last frame of the limb's animation as a cycle, see `_cycle`; `None` without two keys."""
    repeats: bool
    """Whether the animation itself repeats."""
    own_frames: Array
    """`(K,)` frames of the keys on the limb's bones."""
    notes: Sequence[Sentence]
    units: Units

    def cycle_of(self, nudge: Nudge) -> Span | None:
        """The cycle in which a nudge repeats; `None` where it does not."""
        return self.cycle if nudge.loop == "ON" or (nudge.loop == "AUTO" and self.repeats) else None


def plan_nudge(scene: Scene, settings: NudgeSettings, active: Object | None) -> NudgePlan:
    """Find and check the limb and its nudge; raises a `TwoBoneError`."""
    if not settings.remove and not any(settings.offset):
        raise SettingError("Offset is 0 along all axes, so nothing would move. Say how far to nudge the tip.")
    armature = find_armature(settings.armature, active)
    limb_settings, chain = _limb(scene, settings, armature)
    # A nudge keys no scales, so whatever has stretched the limb stays.
    limb = replace(plan_chain(scene, limb_settings, armature), stretched_before={})
    refuse_unwritable_chain(scene, limb)
    frame = settings.frame if settings.frame is not None else scene.frame_current_final
    if abs(frame) + max(settings.before, settings.after) > LAST_FRAME:
        raise RangeError(
            "The nudge at frame {frame:g} is outside Blender's frame range, which ends at frame {last:,}. "
            "Choose frames nearer to 0.",
            frame=frame,
            last=LAST_FRAME,
        )
    bones = [limb.rest.bones[index].name for index in limb.rest.turning]
    cycle = _cycle(armature, bones)
    if cycle is None and settings.loop == "ON" and not settings.remove:
        raise RangeError("Loop is on, but the limb has fewer than two keys, so there is no cycle. Turn it off, or key the limb.")
    does_repeat = any(repeats(armature, bone) for bone in bones)
    bag = curve_bag(armature)
    before = nudges_of(bag, limb.names.upper)
    new = None if settings.remove else _nudge(scene, settings, frame)
    after = without_nudge(before, frame) if new is None else with_nudge(before, new)
    if new is None and len(after) == len(before):
        known = ", ".join(f"{nudge.frame:g}" for nudge in before) or "-"
        raise RangeError(
            'Limb "{upper}" has no nudge at frame {frame:g} to remove. It has nudges at: {known}.',
            upper=limb.names.upper,
            frame=frame,
            known=known,
        )
    # Where a nudge is taken away, the limb's own motion must come back.
    ends = [end for nudge in (*before, *after) for span in nudge.spans(None) for end in span]
    ends += [*cycle] if cycle is not None else []
    plan = NudgePlan(
        settings=settings,
        armature=armature.name,
        chain=chain,
        limb=replace(limb, frames=SampledFrames(np.array([min(ends), max(ends)])), report_rows=np.arange(2)),
        frame=frame,
        new=new,
        nudges=after,
        known=before,
        cycle=cycle,
        repeats=does_repeat,
        own_frames=np.unique(np.concatenate([key_frames(armature, bone) for bone in bones])),
        notes=[*limb.notes, *along_notes(limb.feet_along, limb.along_paths())],
        units=units_of(scene),
    )
    skins = Skins()
    for span in _changed_spans(scene, plan):
        refuse_posed(who_poses(scene, armature, limb.names, span, skins=skins))
    refuse_left_behind(foot_left_behind(armature, limb.names))
    return replace(plan, notes=[*plan.notes, *_note_on_stance(plan, armature)])


def _changed_spans(scene: Scene, plan: NudgePlan) -> list[Span]:
    """First and last frame of each part of the motion that changes and is played: where a nudge is added or taken away.

    A nudge fades to nothing at the ends of its span. What the scene does not play counts only where all of it lies there.
    """
    changed = [nudge for nudge in (*plan.known, *plan.nudges) if (nudge in plan.known) != (nudge in plan.nudges)]
    spans = [span for nudge in changed for span in nudge.spans(plan.cycle_of(nudge))]
    inside = [(min(start + NEAR_END, end), max(end - NEAR_END, start)) for start, end in spans]
    first, last = float(scene.frame_start), float(scene.frame_end)
    played = [(max(start, first), min(end, last)) for start, end in inside if start <= last and end >= first]
    return played or inside


def _limb(scene: Scene, settings: NudgeSettings, armature: Object) -> tuple[BakeSettings, str]:
    """Settings that pose the limb from its own motion, in the plane in which it is bent; and the name of its stored chain."""
    names = {name: getattr(settings, name) for name in ("upper", "lower", "tip", "tip_end")}
    chosen = {name: value for name, value in names.items() if value and value != "AUTO"}
    limb = completed(scene, {"armature": armature.name, "plane": "POSE", **chosen}, armature, settings.chain)
    chain = find_chain(limb, armature).names
    limb_settings = BakeSettings(
        armature=armature.name,
        upper=chain.upper,
        lower=chain.lower,
        tip=limb.tip,
        tip_end=limb.tip_end,
        joints=limb.joints,
        method=limb.method,
        plane="POSE",
        reference="POSE",
        end_rotation="KEEP",
        interpolation="LINEAR",
        frame_range="CUSTOM",
        frame_start=0.0,
        frame_end=0.0,
        key_before=True,
        key_after=True,
    )
    try:
        end_bone_of(find_chain(limb_settings, armature), limb_settings)
    except ChainError:
        limb_settings = replace(limb_settings, end_rotation="NONE")  # The tip has no child, or several.
    stored = (
        stored_chain.name
        for stored_chain in armature.twobone.chains
        if (stored_chain.upper, stored_chain.lower) == (chain.upper, chain.lower)
    )
    return limb_settings, settings.chain or next(stored, "")


def _nudge(scene: Scene, settings: NudgeSettings, frame: float) -> Nudge:
    default = max(1.0, float(round(QUARTER * scene.render.fps / scene.render.fps_base)))
    x, y, z = map(float, settings.offset)
    before, after = settings.before or default, settings.after or default
    return Nudge(float(frame), (x, y, z), float(before), float(after), settings.falloff, settings.loop)


def _cycle(armature: Object, bones: Sequence[str]) -> Span | None:
    """First and last frame of the bones' animation: the cyclic range of their action, else their first and last key.

    If any curves have an active Cycles modifier, only the keys of these count. `None` if that is a frame or less.
    """
    data = armature.animation_data
    action = data.action if data is not None else None
    if action is not None and action.use_frame_range and action.use_cyclic:
        return float(action.frame_start), float(action.frame_end)
    curves = [fcurve for bone in bones for fcurve in motion_curves(armature, bone)]
    cyclic = [curve for curve in curves if any(modifier.type == "CYCLES" and not modifier.mute for modifier in curve.modifiers)]
    frames = [read_frames(fcurve) for fcurve in cyclic or curves if len(fcurve.keyframe_points)]
    first, last = (float(end(np.concatenate(frames))) for end in (np.min, np.max)) if frames else (0.0, 0.0)
    return (first, last) if last - first > 1.0 else None


def _note_on_stance(plan: NudgePlan, armature: Object) -> list[Sentence]:
    """A note on frames at which a standing foot is nudged, if there are any."""
    if not plan.chain or plan.new is None:
        return []
    (start, end), chain = plan.new.spans(None)[0], armature.twobone.chains[plan.chain]
    frames = np.arange(math.ceil(start), math.floor(end) + 1.0)
    stands = keyed_states(armature, chain, frames) != ContactState.NONE
    stands &= plan.new.weights(frames, plan.cycle_of(plan.new)) > 0.0
    if not stands.any():
        return []
    spans = ranges(frames, stands)
    frames_text = ", ".join(f"{first:g}-{last:g}" for first, last in spans)
    text = 'Chain "{chain}" stands on the ground at frames {frames}, and is nudged from there.'
    return [replace(note(text, chain=plan.chain, frames=frames_text), frames=tuple((first, last) for first, last in spans))]


@dataclass(frozen=True, slots=True)
class NudgeEntry:
    """One nudge of a limb."""

    frame: float
    offset: list[float]
    """`[x, y, z]` offset of the tip, world units."""
    before: float
    """Number of frames before its frame over which it acts."""
    after: float
    """Number of frames after its frame over which it acts."""
    falloff: str
    """`SMOOTH`, `LINEAR` or `CONSTANT`."""
    loop: str
    """`AUTO`, `ON` or `OFF`."""


@dataclass(frozen=True, slots=True)
class NudgedLimb:
    """The limb, with the field names that other reports use for theirs."""

    chain: str
    upper: str
    lower: str
    tip: str
    nudged_by: list[float]
    max_error: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NudgeReport(Report):
    """One limb and all nudges that it has now. Distances are in world units."""

    armature: str
    chains: list[NudgedLimb]
    """The one limb; its values are repeated beside this list."""
    chain: str
    """Name of the stored chain; empty where none is stored for the limb."""
    upper: str
    lower: str
    tip: str
    frame: float
    removed: bool
    """Whether the nudge at the frame was removed."""
    nudged_by: list[float]
    """Measured offset of the tip, at the frame, from its place without nudges; the solved one without verification."""
    nudges: list[NudgeEntry]
    frames: int
    """Number of keyed frames."""
    ranges: list[list[float]]
    """`[first, last]` keyed frames of each part."""
    keys: int
    channels: int
    out_of_reach: list[list[float]]
    """`[first, last]` ranges of frames at which the goal is out of reach, and the limb has the closest pose."""
    max_missed: float
    """Largest distance of the tip from its goal at these frames."""
    max_error: float | None
    """Largest measured distance of the tip from its goal at all other frames; `None` without verification."""
    on_edited_keys: bool
    """Whether keys of earlier nudges were edited since, so that these nudges are part of the motion now."""
    said_distance: str
    """How far the nudge moves the tip at its frame, as text with its unit: measured, or solved without verification."""

    @property
    def summary(self) -> Sentence:
        """Summary of what was moved, and of what needs the user's attention."""
        name, others = self.chain or self.tip, len(self.nudges) - (not self.removed)
        values = {"limb": name, "frame": f"{self.frame:g}", "distance": self.said_distance}
        result = Sentence("{limb} nudged by {distance} at frame {frame}", values)
        if self.removed:
            result = Sentence("Nudge of {limb} at frame {frame} removed", values)
        parts = [result, *([Sentence("other nudges: {count}", {"count": f"{others}"})] if others else [])]
        if self.out_of_reach:
            spans = ", ".join(f"{first:g}-{last:g}" if first != last else f"{first:g}" for first, last in self.out_of_reach)
            parts.append(Sentence("out of reach at frames {frames}", {"frames": spans}))
        return joined(parts, "; ")

    @property
    def is_as_asked(self) -> bool:
        """Whether nothing needs the user's attention."""
        return not self.out_of_reach and not self.notes


def nudge_limb(scene: Scene, settings: NudgeSettings, active: Object | None, _chosen: OwnAction | None) -> Story[NudgeReport]:
    """Move the tip of a limb at a frame, on top of its motion; if no nudge is left, restore what was there before the first."""
    plan = plan_nudge(scene, settings, active)
    limb, armature, nudges = plan.limb, object_named(plan.armature), plan.nudges
    within = float(limb.frames[0]), float(limb.frames[-1])
    beginning = yield StartOver([ToWrite(plan.armature, set(limb.keyed_paths()), within)])
    # On top of edited keys only the new nudge can be solved: the earlier ones are part of the motion now.
    is_on_edited = plan.armature in beginning.edited
    if is_on_edited and plan.new is None:
        raise WriteError(
            'Keys of the nudges of "{limb}" were edited since, so a single nudge can no longer be removed. Undo those '
            "edits, or remove all nudges with Clear Baked Keys.",
            limb=limb.names.upper,
        )
    if is_on_edited and plan.new is not None:
        nudges = [plan.new]
    parts = parts_of(plan, nudges)
    solution = NudgeSolution(nudges, (), ())
    frames = np.concatenate([np.empty(0), *(part.limb.frames for part in parts)])
    if parts:
        samples = yield Sample(quantities(parts), frames, evaluation_of([limb]))
        solution = solve_nudges(plan, nudges, parts, samples)

    def store() -> None:
        bag = curve_bag(armature)
        if bag is not None and solution.keys:
            keep_nudges(bag, limb.names.upper, nudges)
        elif bag is not None:
            unmake(armature, Ledger.of(bag))

    report = partial(nudge_report, plan, solution, is_on_edited=is_on_edited)
    name = limb_name(plan.armature, limb.names.upper)
    repeats = any(plan.cycle_of(nudge) is not None for nudge in nudges)
    change = Change(plan.armature, solution.keys, within, NUDGED, name, in_pieces=True, repeats=repeats)
    paths = [Property(armature, path) for path in limb.keyed_paths()]
    yield Write([change] if solution.keys else [], report, lambda: paths, store)
    if not settings.verify or not parts:
        return report()
    tip = limb.pose(len(limb.rest.bones) - 1)
    samples = yield Sample([limb.armature_world, tip], frames, evaluation_of([limb], proving=True))
    tips = points(samples[limb.armature_world], points(samples[tip], limb.rest.tip))
    return report(every_row(tips, len(frames)))


def nudge_report(plan: NudgePlan, solution: NudgeSolution, tips: Array | None = None, *, is_on_edited: bool) -> NudgeReport:
    """Report of the limb and all its nudges; `tips` are its tip's places `(F, 3)` in all parts as Blender evaluates them."""
    parts, names = solution.parts, plan.limb.names
    frames = np.concatenate([np.empty(0), *(part.keyed_range.limb.frames for part in parts)])
    goals = np.concatenate([np.empty((0, 3)), *(part.goals for part in parts)])
    before = np.concatenate([np.empty((0, 3)), *(part.before for part in parts)])
    missed = np.concatenate([np.empty(0, bool), *(part.solved.pose.on_targets.reach != Reach.REACHED for part in parts)])
    now = np.concatenate([np.empty((0, 3)), *(part.tips for part in parts)]) if tips is None else tips
    errors, at = magnitude(now - goals), np.abs(frames - plan.frame) <= NEAR_END
    nudged = (now - before)[at][0] if at.any() else np.zeros(3)  # The nudge at this frame was removed.
    edited = 'Keys of "{limb}" were edited since the last nudge. Earlier nudges are part of its motion now.'
    notes = [note(edited, limb=plan.chain or names.upper)] if is_on_edited else []
    # Other nudges may move the tip at that frame as well.
    others = (goals - before)[at][0] - np.array(plan.new.offset) if at.any() and plan.new is not None else np.zeros(3)
    distance = magnitude(nudged - others)
    max_error = None if tips is None else float(errors[~missed].max(initial=0.0))
    limb = NudgedLimb(plan.chain, names.upper, names.lower, names.tip, nudged.tolist(), max_error)
    return NudgeReport(
        armature=plan.armature,
        chains=[limb],
        chain=limb.chain,
        upper=limb.upper,
        lower=limb.lower,
        tip=limb.tip,
        frame=plan.frame,
        removed=plan.new is None,
        nudged_by=limb.nudged_by,
        nudges=[
            NudgeEntry(nudge.frame, list(nudge.offset), nudge.before, nudge.after, nudge.falloff, nudge.loop)
            for nudge in solution.nudges
        ],
        frames=len(frames),
        ranges=[[float(part.keyed_range.limb.frames[0]), float(part.keyed_range.limb.frames[-1])] for part in parts],
        keys=sum(len(piece.frames) for piece in solution.keys),
        channels=len({piece.channel for piece in solution.keys}),
        out_of_reach=ranges(frames, missed),
        max_missed=float(errors[missed].max(initial=0.0)),
        max_error=limb.max_error,
        on_edited_keys=is_on_edited,
        said_distance=plan.units.text(float(distance)),
        evaluation=solution.evaluation,
        notes=[*plan.notes, *notes],
    )


NUDGE = Task(NUDGED, TABLES["nudge"], nudge_limb, NudgeReport)
