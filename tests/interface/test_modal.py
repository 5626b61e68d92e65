"""Operators that run on in a window, played event by event: progress that Esc stops, and dragging with the mouse."""

import json
from types import SimpleNamespace

import bpy
import pytest
from mathutils import Matrix, Vector

from tests.baking.file_dump import differences, dump_file
from tests.baking.scenes import LEG, add_empty, build_armature
from tests.interface.acting import joints_world
from tests.interface.recording import Acting, Windows, sidebar
from twobone_addon.interface import progress
from twobone_addon.interface.drag import TWOBONE_OT_drag
from twobone_addon.interface.operators import TWOBONE_OT_bake_all
from twobone_addon.interface.progress import ShowsProgress

SIZE = 400
"""Pixels of the square viewport that dragging sees, `WIDTH` units wide."""

WIDTH = 4.0


@pytest.fixture
def leg(empty_file):
    rig = build_armature(LEG)
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target, chain.plane = "Leg", "upper", "lower", add_empty(), "YZ"
    chain.target.location, chain.evaluation = (0.1, 0.5, 0.1), "SCENE"
    bpy.context.scene.frame_end = 40
    bpy.context.view_layer.update()
    return rig


def event(kind, value="PRESS", **more):
    return SimpleNamespace(type=kind, value=value, **more)


@pytest.fixture
def slow(monkeypatch):
    """Every look at the clock says that time is up, after one bit of work."""
    monkeypatch.setattr(progress, "PATIENCE_IN_SECONDS", 1e-9)
    monkeypatch.setattr(progress, "SLICE_IN_SECONDS", 1e-3)


@pytest.fixture
def baking(leg):
    """Bake All in a window, and the window's context."""
    said = []
    operator = Acting(TWOBONE_OT_bake_all, scope="ACTIVE", report=lambda kinds, text: said.append((kinds, text)), said=said)
    return operator, sidebar(window_manager=Windows())


def run_to_the_end(operator, context):
    for _ in range(1000):
        ended = ShowsProgress.modal(operator, context, event("TIMER"))
        if ended != {"RUNNING_MODAL"}:
            return ended
        assert "Esc: Cancel" in context.workspace.status
    raise AssertionError("it never ends")


def test_a_quick_bake_is_done_at_once(baking):
    operator, context = baking
    assert ShowsProgress.invoke(operator, context, None) == {"FINISHED"}
    assert context.window_manager.running == context.window_manager.timers == []


def test_a_slow_bake_shows_progress_until_it_is_done(baking, slow):
    operator, context = baking
    assert ShowsProgress.invoke(operator, context, None) == {"RUNNING_MODAL"}
    assert ShowsProgress.modal(operator, context, event("MOUSEMOVE")) == {"RUNNING_MODAL"}
    assert run_to_the_end(operator, context) == {"FINISHED"}
    assert json.loads(context.window_manager.twobone_report)["frames"] == 40
    assert context.workspace.status is None
    assert context.window_manager.timers == []


@pytest.mark.parametrize("end", ["esc", "file loaded"])
def test_stopped_in_the_middle_nothing_has_changed(baking, slow, end):
    operator, context = baking
    before = dump_file()
    ShowsProgress.invoke(operator, context, None)
    if end == "esc":
        assert ShowsProgress.modal(operator, context, event("ESC")) == {"CANCELLED"}
        assert operator.said == [({"INFO"}, "Bake cancelled, nothing was changed")]
    else:
        ShowsProgress.cancel(operator, context)
    assert differences(before, dump_file()) == []
    assert context.window_manager.timers == []


def test_stopped_during_the_proof_the_keys_stay(baking, slow):
    operator, context = baking
    ShowsProgress.invoke(operator, context, None)
    while bpy.data.objects["Rig"].animation_data is None:
        ShowsProgress.modal(operator, context, event("TIMER"))
    assert ShowsProgress.modal(operator, context, event("ESC")) == {"FINISHED"}
    assert json.loads(context.window_manager.twobone_report)["max_error"] is None


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_what_is_refused_leaves_one_sentence_and_no_timer(baking, slow, leg, when, monkeypatch):
    operator, context = baking
    if when == "before":
        monkeypatch.setattr(progress, "PATIENCE_IN_SECONDS", 60.0)
        leg.twobone.chains[0].target = None
        assert ShowsProgress.invoke(operator, context, None) == {"CANCELLED"}
    else:
        leg.scale = (1, 1, 1)
        leg.keyframe_insert("scale", frame=1)
        leg.scale = (0, 0, 0)
        leg.keyframe_insert("scale", frame=40)
        ShowsProgress.invoke(operator, context, None)
        assert run_to_the_end(operator, context) == {"CANCELLED"}
    ((kinds, sentence),) = operator.said
    assert kinds == {"ERROR"}
    assert sentence.startswith('Chain "Leg" of "Rig": No target' if when == "before" else 'Armature "Rig" is scaled to nothing')
    assert context.window_manager.timers == []


def right_view():
    """What a viewport tells of itself that looks at the plane YZ from the right, straight."""
    view = Matrix(((0, 1, 0, 0), (0, 0, 1, 0), (1, 0, 0, -10), (0, 0, 0, 1)))
    shrink = Matrix.Diagonal((2 / WIDTH, 2 / WIDTH, -0.01, 1))
    return SimpleNamespace(
        view_matrix=view, perspective_matrix=shrink @ view, is_perspective=False, view_perspective="ORTHO",
        window_matrix=shrink,
    )  # fmt: skip


def pixels(y, z):
    return {"mouse_region_x": SIZE * (0.5 + y / WIDTH), "mouse_region_y": SIZE * (0.5 + z / WIDTH)}


@pytest.fixture
def dragging(leg):
    said = []
    operator = Acting(TWOBONE_OT_drag, report=lambda kinds, text: said.append((kinds, text)), said=said)
    context = sidebar(
        window_manager=Windows(), area=SimpleNamespace(type="VIEW_3D"), region=SimpleNamespace(width=SIZE, height=SIZE),
        region_data=right_view(),
    )  # fmt: skip
    return operator, context


def begin(operator, context):
    assert TWOBONE_OT_drag.invoke(operator, context, None) == {"RUNNING_MODAL"}
    assert "Esc" in context.workspace.status


def drag_to(operator, context, y, z):
    assert TWOBONE_OT_drag.modal(operator, context, event("MOUSEMOVE", **pixels(y, z))) == {"RUNNING_MODAL"}
    bpy.context.view_layer.update()
    return joints_world(bpy.data.objects["Rig"], "upper", "lower")


def test_the_tip_is_where_the_mouse_is(leg, dragging):
    begin(*dragging)
    for y, z in ((0.6, 0.2), (-0.3, 0.4)):
        tip = drag_to(*dragging, y, z)[2]
        assert (tip.yz - Vector((y, z))).length < 1e-5
    assert TWOBONE_OT_drag.modal(*dragging, event("LEFTMOUSE")) == {"FINISHED"}
    assert dragging[1].workspace.status is None
    assert leg.animation_data is None


def test_the_wheel_bends_it_to_the_other_side(leg, dragging):
    begin(*dragging)
    root, knee, tip = drag_to(*dragging, 0.6, 0.2)
    side = (tip - root).cross(knee - root).x
    assert TWOBONE_OT_drag.modal(*dragging, event("WHEELUPMOUSE", **pixels(0.6, 0.2))) == {"RUNNING_MODAL"}
    bpy.context.view_layer.update()
    root, knee, tip = joints_world(leg, "upper", "lower")
    assert (tip - root).cross(knee - root).x * side < 0


@pytest.mark.parametrize("end", ["ESC", "RIGHTMOUSE"])
def test_cancelled_the_pose_is_as_before(leg, dragging, end):
    before = dump_file()
    begin(*dragging)
    drag_to(*dragging, 0.6, 0.2)
    assert TWOBONE_OT_drag.modal(*dragging, event("MIDDLEMOUSE")) == {"RUNNING_MODAL"}
    assert TWOBONE_OT_drag.modal(*dragging, event(end)) == {"CANCELLED"}
    bpy.context.view_layer.update()
    assert differences(before, dump_file()) == []


def test_auto_keying_keys_what_was_dragged(leg, dragging):
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    begin(*dragging)
    drag_to(*dragging, 0.6, 0.2)
    TWOBONE_OT_drag.modal(*dragging, event("RET"))
    assert leg.animation_data is not None


def test_what_disappears_meanwhile_ends_it(leg, dragging):
    begin(*dragging)
    bpy.data.objects.remove(leg)
    assert TWOBONE_OT_drag.modal(*dragging, event("MOUSEMOVE", **pixels(0, 0))) == {"CANCELLED"}
    TWOBONE_OT_drag.cancel(*dragging)
    assert dragging[1].workspace.status is None


def test_outside_a_viewport_it_says_where_to_start(dragging):
    operator, context = dragging
    context.area = None
    assert TWOBONE_OT_drag.invoke(operator, context, None) == {"CANCELLED"}
    assert operator.said == [({"ERROR"}, "The mouse can drag in a 3D viewport only. Start it there.")]
