"""An animator asks whether two clips are fine: the worse one comes first, and a click plays it where it is worst.

Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import json
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.tasks.rigs.walker import Walk, build_walker


def prepare():
    bpy.data.batch_remove(list(bpy.data.objects))
    skating, _ = build_walker(Walk(slide=0.06))
    skates = skating.animation_data.action
    skates.name = "Skates"
    bpy.data.objects.remove(skating)
    walker, _ = build_walker(Walk())
    walker.animation_data.action.name = "Walks"
    for action in bpy.data.actions:
        action.use_fake_user = True
    bpy.context.view_layer.objects.active = walker
    walker.select_set(state=True)
    for limb in walker.twobone.chains:
        limb.limb = "LEG"
    bpy.ops.object.mode_set(mode="POSE")
    unfold(bpy.types.TWOBONE_PT_audit)
    bpy.ops.ed.undo_push(message="Walker made")


def unfold(panel):
    """As if it had been opened by hand, of which Blender tells no script the place."""
    bpy.utils.unregister_class(panel)
    panel.bl_options = set()
    bpy.utils.register_class(panel)


def scenario(user):
    yield from user.look_from("RIGHT")
    yield from user.open_sidebar("Two-Bone IK")
    yield from user.scroll("UI", "PAGE_DOWN")
    yield from user.click(*(yield from user.find_button('bpy.ops.twobone.audit(actions="ALL")')))
    for _ in range(1000):
        yield
        if bpy.context.window_manager.twobone_audit:
            break
    yield from user.wait(20)
    yield from user.scroll("UI", "PAGE_DOWN")
    yield from user.wait(10)
    yield from user.picture("audited")
    first, second = json.loads(bpy.context.window_manager.twobone_audit)["clips"]
    assert (first["action"], first["is_fine"]) == ("Skates", False)
    assert (second["action"], second["is_fine"]) == ("Walks", True)
    assert bpy.data.objects["Walker"].animation_data.action.name == "Walks"
    yield from user.click(*(yield from user.find_button("bpy.ops.twobone.audit_show")))
    yield from user.wait(10)
    assert bpy.data.objects["Walker"].animation_data.action.name == "Skates"
    assert bpy.context.scene.frame_current == int(first["worst_frame"])
    yield from user.picture("the_worst_frame")


install_zip()
prepare()
play(scenario)
