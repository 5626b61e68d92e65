"""Live: the leg follows while G moves its target, scrubbing and playing; Esc and undo bring it back. Drag: so does Esc.

Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import sys
from pathlib import Path

import bpy
from bpy_extras.view3d_utils import region_2d_to_location_3d

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.leg_scene import leg_with_target

CLOSE = 1e-4
PIXEL = 0.02
"""Half a pixel and a little, in the view that the test looks from."""


def prepare():
    bpy.data.batch_remove(list(bpy.data.objects))
    rig, target = leg_with_target()
    target.animation_data_clear()
    target.location = (0.4, 0, 0.9)
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target = "Leg", "upper", "lower", target
    chain.plane, chain.bend = "XZ", "POSITIVE"
    bpy.context.view_layer.objects.active = target
    target.select_set(state=True)
    bpy.ops.ed.undo_push(message="Leg made")


def chain():
    return bpy.data.objects["Rig"].twobone.chains[0]


def tip():
    rig = bpy.data.objects["Rig"].evaluated_get(bpy.context.evaluated_depsgraph_get())
    return rig.matrix_world @ rig.pose.bones["lower"].tail


def miss():
    return (tip() - bpy.data.objects["Target"].matrix_world.translation).length


def live_is_grey(user):
    """The button is grey; what its tooltip says is tested without a window."""
    _, row = yield from user.find_button("bpy.ops.twobone.drag")
    assert not bpy.ops.twobone.live.poll()
    sidebar = user.region("UI")
    yield from user.move(sidebar.x + sidebar.width // 4, row)
    yield from user.wait(30)
    yield from user.picture("live_needs_newer")
    yield from user.hover("WINDOW")


def is_keyed(name):
    data = bpy.data.objects[name].animation_data
    return data is not None and data.action is not None


def middle(user):
    region = user.region("WINDOW")
    return region.x + region.width // 2, region.y + region.height // 2


def scenario(user):
    yield from user.look_from("FRONT")
    yield from user.open_sidebar("Two-Bone IK")
    if hasattr(bpy.types, "GeometryAttributeConstraint"):
        _, row = yield from user.find_button("bpy.ops.twobone.drag")
        sidebar = user.region("UI")
        yield from user.click(sidebar.x + sidebar.width // 4, row)  # Live is the left half of that row
        yield from user.wait(5)
        assert miss() < CLOSE
        yield from move_target(user)
        yield from cancel_a_move(user)
        yield from move_with_auto_keying(user)
        yield from scrub(user)
        yield from play_on(user)
        bpy.ops.twobone.live(state="OFF")
    else:
        yield from live_is_grey(user)
    yield from drag(user)
    yield from handles(user)
    yield from drag_to_the_mouse(user)


def move_target(user):
    x, y = middle(user)
    before = tip()
    yield from user.move(x, y)
    yield from user.press("G")
    yield from user.move(x - 60, y + 40)
    yield from user.wait(3)
    assert miss() < CLOSE, "the leg does not follow while G moves the target"
    assert (tip() - before).length > 0.05, "nothing moved"
    yield from user.picture("live")
    yield from user.press("LEFTMOUSE")
    yield from user.wait(3)
    assert bpy.data.objects["Rig"].animation_data is None, "live left keys"
    yield from user.press("Z", ctrl=True)
    yield from user.wait(5)
    assert (tip() - before).length < CLOSE, "one Ctrl-Z does not bring target and leg back"
    assert bpy.data.objects["Rig"].pose.bones["upper"].constraints, "one Ctrl-Z takes more back than the move"


def cancel_a_move(user):
    x, y = middle(user)
    before = tip()
    yield from user.move(x, y)
    yield from user.press("G")
    yield from user.move(x + 50, y + 30)
    yield from user.wait(3)
    assert (tip() - before).length > 0.05, "the leg does not follow"
    yield from user.press("ESC")
    yield from user.wait(3)
    assert (tip() - before).length < CLOSE, "Esc does not bring the leg back"


def move_with_auto_keying(user):
    """The target alone is keyed, and one Ctrl-Z takes its key and the move back."""
    x, y = middle(user)
    before = tip()
    edit = bpy.context.preferences.edit
    edit.use_auto_keyframe_insert_needed = False  # or 5.2 warns of every channel that has not changed
    edit.use_keyframe_insert_available = False  # or only what is keyed already is keyed
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    bpy.ops.ed.undo_push(message="Auto Keying")
    yield from user.move(x, y)
    yield from user.press("G")
    yield from user.move(x - 40, y + 50)
    yield from user.wait(3)
    yield from user.press("LEFTMOUSE")
    yield from user.wait(3)
    assert is_keyed("Target"), "Auto Keying keyed nothing"
    assert not is_keyed("Rig"), "Auto Keying keyed the leg"
    assert miss() < CLOSE
    yield from user.press("Z", ctrl=True)
    yield from user.wait(5)
    assert not is_keyed("Target"), "one Ctrl-Z leaves the key"
    assert (tip() - before).length < CLOSE, "one Ctrl-Z does not bring target and leg back"
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False


def scrub(user):
    target = bpy.data.objects["Target"]
    for frame, place in ((1, (0.4, 0, 0.9)), (20, (-0.6, 0, 1.2))):
        target.location = place
        target.keyframe_insert("location", frame=frame)
    for frame in (1, 10, 20):
        bpy.context.scene.frame_set(frame)
        yield from user.wait(3)
        assert miss() < CLOSE, f"the leg does not follow at frame {frame}"


def play_on(user):
    """The leg is at its target whenever the window draws a frame that plays."""
    missed, space = {}, bpy.types.SpaceView3D

    def look():
        missed[bpy.context.scene.frame_current] = miss()

    drawing = space.draw_handler_add(look, (), "WINDOW", "POST_VIEW")
    yield from user.hover("WINDOW")
    yield from user.press("SPACE")
    yield from user.wait(40)
    yield from user.press("SPACE")
    yield from user.wait(5)
    space.draw_handler_remove(drawing, "WINDOW")
    assert len(missed) > 3, f"only frames {sorted(missed)} were drawn"
    assert max(missed.values()) < CLOSE, "the leg does not follow while it plays"


def drag(user):
    bpy.context.view_layer.objects.active = bpy.data.objects["Rig"]
    bpy.ops.object.mode_set(mode="POSE")
    x, y = middle(user)
    before = tip()
    for key, moved, target in (("ESC", False, "Target"), ("ESC", False, ""), ("LEFTMOUSE", True, "")):
        chain().target = bpy.data.objects.get(target)
        yield from user.move(x, y)
        yield from start_dragging(user)
        yield from user.move(x + 50, y - 30)
        yield from user.wait(3)
        assert (tip() - before).length > 0.05, "the leg does not follow the mouse"
        assert abs(tip().y) < CLOSE, "the leg leaves its plane"
        yield from user.picture(f"drag_{key.lower()}")
        yield from user.press(key)
        yield from user.wait(3)
        assert ((tip() - before).length > CLOSE) == moved, f"{key} ends dragging in the wrong way"


BESIDE = 26
"""Pixels from a joint to its handle."""


def handles(user):
    """The handle beside the tip drags it while its button is held; the one beside the knee flips; each is one undo step."""
    chain().target = None
    before, side = tip().copy(), chain().bend
    x, y = user.place_of(before)
    yield from user.move(x + BESIDE, y)
    yield from user.wait(10)
    yield from user.picture("handle_of_the_tip")
    yield from user.drag((x + BESIDE, y), (x + BESIDE + 40, y + 30))
    yield from user.wait(10)
    yield from user.picture("handle_dragged")
    assert not is_dragging(user), "letting go does not end it"
    seen = user.place_of(tip())
    assert max(abs(seen[0] - x - 40), abs(seen[1] - y - 30)) <= 2, f"the tip went from {(x, y)} to {seen}"
    x, y = user.place_of(bpy.data.objects["Rig"].pose.bones["lower"].head)
    yield from user.click(x + BESIDE, y)
    yield from user.wait(10)
    assert chain().bend != side, "the handle beside the knee does not flip the bend"
    yield from user.hover("WINDOW")
    for _ in range(2):
        yield from user.press("Z", ctrl=True)
        yield from user.wait(10)
    assert chain().bend == side
    assert (tip() - before).length < CLOSE, "two Ctrl-Z do not undo a drag and a flip"


def start_dragging(user):
    with bpy.context.temp_override(window=user.window, area=user.area(), region=user.region("WINDOW")):
        bpy.ops.twobone.drag("INVOKE_DEFAULT", True)  # noqa: FBT003 - asks for an undo step, as a click would
    yield


def place_in_world(user):
    """Where the mouse points at in the leg's plane, as the viewport has it in Front view."""
    region, view = user.region("WINDOW"), user.area().spaces.active.region_3d
    return region_2d_to_location_3d(region, view, (user.place[0] - region.x, user.place[1] - region.y), (0, 0, 0))


def drag_to_the_mouse(user):
    """Without a target the tip goes with the mouse; the wheel bends the leg to the other side; a file may be loaded."""
    chain().target = None
    x, y = user.place_of(tip())
    yield from user.move(x, y)
    yield from start_dragging(user)
    yield from user.move(x - 20, y + 40)  # towards the hip: a straight leg has no other side
    yield from user.wait(3)
    assert (tip() - place_in_world(user)).length < PIXEL, "the tip is not at the mouse"
    knee = bpy.data.objects["Rig"].pose.bones["lower"].head.copy()
    yield from user.press("WHEELUPMOUSE")
    yield from user.wait(3)
    assert (tip() - place_in_world(user)).length < PIXEL
    assert (bpy.data.objects["Rig"].pose.bones["lower"].head - knee).length > 0.1, "the wheel does not flip the bend"
    assert is_dragging(user)
    bpy.ops.wm.read_homefile("EXEC_DEFAULT", use_empty=True, use_factory_startup=True, load_ui=False)
    yield from user.wait(10)
    user.window = bpy.context.window_manager.windows[0]
    assert not is_dragging(user), "dragging outlives its file"


def is_dragging(user):
    return any(operator.bl_idname == "TWOBONE_OT_drag" for operator in user.window.modal_operators)


install_zip()
prepare()
play(scenario)
