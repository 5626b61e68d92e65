"""An animator finds contacts, leaves one out with its tick, and plants the walk: the redo panel with the rest folded, the
result in the sidebar, and a click to a frame.

Then a bake without a target: one sentence with a button that adds one, by which the limb does not move.

Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import json
import re
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.tasks.rigs.walker import Walk, build_walker

AT_EDGE = 0.06
"""Part of a row's width where its tick is."""


def prepare():
    bpy.data.batch_remove(list(bpy.data.objects))
    armature, _ = build_walker(Walk(slide=0.02))
    bpy.context.view_layer.objects.active = armature
    armature.select_set(state=True)
    for limb in armature.twobone.chains:
        limb.limb = "LEG"
    armature.twobone.active_index = 0
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.ed.undo_push(message="Walker made")


def is_at_work(user):
    return any(operator.bl_idname.startswith("TWOBONE_OT") for operator in user.window.modal_operators)


def scenario(user):
    walker = bpy.data.objects["Walker"]
    yield from user.look_from("FRONT")
    yield from user.open_sidebar("Two-Bone IK")
    yield from user.picture("before_planting")
    left_out = yield from contacts(user)
    yield from user.click(*(yield from user.find_button("bpy.ops.twobone.plant")))
    for _ in range(2000):
        yield
        if bpy.data.objects["Walker"].twobone.planted and not is_at_work(user):
            break
    yield from user.wait(20)
    yield from user.picture("planted")
    assert bpy.data.objects["Walker"].twobone.planted, "planting left no result"
    planted = json.loads(bpy.data.objects["Walker"].twobone.planted)["contacts"]
    assert planted
    assert left_out not in [(each["chain"], each["first"], each["last"]) for each in planted], "the tick was not honoured"
    region = user.region("HUD")
    yield from user.click(region.x + 16, region.y + region.height - 12)
    yield from user.wait(10)
    yield from user.picture("planting_redo")
    yield from choose_all_actions(user)
    region = user.region("HUD")
    yield from user.click(region.x + 16, region.y + region.height - 12)
    yield from user.scroll("UI", "PAGE_DOWN")
    yield from user.wait(10)
    jump = yield from user.find_button("bpy.ops.twobone.jump_to_frame")
    bpy.context.scene.frame_set(55)
    yield from user.click(*jump)
    yield from user.wait(5)
    assert bpy.context.scene.frame_current != 55, "the click does not go to the contact's frame"
    yield from user.picture("at_the_contact")

    yield from user.scroll("UI", "PAGE_UP")
    yield from user.click(*(yield from user.find_button("bpy.ops.twobone.bake()")))
    yield from user.wait(10)
    yield from user.picture("no_target")
    yield from user.press("ESC")
    yield from user.wait(5)
    with bpy.context.temp_override(window=user.window, area=user.area(), region=user.region("UI")):
        bpy.ops.twobone.add_target(stored="leg.L")
    yield from user.wait(10)
    walker = bpy.data.objects["Walker"]
    chain = walker.twobone.chains[walker.twobone.active_index]
    assert chain.target is not None
    assert chain.target.animation_data is not None, "the target of a leg that walks has no motion"
    yield from user.picture("target_with_motion")


def contacts(user):
    """Find contacts, go to the first of the list with a click, and take its tick away; chain, first and last frame."""
    with user.panel_alone("TWOBONE_PT_contacts") as tab:
        yield from user.open_sidebar(tab)
        yield from user.click(*(yield from user.find_button("bpy.ops.twobone.find_contacts(")))
        for _ in range(2000):
            yield
            if not is_at_work(user):
                break
        yield from user.wait(10)
        yield from user.picture("contacts")
        tick = yield from user.find_button("bpy.ops.twobone.contact_tick(", AT_EDGE)
        said = bpy.context.window_manager.clipboard
        assert "stands=False" in said
        frames = {name: float(re.search(rf"{name}=([-\d.]+)", said)[1]) for name in ("first", "last")}
        row = yield from user.find_button("bpy.ops.twobone.jump_to_frame(")
        bpy.context.scene.frame_set(55)
        yield from user.click(*row)
        yield from user.wait(5)
        assert bpy.context.scene.frame_current == frames["first"], "the click does not go to the contact"
        yield from user.click(*tick)
        yield from user.wait(5)
        yield from user.picture("contact_left_out")
        # Its button now offers to put the tick back.
        yield from user.find_button("bpy.ops.twobone.contact_tick(", AT_EDGE)
        assert "stands=False" not in bpy.context.window_manager.clipboard
    yield from user.open_sidebar("Two-Bone IK")
    return re.search("chain=['\"](.*?)['\"]", said)[1], frames["first"], frames["last"]


def choose_all_actions(user):
    """Turn the wheel over the list of actions, the first row of the redo panel, and turn it back."""
    for wheel, actions in (("WHEELDOWNMOUSE", "ALL"), ("WHEELUPMOUSE", "ACTIVE")):
        region = user.region("HUD")
        yield from user.move(region.x + 0.7 * region.width, region.y + region.height - 45)
        yield from user.press(wheel, ctrl=True)
        yield from user.wait(60)
        last = bpy.context.window_manager.operators[-1]
        assert (last.bl_idname, last.actions) == ("TWOBONE_OT_plant", actions)
        yield from user.picture(f"planting_{actions.lower()}")


install_zip()
prepare()
play(scenario)
