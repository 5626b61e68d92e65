"""Operators that run on in a window, played event by event: progress that Esc stops."""

import json
from types import SimpleNamespace

import bpy
import pytest

from tests.interface.recording import Acting, Windows, event, sidebar
from tests.tasks.checks.file_dump import differences, dump_file
from twobone_addon.interface.operators.bake import TWOBONE_OT_bake_all
from twobone_addon.interface.running import progress
from twobone_addon.interface.running.progress import ShowsProgress


@pytest.fixture
def slow(monkeypatch):
    """Every look at the clock says that time is up, after one bit of work."""
    monkeypatch.setattr(progress, "PATIENCE_IN_SECONDS", 1e-9)
    monkeypatch.setattr(progress, "SLICE_IN_SECONDS", 1e-3)


@pytest.fixture
def baking(leg_in_scene):
    """Bake All in a window, and the window's context."""
    said = []
    operator = Acting(
        TWOBONE_OT_bake_all,
        scope="ACTIVE",
        last_wins=False,
        actions="ACTIVE",
        report=lambda kinds, text: said.append((kinds, text)),
        said=said,
        properties=SimpleNamespace(),
    )
    return operator, sidebar(window_manager=Windows())


def run_to_the_end(operator, context):
    for _ in range(1000):
        ended = ShowsProgress.modal(operator, context, event("TIMER"))
        if ended != {"RUNNING_MODAL"}:
            return ended
        assert context.workspace.status.startswith(("Baking ", "Verifying "))
    raise AssertionError("it never ends")


def test_a_quick_bake_is_done_at_once(baking, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE_IN_SECONDS", 60.0)  # However busy the computer is.
    operator, context = baking
    assert ShowsProgress.invoke(operator, context, None) == {"FINISHED"}
    assert context.window_manager.running == context.window_manager.timers == []
    assert context.window_manager.redrawn, "what is keyed is seen at once, also after a call from a menu"


def test_a_slow_bake_shows_progress_until_it_is_done(baking, slow):
    operator, context = baking
    assert ShowsProgress.invoke(operator, context, None) == {"RUNNING_MODAL"}
    assert ShowsProgress.modal(operator, context, event("MOUSEMOVE")) == {"RUNNING_MODAL"}
    assert run_to_the_end(operator, context) == {"FINISHED"}
    assert json.loads(bpy.context.window_manager.twobone_report)["frames"] == 40
    assert context.workspace.status is None
    assert context.window_manager.timers == []


@pytest.mark.parametrize("end", ["esc", "file loaded"])
def test_stopped_in_the_middle_nothing_has_changed(baking, slow, end):
    operator, context = baking
    before = dump_file()
    ShowsProgress.invoke(operator, context, None)
    if end == "esc":
        assert ShowsProgress.modal(operator, context, event("ESC")) == {"CANCELLED"}
        assert operator.said == [({"INFO"}, "Cancelled, nothing was changed")]
    else:
        ShowsProgress.cancel(operator, context)
    assert differences(before, dump_file()) == []
    assert context.window_manager.timers == []


def test_stopped_during_the_proof_the_keys_stay(baking, slow):
    operator, context = baking
    ShowsProgress.invoke(operator, context, None)
    while bpy.data.objects["Rig"].animation_data is None:
        ShowsProgress.modal(operator, context, event("TIMER"))
    assert context.workspace.status.endswith("Esc: Skip"), "what is keyed stays, so nothing is cancelled any more"
    assert ShowsProgress.modal(operator, context, event("ESC")) == {"FINISHED"}
    assert operator.said[-1][1].endswith("; not verified")
    assert json.loads(bpy.context.window_manager.twobone_report)["max_error"] is None


def test_a_window_closed_during_the_proof_leaves_the_keys_and_one_step_to_undo(baking, slow):
    operator, context = baking
    bpy.ops.ed.undo_push(message="Made")
    ShowsProgress.invoke(operator, context, None)
    while bpy.data.objects["Rig"].animation_data is None:
        ShowsProgress.modal(operator, context, event("TIMER"))
    ShowsProgress.cancel(operator, context)
    assert operator.said[-1][1].endswith("; not verified")
    bpy.ops.ed.undo()
    assert bpy.data.objects["Rig"].animation_data is None
    bpy.ops.ed.redo()
    assert bpy.data.objects["Rig"].animation_data.action


@pytest.mark.parametrize("end", ["esc", "timer", "window closed"])
def test_a_scene_removed_during_the_proof_ends_it_with_a_sentence(baking, slow, end):
    operator, context = baking
    bpy.data.objects["Rig"].twobone.chains[0].evaluation = "SCENE"
    ShowsProgress.invoke(operator, context, None)
    while bpy.data.objects["Rig"].animation_data is None:
        ShowsProgress.modal(operator, context, event("TIMER"))
    other = bpy.data.scenes.new("Other")
    bpy.data.scenes.remove(bpy.context.scene)
    bpy.context.window.scene = context.scene = other
    if end == "window closed":
        ShowsProgress.cancel(operator, context)
    else:
        assert ShowsProgress.modal(operator, context, event(end.upper())) == {"CANCELLED"}
        assert "was removed meanwhile" in operator.said[-1][1]
    assert context.window_manager.timers == []


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_what_is_refused_leaves_one_sentence_and_no_timer(baking, slow, leg_in_scene, when, monkeypatch):
    operator, context = baking
    if when == "before":
        monkeypatch.setattr(progress, "PATIENCE_IN_SECONDS", 60.0)
        leg_in_scene.twobone.chains[0].target = None
        assert ShowsProgress.invoke(operator, context, None) == {"CANCELLED"}
    else:
        leg_in_scene.scale = (1, 1, 1)
        leg_in_scene.keyframe_insert("scale", frame=1)
        leg_in_scene.scale = (0, 0, 0)
        leg_in_scene.keyframe_insert("scale", frame=40)
        ShowsProgress.invoke(operator, context, None)
        assert run_to_the_end(operator, context) == {"CANCELLED"}
    ((kinds, sentence),) = operator.said
    assert kinds == {"ERROR"}
    assert sentence.startswith('Chain "Leg" of "Rig": No target' if when == "before" else 'Armature "Rig" has zero scale')
    assert context.window_manager.timers == []


def test_a_dialog_that_asked_for_other_settings_is_closed_without_a_word(baking, leg_in_scene):
    operator, context = baking
    leg_in_scene.twobone.chains[0].target = None
    assert ShowsProgress.invoke(operator, context, None) == {"CANCELLED"}
    ShowsProgress.cancel(operator, context)
    assert context.window_manager.timers == []
