"""Plan a nudge: find the limb, and check everything that can be refused."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.array_types import Array, SampledFrames
from ...core.contacts.states import ContactState
from ...core.curves.frames import merge_frames, ranges
from ...core.nudges import NEAR_END, Nudge, Span, joined_spans, offsets, with_nudge, without_nudge
from ...errors import ChainError, RangeError, SettingError
from ...pipeline.gate import refuse_posed, who_poses
from ...pipeline.plan.chain_plan import ChainPlan
from ...pipeline.plan.completing import completed
from ...pipeline.plan.found_chain import end_bone_of, find_chain
from ...pipeline.plan.frame_choice import LAST_FRAME
from ...pipeline.plan.planning import plan_chain, refuse_unwritable_chain
from ...pipeline.report.units import Units, units_of
from ...records import replace
from ...said import Sentence, note
from ...scene.blender_types import Object, Scene
from ...scene.keys.contact_keys import keyed_states
from ...scene.keys.nudges import nudges_of
from ...scene.keys.reading import key_frames, motion_curves, read_frames, read_keyed, repeats
from ...scene.keys.tables import INTERPOLATION
from ...scene.lookup import find_armature, object_named
from ...scene.versions import curve_bag
from ...settings import BakeSettings
from ...settings.tasks import NudgeSettings


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
    cycled = [(nudge, plan.cycle_of(nudge)) for nudge in nudges]
    spans = joined_spans([_over_easing(plan.limb, span) for nudge, cycle in cycled for span in nudge.spans(cycle)])
    key_frames = np.concatenate([plan.own_frames, *(_repeated(nudge.frame, cycle) for nudge, cycle in cycled)])
    found = []
    for start, end in spans:
        ends = np.array([start, end])
        at_seam = np.isin(ends, plan.cycle or ()) & offsets(cycled, ends).any(axis=-1)
        first, last = np.where(at_seam, ends, (start + NEAR_END, end - NEAR_END))
        seams = ends[at_seam]
        frames = merge_frames(seams, key_frames, np.arange(math.ceil(first), math.floor(last) + 1.0))
        frames = frames[(frames >= first) & (frames <= last)]
        if len(frames):
            found.append(NudgedRange(_limb_at(plan, frames, (start, end), at_seam), start, end))
    return found


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
    ends = [end for nudge in (*before, *after) for span in nudge.spans(None) for end in span]
    ends += [*cycle] if cycle is not None else []
    refuse_posed(who_poses(scene, armature, limb.names, (min(ends), max(ends))))
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
        notes=limb.notes,
        units=units_of(scene),
    )
    return replace(plan, notes=[*plan.notes, *_note_on_stance(plan, armature)])


def _limb(scene: Scene, settings: NudgeSettings, armature: Object) -> tuple[BakeSettings, str]:
    """Settings that pose the limb from its own motion, in the plane in which it is bent; and the name of its stored chain."""
    names = {name: getattr(settings, name) for name in ("upper", "lower", "tip", "tip_end")}
    chosen = {name: value for name, value in names.items() if value and value != "AUTO"}
    found = completed(scene, {"armature": armature.name, "plane": "POSE", **chosen}, armature, settings.chain)
    chain = find_chain(found, armature).names
    limb_settings = BakeSettings(
        armature=armature.name,
        upper=chain.upper,
        lower=chain.lower,
        tip=found.tip,
        tip_end=found.tip_end,
        joints=found.joints,
        method=found.method,
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
    stored = (each.name for each in armature.twobone.chains if (each.upper, each.lower) == (chain.upper, chain.lower))
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
    cyclic = [each for each in curves if any(modifier.type == "CYCLES" and not modifier.mute for modifier in each.modifiers)]
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
