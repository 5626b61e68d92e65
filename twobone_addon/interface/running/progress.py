"""Bakes in a window: at once where that is quick, else bit by bit with progress in the status bar, until Esc."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import bpy
from bpy.app.translations import pgettext_iface, pgettext_rpt

from ...errors import TwoBoneError
from ...pipeline.plan.completing import FLIPPED
from ...pipeline.report.reports import BakeReport
from ...pipeline.run import SkipCheckError
from ...said import Sentence
from ...scene.restoring import bring_up_to_date, write_animated_values
from ...scene.sampling.stepping import Steps, Verifying, at_once
from ...settings.tasks import Table
from ..refusing import refuse
from ..stored.option_properties import show_listed
from ..stored.selecting import follow_selection
from ..stored.storing import Renamed, keyed_settings, name_back
from ..stored.where import active_armature, redraw_viewports
from .correcting import CanBeCorrected, can_ask

PATIENCE_IN_SECONDS = 0.15
"""A bake that is done by then needs no progress: nobody has noticed that it took time."""

SLICE_IN_SECONDS = 0.05
"""Work between two looks at the keyboard."""

VERIFYING = "Verifying {part}   |   Esc: Skip"
"""What the status bar says once everything is written."""


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

    table: Table
    """Of the task; its words say what is going on."""
    begun: Begun
    timer: bpy.types.Timer | None = None
    """Looks at the keyboard; `None` where there is nothing to stop, as while a dialog says why it was refused."""
    has_panel = False
    """Whether the result stays in a panel of its own."""
    renamed: Sequence[Renamed] = ()
    """Stored chains that were given a name of their own for this; they get it back where nothing comes of it."""

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Bake at once: for scripts, and for the redo panel."""
        bring_up_to_date()
        show_listed(self.properties)
        follow_selection(context.view_layer)
        try:
            with self._names_given_back():
                begun = self.begin(context)
                report = at_once(begun.steps)
        except TwoBoneError as error:
            return self.ask_again(self.explain(context, error))
        self.refusal = None
        return self._done(context, begun, report)

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Bake at once if that is quick, else begin to show progress."""
        show_listed(self.properties)
        follow_selection(context.view_layer)
        try:
            with self._names_given_back():
                self.begun = self.begin(context)
                report = self.begun.work(PATIENCE_IN_SECONDS)
        except TwoBoneError as error:
            return self.ask_to_correct(context, self.explain(context, error))
        if report is not None:
            return self._done(context, self.begun, report)
        self.timer = context.window_manager.event_timer_add(SLICE_IN_SECONDS, window=context.window)
        context.window_manager.modal_handler_add(self)
        self._show_part(context)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Go on, or stop at Esc."""
        if event.type == "ESC":
            report = self.begun.stop()
            self._clean_up(context)
            if report is not None:
                return self._done(context, self.begun, report, is_verified=False)
            name_back(self.renamed)
            self.report({"INFO"}, pgettext_rpt("Cancelled, nothing was changed"))
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        try:
            with self._names_given_back():
                report = self.begun.work(SLICE_IN_SECONDS)
        except TwoBoneError as error:
            self._clean_up(context)
            return refuse(self, self.explain(context, error))
        if report is not None:
            self._clean_up(context)
            return self._done(context, self.begun, report)
        self._show_part(context)
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender ends it, as when a file is loaded; or a dialog is closed that has asked for other settings."""
        if self.timer is None:
            return
        self.begun.steps.close()
        name_back(self.renamed)
        self._clean_up(context)

    def settle(self, _report: BakeReport, _said: str) -> None:
        """What else to leave behind once the keys are written, and it was said how that went; usually nothing."""

    def explain(self, _context: bpy.types.Context, error: TwoBoneError) -> Sentence:
        """The sentence that says what is wrong."""
        return error.sentence

    @contextmanager
    def _names_given_back(self) -> Iterator[None]:
        """Where a block does not come to its end, for whatever reason, chains have the names that they had."""
        is_done = False
        try:
            yield
            is_done = True
        finally:
            if not is_done:
                name_back(self.renamed)

    def _done(self, context: bpy.types.Context, begun: Begun, report: BakeReport, *, is_verified: bool = True) -> set[str]:
        said = (
            report.sentence(pgettext_rpt) if is_verified else f"{report.sentence(pgettext_rpt)}; {pgettext_rpt('not verified')}"
        )
        self.settle(report, said)
        keep_report(context, report, begun.keepers)
        write_animated_values()
        redraw_viewports(context.window_manager)
        self.report({"INFO" if report.is_as_asked else "WARNING"}, shortened(said) if can_ask(context) else said)
        if not getattr(report, "is_changed", True):
            return {"CANCELLED"}  # there is no step to undo
        armature = active_armature(context) if can_ask(context) and "UNDO" in self.bl_options else None
        if armature is not None and armature.type == "ARMATURE" and armature.is_editable:
            to_read = not report.is_as_asked or len(said) > LONGEST
            armature.twobone.said = said if to_read and not (self.has_panel or any(begun.keepers)) else ""
        return {"FINISHED"}

    def _show_part(self, context: bpy.types.Context) -> None:
        text = pgettext_iface(VERIFYING if isinstance(self.begun.part, Verifying) else self.table.progress)
        context.workspace.status_text_set(text.format(part=f"{self.begun.part:.0%}"))

    def _clean_up(self, context: bpy.types.Context) -> None:
        context.window_manager.event_timer_remove(self.timer)
        self.timer = None
        if context.workspace is not None:
            context.workspace.status_text_set(None)


LONGEST = 120
"""Characters that a status bar shows; panels show all of a result."""


def shortened(text: str) -> str:
    """The parts of a sentence, worst first as they are, that fit the status bar."""
    if len(text) <= LONGEST:
        return text
    end = max(text.rfind(mark, 0, LONGEST - 1) for mark in ("; ", ". ", ", ", ": "))
    return text[: end if end > 0 else LONGEST - 2].rstrip() + " \u2026"


def keep_report(context: bpy.types.Context, report: BakeReport, keepers: list[str]) -> None:
    """Leave the report on the window manager, and each chain's own on the stored chain it came from."""
    context.window_manager.twobone_report = report.to_json()
    if not keepers:  # Nor has every report something to keep: planted feet and contacts tell of a whole character.
        return
    for keeper, chain, entry in zip(keepers, report.chains, report.entries, strict=True):
        stored = bpy.data.objects[chain.armature].twobone.chains.get(keeper) if keeper else None
        if stored is not None:
            # The other side is the pose's own once it is baked: the next bake begins with this pose, and leaves it.
            is_flipped = (stored.plane, stored.bend, stored.influence) == ("POSE", "NEGATIVE", 1.0) and not keyed_settings(stored)
            if is_flipped:
                stored.bend = "POSITIVE"
            told = {**entry.to_dict(), "said": [said.to_dict() for said in chain.notes]}
            stored.report = json.dumps({**told, FLIPPED: True} if is_flipped else told)
