"""Nudge: move a limb's tip at a frame, fading into the limb's motion before and after.

The action stores all nudges of a limb. Each run solves the limb from its motion without nudges, with the sum of all: so several
add up, and each can be changed or removed independently.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from ...core.array_types import Array
from ...core.arrays import every_row, magnitude
from ...core.curves.frames import ranges
from ...core.nudges import NEAR_END
from ...core.solver import Reach
from ...errors import WriteError
from ...pipeline.beginning import ToWrite
from ...pipeline.motion.plan_motion import points
from ...pipeline.report.reports import Report
from ...pipeline.stages import evaluation_of
from ...pipeline.story import Sample, StartOver, Story, Task, Write
from ...said import Sentence, joined, note
from ...scene.actions import OwnAction
from ...scene.blender_types import Object, Scene
from ...scene.keys.clearing import unmake
from ...scene.keys.ledger import Ledger
from ...scene.keys.nudges import keep_nudges
from ...scene.keys.replaced import NUDGED, limb_name
from ...scene.keys.writing import Change
from ...scene.lookup import object_named
from ...scene.versions import curve_bag
from ...settings.tasks import TABLES, NudgeSettings
from .plan import NudgePlan, parts_of, plan_nudge
from .solve import NudgeSolution, quantities, solve_nudges


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


def nudge_limb(scene: Scene, settings: NudgeSettings, active: Object | None, _own: OwnAction | None) -> Story[NudgeReport]:
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
    change = Change(plan.armature, solution.keys, within, NUDGED, name, in_pieces=True)
    paths = [(armature, path) for path in limb.keyed_paths()]
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
    frames = np.concatenate([np.empty(0), *(part.part.limb.frames for part in parts)])
    goals = np.concatenate([np.empty((0, 3)), *(part.goals for part in parts)])
    before = np.concatenate([np.empty((0, 3)), *(part.before for part in parts)])
    missed = np.concatenate([np.empty(0, bool), *(part.solved.pose.on_targets.reach != Reach.REACHED for part in parts)])
    now = np.concatenate([np.empty((0, 3)), *(part.tips for part in parts)]) if tips is None else tips
    errors, at = magnitude(now - goals), np.abs(frames - plan.frame) <= NEAR_END
    nudged = (now - before)[at][0] if at.any() else np.array(plan.new.offset if plan.new is not None else (0.0, 0.0, 0.0))
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
            NudgeEntry(each.frame, list(each.offset), each.before, each.after, each.falloff, each.loop)
            for each in solution.nudges
        ],
        frames=len(frames),
        ranges=[[float(part.part.limb.frames[0]), float(part.part.limb.frames[-1])] for part in parts],
        keys=sum(len(piece.frames) for piece in solution.keys),
        channels=len({(piece.path, piece.index) for piece in solution.keys}),
        out_of_reach=ranges(frames, missed),
        max_missed=float(errors[missed].max(initial=0.0)),
        max_error=limb.max_error,
        on_edited_keys=is_on_edited,
        said_distance=plan.units.text(float(distance)),
        evaluation=solution.evaluation,
        notes=[*plan.notes, *notes],
    )


NUDGE = Task(NUDGED, TABLES["nudge"], nudge_limb, NudgeReport)
