"""Dragging a chain with the mouse, played event by event."""

from types import SimpleNamespace

import bpy
import pytest
from mathutils import Matrix, Vector

from tests.interface.acting import joints_world
from tests.interface.recording import Acting, Layout, Windows, event, sidebar
from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.rigs.switched_leg import switched_leg
from tests.tasks.scenes import add_empty
from twobone_addon.interface.live.drag import TWOBONE_OT_drag
from twobone_addon.interface.live.gizmos import BESIDE, TWOBONE_GGT_chain
from twobone_addon.scene.live.marks import can_go_live

SIZE = 400
"""Pixels of the square viewport that dragging sees, `WIDTH` units wide."""

WIDTH = 4.0


def right_view():
    """What a viewport tells of itself that looks at the plane YZ from the right, straight."""
    view = Matrix(((0, 1, 0, 0), (0, 0, 1, 0), (1, 0, 0, -10), (0, 0, 0, 1)))
    shrink = Matrix.Diagonal((2 / WIDTH, 2 / WIDTH, -0.01, 1))
    return SimpleNamespace(
        view_matrix=view, perspective_matrix=shrink @ view, is_perspective=False, view_perspective="ORTHO",
        window_matrix=shrink,
    )  # fmt: skip


def viewport(view=None):
    return SimpleNamespace(type="WINDOW", x=CORNER[0], y=CORNER[1], width=SIZE, height=SIZE, data=view or right_view())


def sidebar_region():
    """A sidebar over the right tenth of the viewport."""
    return SimpleNamespace(type="UI", x=CORNER[0] + SIZE - SIZE // 10, y=CORNER[1], width=SIZE // 10, height=SIZE)


CORNER = (70, 30)
"""Where the viewport begins in the window."""


def pixels(y, z, **held):
    """Where the mouse is over a place, and the keys that are held."""
    places = (corner + SIZE * (0.5 + part / WIDTH) for corner, part in zip(CORNER, (y, z), strict=True))
    keys = dict.fromkeys(("shift", "alt", "ctrl"), False)
    return {**dict(zip(("mouse_x", "mouse_y"), places, strict=True)), **keys, **held}


@pytest.fixture
def dragging(leg_in_scene):
    said = []
    operator = Acting(TWOBONE_OT_drag, report=lambda kinds, text: said.append((kinds, text)), said=said)
    context = sidebar(
        window_manager=Windows(), area=SimpleNamespace(type="VIEW_3D", regions=[sidebar_region(), viewport()]),
    )  # fmt: skip
    return operator, context


def begin(operator, context, kind="LEFTMOUSE", value="RELEASE"):
    """Take hold with the mouse exactly over the tip."""
    tip = joints_world(bpy.data.objects["Rig"], "upper", "lower")[2]
    assert TWOBONE_OT_drag.invoke(operator, context, event(kind, value, **pixels(*tip.yz))) == {"RUNNING_MODAL"}
    header = SimpleNamespace(layout=Layout())
    context.workspace.status(header, context)
    assert header.layout.texts() == ["Confirm", "Cancel", "Flip Bend", "Precision Mode", "Navigate"]


def drag_to(operator, context, y, z, **held):
    assert TWOBONE_OT_drag.modal(operator, context, event("MOUSEMOVE", **pixels(y, z, **held))) == {"RUNNING_MODAL"}
    bpy.context.view_layer.update()
    return joints_world(bpy.data.objects["Rig"], "upper", "lower")


def test_the_tip_moves_with_the_mouse_from_where_it_is(leg_in_scene, dragging):
    begin(*dragging)
    for y, z in ((0.6, 0.2), (-0.3, 0.4)):
        tip = drag_to(*dragging, y, z)[2]
        assert (tip.yz - Vector((y, z))).length < 1e-5
    assert TWOBONE_OT_drag.modal(*dragging, event("LEFTMOUSE", **pixels(0, 0))) == {"FINISHED"}
    assert dragging[1].workspace.status is None
    assert leg_in_scene.animation_data is None


def test_it_does_not_jump_to_the_mouse_that_began_elsewhere(leg_in_scene, dragging):
    operator, context = dragging
    tip = joints_world(leg_in_scene, "upper", "lower")[2]
    TWOBONE_OT_drag.invoke(operator, context, event("LEFTMOUSE", "RELEASE", **pixels(1.5, 1.2)))
    assert (drag_to(*dragging, 1.5, 1.2)[2] - tip).length < 1e-5
    assert (drag_to(*dragging, 1.6, 1.4)[2] - tip - Vector((0, 0.1, 0.2))).length < 1e-5
    slowly = drag_to(*dragging, 1.6, 1.5, shift=True)[2]
    assert (slowly - tip - Vector((0, 0.1, 0.21))).length < 1e-5


@pytest.mark.parametrize("plane", ["REST", "POLE"])
def test_planes_that_turn_with_the_target_let_the_tip_go_anywhere_as_with_g(leg_in_scene, dragging, plane):
    chain = leg_in_scene.twobone.chains[0]
    chain.pole = add_empty("Pole")
    chain.pole.location, chain.plane = (0.3, -3, 1), plane
    front = Matrix(((1, 0, 0, 0), (0, 0, 1, 0), (0, -1, 0, -10), (0, 0, 0, 1)))
    view = right_view()
    view.view_matrix, view.perspective_matrix = front, view.window_matrix @ front
    dragging[1].area.regions[1].data = view
    tip = joints_world(leg_in_scene, "upper", "lower")[2]
    TWOBONE_OT_drag.invoke(*dragging, event("LEFTMOUSE", "RELEASE", **pixels(0, 0)))
    moved = drag_to(*dragging, 0.2, 0.3)[2]
    assert (moved - tip - Vector((0.2, 0, 0.3))).length < 1e-5


def test_a_plane_that_is_seen_from_its_edge_is_not_left_and_nothing_flies_away(leg_in_scene, dragging):
    front = Matrix(((1, 0, 0, 0), (0, 0, 1, 0), (0, -1, 0, -10), (0, 0, 0, 1)))
    view = right_view()
    view.view_matrix, view.perspective_matrix = front, view.window_matrix @ front
    dragging[1].area.regions[1].data = view
    tip = joints_world(leg_in_scene, "upper", "lower")[2]
    TWOBONE_OT_drag.invoke(*dragging, event("LEFTMOUSE", "RELEASE", **pixels(0, 0)))
    assert (drag_to(*dragging, 0.4, 0.3)[2] - tip - Vector((0, 0, 0.3))).length < 1e-5


@pytest.mark.parametrize("kind, held", [("MIDDLEMOUSE", {}), ("LEFTMOUSE", {"alt": True}), ("WHEELUPMOUSE", {"alt": True})])
def test_the_view_can_be_turned_meanwhile_and_the_tip_stays(leg_in_scene, dragging, kind, held):
    begin(*dragging)
    tip = drag_to(*dragging, 0.6, 0.2)[2]
    assert TWOBONE_OT_drag.modal(*dragging, event(kind, **pixels(0.6, 0.2, **held))) == {"PASS_THROUGH"}
    assert (drag_to(*dragging, -1.0, 1.0)[2] - tip).length < 1e-5
    assert (drag_to(*dragging, -1.1, 1.0)[2] - tip - Vector((0, -0.1, 0))).length < 1e-5


def test_a_drag_from_the_button_counts_from_the_first_move_inside_the_viewport(leg_in_scene, dragging):
    operator, context = dragging
    before = joints_world(leg_in_scene, "upper", "lower")[2].copy()
    over_button = pixels(1.9, 1.0)
    assert TWOBONE_OT_drag.invoke(operator, context, event("LEFTMOUSE", "RELEASE", **over_button)) == {"RUNNING_MODAL"}
    for y in (1.85, 1.0):
        assert (drag_to(*dragging, y, 1.0)[2] - before).length < 1e-5, "it jumps on the way from the button"
    moved = drag_to(*dragging, 0.9, 1.2)[2] - before
    assert (moved.yz - Vector((-0.1, 0.2))).length < 1e-5


def test_in_quad_view_the_viewport_under_the_mouse_counts(leg_in_scene, dragging):
    operator, context = dragging
    other = viewport()
    other.x += SIZE
    other.data.window_matrix = Matrix.Diagonal((4 / WIDTH, 4 / WIDTH, -0.01, 1))
    other.data.perspective_matrix = other.data.window_matrix @ other.data.view_matrix
    context.area.regions.append(other)
    tip = joints_world(leg_in_scene, "upper", "lower")[2]
    begun, moved = pixels(0, 0), pixels(0.4, 0)
    for places in (begun, moved):
        places["mouse_x"] += SIZE
    TWOBONE_OT_drag.invoke(operator, context, event("LEFTMOUSE", "RELEASE", **begun))
    TWOBONE_OT_drag.modal(operator, context, event("MOUSEMOVE", **moved))
    bpy.context.view_layer.update()
    assert (joints_world(leg_in_scene, "upper", "lower")[2] - tip - Vector((0, 0.2, 0))).length < 1e-5


def test_a_drag_that_began_with_a_held_button_ends_where_it_is_let_go(leg_in_scene, dragging):
    begin(*dragging, value="PRESS")
    drag_to(*dragging, 0.6, 0.2)
    assert TWOBONE_OT_drag.modal(*dragging, event("LEFTMOUSE", "RELEASE", **pixels(0.6, 0.2))) == {"FINISHED"}


@pytest.mark.parametrize("kind", ["WHEELUPMOUSE", "F"])
def test_a_flip_bends_it_to_the_other_side_and_is_the_chains_side_afterwards(leg_in_scene, dragging, kind):
    begin(*dragging)
    root, knee, tip = drag_to(*dragging, 0.6, 0.2)
    side = (tip - root).cross(knee - root).x
    assert TWOBONE_OT_drag.modal(*dragging, event(kind, **pixels(0.6, 0.2))) == {"RUNNING_MODAL"}
    bpy.context.view_layer.update()
    root, knee, tip = joints_world(leg_in_scene, "upper", "lower")
    assert (tip - root).cross(knee - root).x * side < 0
    assert leg_in_scene.twobone.chains[0].bend == "POSITIVE"
    TWOBONE_OT_drag.modal(*dragging, event("LEFTMOUSE", **pixels(0.6, 0.2)))
    assert leg_in_scene.twobone.chains[0].bend == "NEGATIVE"


@pytest.mark.parametrize("end", ["ESC", "RIGHTMOUSE"])
def test_cancelled_the_pose_is_as_before(leg_in_scene, dragging, end):
    before = dump_file()
    begin(*dragging)
    drag_to(*dragging, 0.6, 0.2)
    TWOBONE_OT_drag.modal(*dragging, event("F", **pixels(0.6, 0.2)))
    assert TWOBONE_OT_drag.modal(*dragging, event("A", **pixels(0, 0))) == {"RUNNING_MODAL"}
    assert TWOBONE_OT_drag.modal(*dragging, event(end, **pixels(0, 0))) == {"CANCELLED"}
    bpy.context.view_layer.update()
    assert differences(before, dump_file()) == []


def test_auto_keying_keys_what_was_dragged(leg_in_scene, dragging):
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    begin(*dragging)
    drag_to(*dragging, 0.6, 0.2)
    TWOBONE_OT_drag.modal(*dragging, event("RET", **pixels(0, 0)))
    assert leg_in_scene.animation_data is not None


def test_what_disappears_meanwhile_ends_it(leg_in_scene, dragging):
    begin(*dragging)
    bpy.data.objects.remove(leg_in_scene)
    assert TWOBONE_OT_drag.modal(*dragging, event("MOUSEMOVE", **pixels(0, 0))) == {"CANCELLED"}
    TWOBONE_OT_drag.cancel(*dragging)
    assert dragging[1].workspace.status is None


def test_outside_a_viewport_it_says_where_to_start(dragging):
    operator, context = dragging
    context.area = None
    assert TWOBONE_OT_drag.invoke(operator, context, event("LEFTMOUSE", **pixels(0, 0))) == {"CANCELLED"}
    assert operator.said == [({"ERROR"}, "Dragging only works in a 3D Viewport. Run it from there.")]


class Handle(SimpleNamespace):
    """Stands in for a gizmo, which only a window makes."""

    def target_set_operator(self, name):
        self.operator = name


def handles(context):
    group = Acting(TWOBONE_GGT_chain, gizmos=SimpleNamespace(new=lambda _kind: Handle(hide=False)))
    TWOBONE_GGT_chain.setup(group, context)
    TWOBONE_GGT_chain.draw_prepare(group, context)
    return group


def test_handles_stand_right_of_tip_and_knee(leg_in_scene, dragging):
    _, context = dragging
    context.region, context.region_data = viewport(), right_view()
    group = handles(context)
    assert (group.tip.operator, group.knee.operator) == ("twobone.drag", "twobone.flip")
    _, knee, tip = joints_world(leg_in_scene, "upper", "lower")
    aside = Vector((0, BESIDE * WIDTH / SIZE, 0))
    for handle, joint in ((group.tip, tip), (group.knee, knee)):
        assert (handle.matrix_basis.translation - joint - aside).length < 1e-5


def test_handles_that_would_do_nothing_are_hidden(leg_in_scene, dragging):
    _, context = dragging
    context.region, context.region_data = viewport(), right_view()
    chain = leg_in_scene.twobone.chains[0]
    chain.bend = "KEEP"
    assert (handles(context).tip.hide, handles(context).knee.hide) == (False, True)
    chain.bend = "POSITIVE"
    if can_go_live():
        bpy.ops.twobone.live(state="ON")
        assert (handles(context).tip.hide, handles(context).knee.hide) == (True, False)
        bpy.ops.twobone.live(state="OFF")
    chain.lower = "gone"
    assert (handles(context).tip.hide, handles(context).knee.hide) == (True, True)
    assert TWOBONE_GGT_chain.poll(sidebar(space_data=None))
    leg_in_scene.twobone.show_gizmos = False
    assert not TWOBONE_GGT_chain.poll(sidebar(space_data=None))


def test_a_click_without_a_move_changes_nothing_and_leaves_no_undo_step(leg_in_scene, dragging):
    before = dump_file()
    begin(*dragging, value="PRESS")
    assert TWOBONE_OT_drag.modal(*dragging, event("LEFTMOUSE", "RELEASE", **pixels(0, 0))) == {"CANCELLED"}
    assert differences(before, dump_file()) == []


def test_a_limb_that_is_seen_on_ik_is_not_dragged_where_nobody_sees_it(empty_file):
    rig = switched_leg()
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower = "Leg", "thigh_fk", "shin_fk"
    bpy.context.view_layer.objects.active = rig
    said = []
    operator = Acting(TWOBONE_OT_drag, report=lambda kinds, text: said.append((kinds, text)))
    context = sidebar(
        window_manager=Windows(), area=SimpleNamespace(type="VIEW_3D", regions=[sidebar_region(), viewport()]),
    )  # fmt: skip
    before = dump_file()
    assert TWOBONE_OT_drag.invoke(operator, context, event("LEFTMOUSE", "PRESS", **pixels(0, 0))) == {"CANCELLED"}
    ((kinds, text),) = said
    assert kinds == {"ERROR"}
    assert 'The visible limb ("shin_def") does not follow bone "shin_fk"' in text
    assert not differences(before, dump_file())
