"""The same buttons from other places: quad view, a pie menu, Menu Search, the Object menu, presets, and a second window.

Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import sys
from pathlib import Path

import bpy
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.gui.noticing import differences, state
from tests.gui.walking import LONG, prepare_walk

CLOSE = 1e-5
PIXELS = 2.0


class TWOBONE_MT_own_pie(bpy.types.Menu):  # noqa: N801 - as Blender asks for
    """A pie menu as an animator makes one"""

    bl_label = "Own Pie"

    def draw(self, _context):
        pie = self.layout.menu_pie()
        for operator in ("twobone.drag", "twobone.nudge"):  # To the left, and to the right.
            pie.operator(operator)


def prepare():
    prepare_walk(24)
    bpy.utils.register_class(TWOBONE_MT_own_pie)
    bpy.ops.ed.undo_push(message="Made")


def tip():
    rig = bpy.data.objects["Walker"].evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(rig.matrix_world @ rig.pose.bones["foot.L"].head)


def running(user):
    return [operator.bl_idname for window in bpy.context.window_manager.windows for operator in window.modal_operators]


def at(region, point):
    """Where in the window a point is seen in a region."""
    seen = location_3d_to_region_2d(region, region.data, point)
    return region.x + seen.x, region.y + seen.y


def scenario(user):
    yield from user.look_from("RIGHT")
    yield from user.open_sidebar("Two-Bone IK")
    yield from user.wait(10)
    for part in (quad_view, pie_menu, menu_search, object_menu, presets, two_in_pose_mode, hidden, appended):
        yield from leaves_all_as_it_was(user, part)
    yield from linked(user)
    prepare_walk(LONG)
    bpy.ops.ed.undo_push(message="Made longer")
    yield from user.wait(10)
    yield from leaves_all_as_it_was(user, second_window)


def leaves_all_as_it_was(user, part):
    before = state()
    yield from part(user)
    yield from user.wait(5)
    assert not running(user), (part.__name__, running(user))
    assert not differences(before), (part.__name__, differences(before)[:4])


def quad_view(user):
    """Drag and Nudge follow the mouse in whichever of the four views they begin."""
    user.area().spaces.active.show_region_ui = False
    yield from user.hover("WINDOW")
    yield from user.press("Q", ctrl=True, alt=True)
    yield from user.wait(10)
    views = [region for region in user.area().regions if region.type == "WINDOW" and region.width > 1]
    assert len(views) == 4
    yield from user.picture("quad_view")
    for operator in ("drag", "nudge"):
        for view in views[-1:]:  # The last one is the view as it was.
            before, (x, y) = tip(), at(view, tip())
            yield from user.move(x, y)
            with bpy.context.temp_override(window=user.window, area=user.area(), region=view):
                getattr(bpy.ops.twobone, operator)("INVOKE_DEFAULT", True)  # noqa: FBT003 - as a click would
            yield from user.wait(2)
            yield from user.move(x + 12, y + 8)
            yield from user.wait(4)
            seen = at(view, tip())
            assert np.abs(np.subtract(seen, (x + 12, y + 8))).max() < PIXELS, (operator, seen, (x, y))
            yield from user.press("ESC")
            yield from user.wait(3)
            assert np.abs(tip() - before).max() < CLOSE, operator
    yield from user.hover("WINDOW")
    yield from user.press("Q", ctrl=True, alt=True)
    yield from user.wait(10)
    yield from user.open_sidebar("Two-Bone IK")


def pie_menu(user):
    """Begun from a pie menu, Drag and Nudge wait for a click instead of ending with the one that chose them."""
    for side, name in ((-1, "TWOBONE_OT_drag"), (1, "TWOBONE_OT_nudge")):
        before = tip()
        yield from user.hover("WINDOW")
        x, y = user.place
        with bpy.context.temp_override(window=user.window, area=user.area(), region=user.region("WINDOW")):
            bpy.ops.wm.call_menu_pie("INVOKE_DEFAULT", name="TWOBONE_MT_own_pie")
        yield from user.wait(15)
        yield from user.move(x + 60 * side, y)
        yield from user.wait(5)
        yield from user.picture(f"pie_{name.lower()}")
        yield from user.press("LEFTMOUSE")
        yield from user.wait(5)
        assert name in running(user), (name, running(user))
        yield from user.move(x + 60 * side + 20, y + 20)
        yield from user.wait(3)
        assert np.abs(tip() - before).max() > 1e-3, f"{name}: nothing follows the mouse"
        yield from user.press("ESC")
        yield from user.wait(3)


def type_words(user, words):
    x, y = user.place
    for letter in words:
        key = "SPACE" if letter == " " else letter.upper()
        user.window.event_simulate(key, "PRESS", x=x, y=y, unicode=letter)
        yield
        user.window.event_simulate(key, "RELEASE", x=x, y=y)
        yield


def menu_search(user):
    """F3, some words, Enter."""
    yield from user.hover("WINDOW")
    yield from user.press("F3")
    yield from user.wait(8)
    yield from type_words(user, "set up limbs")
    yield from user.wait(8)
    yield from user.picture("menu_search")
    yield from user.press("RET")
    yield from user.wait(20)
    walker = bpy.data.objects["Walker"]
    assert all(chain.target is not None for chain in walker.twobone.chains), [c.name for c in walker.twobone.chains]
    yield from user.press("Z", ctrl=True)
    yield from user.wait(10)


def object_menu(user):
    """In Object Mode: the menu of objects, its submenu, and what it bakes; one Ctrl-Z takes it back."""
    yield from user.hover("WINDOW")
    before = state()
    with bpy.context.temp_override(window=user.window, area=user.area(), region=user.region("WINDOW")):
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.ops.ed.undo_push(message="Object Mode")
        bpy.ops.wm.call_menu("INVOKE_DEFAULT", name="TWOBONE_MT_pose")
    yield from user.wait(8)
    yield from user.picture("object_menu")
    yield from type_words(user, "b")
    yield from user.wait(20)
    yield from user.picture("object_menu_baked")
    chains = bpy.data.objects["Walker"].twobone.chains
    assert any(chain.report for chain in chains), "nothing was baked"
    yield from user.hover("WINDOW")
    for _ in range(2):
        yield from user.press("Z", ctrl=True)
        yield from user.wait(10)
    if bpy.context.mode != "POSE":
        yield from user.press("Z", ctrl=True)
        yield from user.wait(10)
    assert not differences(before), differences(before)[:4]


def presets(user):
    """A click on a preset in its popover changes the active chain, and one Ctrl-Z takes it back."""
    chain = bpy.data.objects["Walker"].twobone.chains[0]
    before, plane = state(), chain.plane
    yield from user.hover("WINDOW")
    x, y = user.place
    with bpy.context.temp_override(window=user.window, area=user.area(), region=user.region("UI")):
        bpy.ops.wm.call_panel("INVOKE_DEFAULT", name="TWOBONE_PT_presets")
    yield from user.wait(8)
    yield from user.picture("presets")
    yield from user.press("LEFTMOUSE")
    yield from user.wait(10)
    yield from user.picture("preset_chosen")
    yield from user.move(x - 300, y + 200)
    yield from user.press("ESC")
    yield from user.wait(5)
    assert differences(before), f"no preset was applied to a chain in plane {plane}"
    yield from user.hover("WINDOW")
    yield from user.press("Z", ctrl=True)
    yield from user.wait(10)


def press_bake_all(user):
    """Click it, with the mouse back over the viewport at the end."""
    yield from user.open_sidebar("Two-Bone IK")
    yield from user.click(*(yield from user.find_button("bpy.ops.twobone.bake_all(")))
    yield from user.wait(20)
    yield from user.hover("WINDOW")


def undo(user, times):
    for _ in range(times):
        yield from user.press("Z", ctrl=True)
        yield from user.wait(10)


def baked(name):
    return [chain.name for chain in bpy.data.objects[name].twobone.chains if chain.report]


def two_in_pose_mode(user):
    """Of two characters in Pose Mode the active one is baked, and both stay in it."""
    bpy.ops.object.mode_set(mode="OBJECT")
    other = bpy.data.objects["Walker"].copy()
    bpy.context.scene.collection.objects.link(other)
    other.name, other.location.x = "Other", 1.0
    other.animation_data.action = other.animation_data.action.copy()
    other.select_set(state=True)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.ed.undo_push(message="Two in Pose Mode")
    yield from press_bake_all(user)
    yield from user.picture("two_in_pose_mode")
    assert baked("Walker")
    assert not baked("Other")
    assert [bpy.data.objects[name].mode for name in ("Walker", "Other")] == ["POSE", "POSE"]
    yield from undo(user, 2)


def hidden(user):
    """A target in a collection that is hidden and locked is followed, and stays there."""
    (target,) = {chain.target for chain in bpy.data.objects["Walker"].twobone.chains if chain.target is not None}
    away, scene = bpy.data.collections.new("Away"), bpy.context.scene.collection
    scene.children.link(away)
    for holder in target.users_collection:
        holder.objects.unlink(target)
    away.objects.link(target)
    away.hide_select = bpy.context.view_layer.layer_collection.children["Away"].hide_viewport = True
    bpy.ops.ed.undo_push(message="Hidden")
    yield from press_bake_all(user)
    yield from user.picture("hidden_target")
    assert baked("Walker")
    layer = bpy.context.view_layer.layer_collection.children["Away"]
    assert (layer.hide_viewport, layer.collection.hide_select) == (True, True)
    yield from undo(user, 2)


def appended(user):
    """An appended character brings its chains, and is baked."""
    path = str(user.pictures / "character.blend")
    bpy.data.libraries.write(path, {bpy.data.objects["Walker"]})
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.wm.append(directory=f"{path}/Object/", filename="Walker", autoselect=True)
    (rig,) = [thing for thing in bpy.context.selected_objects if thing.type == "ARMATURE"]
    bpy.context.view_layer.objects.active = rig
    bpy.ops.ed.undo_push(message="Appended")
    name = rig.name
    assert name != "Walker"
    yield from press_bake_all(user)
    yield from user.picture("appended")
    assert baked(name)
    assert not baked("Walker")
    yield from undo(user, 2)


def linked(user):
    """A linked character is refused in a dialog that names it and the way out; nothing changes."""
    path, walker = str(user.pictures / "guest.blend"), bpy.data.objects["Walker"]
    walker.name = "Guest"
    bpy.data.libraries.write(path, {walker})
    walker.name = "Walker"
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.wm.link(directory=f"{path}/Object/", filename="Guest", autoselect=True)
    bpy.context.view_layer.objects.active = bpy.data.objects["Guest"]
    bpy.ops.ed.undo_push(message="Linked")
    before = state()
    print("was to be said: is linked from", flush=True)
    yield from press_bake_all(user)
    yield from user.picture("linked")
    yield from user.press("ESC")
    yield from user.wait(10)
    assert not running(user), running(user)
    assert not differences(before), differences(before)[:4]


def second_window(user):
    """Nudge in a second window; closing it while feet are planted is Esc: all is as it was, or planted and undone by one step."""
    first = user.window
    bpy.ops.wm.window_new()
    yield from user.wait(20)
    second = next(window for window in bpy.context.window_manager.windows if window != first)
    user.window = second
    yield from user.wait(10)
    if not any(area.type == "VIEW_3D" for area in second.screen.areas):
        second.screen.areas[0].type = "VIEW_3D"
        yield from user.wait(10)
    yield from user.look_from("RIGHT")
    yield from user.open_sidebar("Two-Bone IK")
    yield from user.wait(10)
    yield from user.picture("second_window")
    before = tip()
    yield from user.move(*user.place_of(before))
    with bpy.context.temp_override(window=second, area=user.area(), region=user.region("WINDOW")):
        bpy.ops.twobone.nudge("INVOKE_DEFAULT", True)  # noqa: FBT003 - as a click would
    yield from user.wait(3)
    yield from user.move(user.place[0] + 20, user.place[1] + 10)
    yield from user.wait(3)
    assert np.abs(tip() - before).max() > 1e-3, "in a second window nothing follows the mouse"
    yield from user.press("ESC")
    yield from user.wait(3)
    unplanted = state()
    with bpy.context.temp_override(window=second, area=user.area(), region=user.region("UI")):
        begun = bpy.ops.twobone.plant("INVOKE_DEFAULT", True)  # noqa: FBT003 - as a click would
    assert begun == {"RUNNING_MODAL"}, "planting had ended before its window closed"
    with bpy.context.temp_override(window=second):
        bpy.ops.wm.window_close()
    user.window = first
    yield from user.wait(10)
    if differences(unplanted):
        yield from user.hover("WINDOW")
        yield from user.press("Z", ctrl=True)
        yield from user.wait(10)


install_zip()
prepare()
play(scenario)
