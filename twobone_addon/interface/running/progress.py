"""Bakes in a window: at once where that is quick, else bit by bit with progress in the status bar, until Esc."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass

import bpy
from bpy.app.translations import pgettext_iface, pgettext_rpt

from ...baking.plan.completing import StoredChain
from ...baking.report.records import BakeReport
from ...baking.stages import SkipCheckError
from ...errors import TwoBoneError
from ...scene.evaluated import bring_up_to_date, write_animated_values
from ...scene.walk.stepping import Steps, at_once
from ..refusing import refuse
from ..stored.selecting import follow_selection
from ..stored.storing import Renamed, keyed_settings, name_back
from ..stored.where import redraw_viewports
from .correcting import CanBeCorrected

PATIENCE_IN_SECONDS = 0.5
"""A bake that is done by then needs no progress: the window only seems to think for a moment."""

SLICE_IN_SECONDS = 0.05
"""Work between two looks at the keyboard."""


@dataclass(slots=True)
class Begun:
    """A bake on its way."""

    keepers: list[str]
    """Names of the stored chains that are to keep the reports, one for each report; or none at all."""
    steps: Steps[BakeReport]
    part: float = 0.0

    def work(self, seconds: float) -> BakeReport | None:
        """Go on for so long; the report if that was enough. Raises a `TwoBoneError`."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            try:
                self.part = next(self.steps)
            except StopIteration as done:
                return done.value
        return None

    def stop(self) -> BakeReport | None:
        """Stop: nothing has changed, or if the keys are written already, they stay and the report lacks the proof."""
        try:
            self.steps.throw(SkipCheckError())
        except SkipCheckError:
            return None
        except StopIteration as done:
            return done.value
        return None


class ShowsProgress(CanBeCorrected):
    """Operators that bake; each has `begin(context)`, which returns a `Begun` or raises a `TwoBoneError`."""

    begun: Begun
    timer: bpy.types.Timer
    renamed: Sequence[Renamed] = ()
    """Stored chains that were given a name of their own for this; they get it back where nothing comes of it."""

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Bake at once: for scripts, and for the redo panel."""
        bring_up_to_date()
        follow_selection(context.view_layer)
        try:
            begun = self.begin(context)
            report = at_once(begun.steps)
        except TwoBoneError as error:
            return self.ask_again(self._sentence(context, error))
        self.refusal = ""
        return self._done(context, begun, report)

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Bake at once if that is quick, else begin to show progress."""
        follow_selection(context.view_layer)
        try:
            self.begun = self.begin(context)
            report = self.begun.work(PATIENCE_IN_SECONDS)
        except TwoBoneError as error:
            return self.ask_to_correct(context, self._sentence(context, error))
        if report is not None:
            return self._done(context, self.begun, report)
        self.timer = context.window_manager.event_timer_add(SLICE_IN_SECONDS, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Go on, or stop at Esc."""
        if event.type == "ESC":
            report = self.begun.stop()
            self._clean_up(context)
            if report is not None:
                return self._done(context, self.begun, report)
            name_back(self.renamed)
            self.report({"INFO"}, pgettext_rpt("Bake cancelled, nothing was changed"))
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        try:
            report = self.begun.work(SLICE_IN_SECONDS)
        except TwoBoneError as error:
            self._clean_up(context)
            return refuse(self, self._sentence(context, error))
        if report is not None:
            self._clean_up(context)
            return self._done(context, self.begun, report)
        context.workspace.status_text_set(pgettext_iface("Baking {part}   |   Esc: Cancel").format(part=f"{self.begun.part:.0%}"))
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender ends it, as when a file is loaded."""
        self.begun.steps.close()
        name_back(self.renamed)
        self._clean_up(context)

    def settle(self, _report: BakeReport) -> None:
        """What else to leave behind once the keys are written; nothing as a rule."""

    def explain(self, _context: bpy.types.Context, error: TwoBoneError) -> str:
        """The sentence that says what is wrong."""
        return str(error)

    def _sentence(self, context: bpy.types.Context, error: TwoBoneError) -> str:
        sentence = self.explain(context, error)
        name_back(self.renamed)
        return sentence

    def _done(self, context: bpy.types.Context, begun: Begun, report: BakeReport) -> set[str]:
        self.settle(report)
        keep_report(context, report, begun.keepers)
        write_animated_values()
        redraw_viewports(context.window_manager)
        self.report({"INFO" if report.is_as_asked else "WARNING"}, report.sentence(pgettext_rpt))
        return {"FINISHED"}

    def _clean_up(self, context: bpy.types.Context) -> None:
        context.window_manager.event_timer_remove(self.timer)
        if context.workspace is not None:
            context.workspace.status_text_set(None)


def keep_report(context: bpy.types.Context, report: BakeReport, keepers: list[str]) -> None:
    """Leave the report on the window manager, and each chain's own on the stored chain it came from."""
    context.window_manager.twobone_report = report.to_json()
    if not keepers:  # Nor has every report something to keep: planted feet and contacts tell of a whole character.
        return
    for keeper, chain, entry in zip(keepers, report.chains, report.entries, strict=True):
        stored = bpy.data.objects[chain.armature].twobone.chains.get(keeper) if keeper else None
        if stored is not None:
            stored.report = json.dumps(entry.to_dict())
            _turn_to_pose(stored)


def _turn_to_pose(chain: StoredChain) -> None:
    """In the plane of the pose the other side is the pose's own once it is baked: a second bake must not take it back."""
    is_flipped = (chain.plane, chain.bend, chain.influence) == ("POSE", "NEGATIVE", 1.0)
    if is_flipped and not keyed_settings(chain):
        chain.bend = "POSITIVE"
