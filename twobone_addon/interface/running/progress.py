"""Operators that run at once if that is quick, and otherwise in steps with progress in the status bar and Esc to cancel."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import bpy
from bpy.app.translations import pgettext_iface, pgettext_rpt

from ...desk.kept import NOT_VERIFIED, keep
from ...desk.meant import Meant, Renamed, name_back, names_apart
from ...errors import ObjectError, TwoBoneError
from ...pipeline.plan.stored import active_armature
from ...pipeline.report.reports import BakeReport
from ...scene.sampling.stepping import Steps, Verifying, at_once
from ...settings.tasks import Table
from ..refusing import CanBeCorrected, can_ask, refuse
from ..stored.option_properties import show_listed
from ..stored.selecting import follow_selection
from ..stored.where import redraw_viewports

PATIENCE_IN_SECONDS = 0.15
"""Seconds of work before progress is shown; a shorter delay goes unnoticed."""

SLICE_IN_SECONDS = 0.05
"""Seconds of work between two checks of the keyboard."""

VERIFYING = "Verifying {part}   |   Esc: Skip"
"""Status bar text once everything is written."""


@dataclass(slots=True)
class Begun:
    """A bake in progress."""

    request: Meant
    steps: Steps[BakeReport]
    part: float = 0.0
    """Progress, from 0 to 1."""
    report: BakeReport | None = None
    """The report, once all is done."""
    since: float = field(default_factory=time.perf_counter)
    """When it began, in seconds of the computer's clock."""

    @property
    def progress(self) -> str:
        """The part done and the seconds that it has taken, for the status bar."""
        return f"{self.part:.0%}, {time.perf_counter() - self.since:.0f} s"

    def work(self, seconds: float) -> BakeReport | None:
        """Work for this long; return the report if that was enough. Raises a `TwoBoneError`."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            try:
                self.part = next(self.steps)
            except StopIteration as done:
                self.report = done.value
                return self.report
        return None

    def stop(self) -> BakeReport | None:
        """Stop the bake: return `None` if nothing has changed, or an unverified report if the keys are already written."""
        from ...pipeline.run import SkipCheckError

        try:
            self.steps.throw(SkipCheckError())
        except SkipCheckError:
            return None
        except StopIteration as done:
            return done.value
        return None


class SwitchesFirst:
    """Mixin for operators of tasks that are refused for limbs on IK: both in one step, all or nothing."""

    switch_first: bpy.props.BoolProperty(
        name="Switch to FK First",
        description="Switch limbs that IK poses to FK before, with their motion",
        options={"HIDDEN", "SKIP_SAVE"},
    )


class ShowsProgress(CanBeCorrected):
    """Mixin for operators whose `requested(context)` returns what is meant, a `Meant`, or raises a `TwoBoneError`."""

    table: Table
    """Option table of the task, with the text of its progress."""
    begun: Begun
    timer: bpy.types.Timer | None = None
    """Timer of the modal operator; `None` while nothing runs, such as while the dialog after a refusal is open."""
    has_panel = False
    """Whether the result stays in a panel of its own."""
    scene_name: str
    """Name of the scene in which the operator began; from another window it can be removed meanwhile."""
    renamed: Sequence[Renamed] = ()
    """Stored chains that were renamed to be unique; they get their old names back if nothing comes of the request."""

    def begin(self, context: bpy.types.Context) -> Begun:
        """Begin what is requested; raises a `TwoBoneError`."""
        from ...desk.doing import done_in_steps

        self.renamed = names_apart(context.scene)
        request = self.requested(context)
        return Begun(request, done_in_steps(context.scene, request, switch_first=getattr(self, "switch_first", False)))

    def requested(self, context: bpy.types.Context) -> Meant:
        """Return what is meant by the operator's settings and the selection; raises a `TwoBoneError`."""
        raise NotImplementedError

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Run without interruption, for scripts and for the redo panel."""
        from ...scene.restoring import bring_up_to_date

        bring_up_to_date()
        show_listed(self.properties)
        follow_selection(context.view_layer)
        try:
            with self._restoring_names():
                begun = self.begin(context)
                if self._is_slow_from_dialog(context, begun):
                    begun.steps.close()
                    name_back(self.renamed)
                    self.begin_anew()
                    return {"CANCELLED"}
                report = begun.report if begun.report is not None else at_once(begun.steps)
        except TwoBoneError as error:
            return self.ask_again(error.sentence)
        self.refusal = None
        return self._done(context, begun, report)

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Run at once if that is quick, otherwise continue as a modal operator with progress."""
        from ...scene.lookup import forget_known

        forget_known()
        show_listed(self.properties)
        if self.late is not None:
            return self.ask_to_correct(context, self.late)
        follow_selection(context.view_layer)
        try:
            with self._restoring_names():
                self.begun = self.begin(context)
                report = self.begun.work(PATIENCE_IN_SECONDS)
        except TwoBoneError as error:
            return self.ask_to_correct(context, error.sentence)
        if report is not None:
            return self._done(context, self.begun, report)
        self.scene_name = context.scene.name
        self.timer = context.window_manager.event_timer_add(SLICE_IN_SECONDS, window=context.window)
        context.window_manager.modal_handler_add(self)
        self._show_part(context)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Continue at each timer event; stop at Esc."""
        if self.scene_name not in bpy.data.scenes:
            self._give_up(context)
            error = ObjectError('Scene "{scene}" was removed meanwhile. Begin again in another one.', scene=self.scene_name)
            return refuse(self, error.sentence)
        if event.type == "ESC":
            ended = self._stopped(context)
            if ended is None:
                self.report({"INFO"}, pgettext_rpt("Cancelled, nothing was changed"))
            return ended or {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        try:
            with self._restoring_names():
                report = self.begun.work(SLICE_IN_SECONDS)
        except TwoBoneError as error:
            self._clean_up(context)
            return self.ask_late(context, error.sentence)
        if report is not None:
            self._clean_up(context)
            return self._done(context, self.begun, report)
        self._show_part(context)
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Stop as Esc does when Blender cancels the operator, such as when its window is closed; nothing for a closed dialog."""
        if self.timer is None:
            return
        if self.scene_name not in bpy.data.scenes:
            self._give_up(context)
        elif self._stopped(context) == {"FINISHED"}:
            bpy.ops.ed.undo_push(message=self.bl_label)  # Blender makes no step for what it cancels.

    def _is_slow_from_dialog(self, context: bpy.types.Context, begun: Begun) -> bool:
        """Whether this try from the dialog is not done at once: begun anew by an event, it shows its progress and can be stopped.

        What has written its keys by then is ended as it is.
        """
        if self.refusal is None or self.asks_more or not can_ask(context):
            return False
        return begun.work(PATIENCE_IN_SECONDS) is None and not isinstance(begun.part, Verifying)

    def settle(self, _report: BakeReport, _said: str) -> None:
        """Do further work once the keys are written, given the sentence shown; nothing by default."""

    def _stopped(self, context: bpy.types.Context) -> set[str] | None:
        """Stop: `None` if nothing has changed, or how the operator ends if the keys are already written."""
        report = self.begun.stop()
        if report is None:
            self._give_up(context)
            return None
        self._clean_up(context)
        return self._done(context, self.begun, report, is_verified=False)

    def _give_up(self, context: bpy.types.Context) -> None:
        """End without a report."""
        self.begun.steps.close()
        name_back(self.renamed)
        self._clean_up(context)

    @contextmanager
    def _restoring_names(self) -> Iterator[None]:
        """Restore the old names of the `renamed` chains if the block raises anything."""
        is_done = False
        try:
            yield
            is_done = True
        finally:
            if not is_done:
                name_back(self.renamed)

    def _done(self, context: bpy.types.Context, begun: Begun, report: BakeReport, *, is_verified: bool = True) -> set[str]:
        ending = "" if is_verified else f"; {NOT_VERIFIED.text(pgettext_rpt)}"
        text = report.says.text(pgettext_rpt) + ending
        self.settle(report, text)
        keep(context, begun.request, report, is_verified=is_verified)
        redraw_viewports(context.window_manager)
        self.report({"INFO" if report.is_as_asked else "WARNING"}, shortened(text, ending) if can_ask(context) else text)
        if not begun.request.is_written(report):
            name_back(self.renamed)
        if not report.is_changed:
            return {"CANCELLED"}  # Without changes there must be no undo step.
        armature = active_armature(context) if can_ask(context) and "UNDO" in self.bl_options else None
        if armature is not None and armature.type == "ARMATURE" and armature.is_editable:
            is_kept = report.IS_KEPT or not report.is_as_asked or len(text) > LONGEST
            shown = text if is_kept and not (self.has_panel or any(begun.request.keepers)) else ""
            if armature.twobone.said != shown:
                armature.twobone.said = shown
        return {"FINISHED"}

    def _show_part(self, context: bpy.types.Context) -> None:
        text = pgettext_iface(VERIFYING if isinstance(self.begun.part, Verifying) else self.table.progress)
        context.workspace.status_text_set(text.format(part=self.begun.progress))

    def _clean_up(self, context: bpy.types.Context) -> None:
        context.window_manager.event_timer_remove(self.timer)
        self.timer = None
        if context.workspace is not None:
            context.workspace.status_text_set(None)


LONGEST = 120
"""Maximum number of characters of a result in the status bar; panels show all of it."""


def shortened(text: str, ending: str = "") -> str:
    """Truncate a sentence, whose worst parts come first, after the last part that fits the status bar; its `ending` stays."""
    if len(text) <= LONGEST:
        return text
    room = LONGEST - len(ending)
    end = max(text.rfind(mark, 0, room - 1) for mark in ("; ", ". ", ", ", ": "))
    return text[: end if end > 0 else room - 2].rstrip() + " \u2026" + ending
