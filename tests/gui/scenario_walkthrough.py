"""The documentation's first bake, whose pictures are taken here: a character's leg, whose target leaves its reach at the end.

The page quotes what the status bar says. Started by test_window.py inside a Blender with a window; the zip and the folder for
pictures follow ``--``.
"""

import json
import re
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))

import walker

from tests.gui.driver import install_zip, play

PAGE = Path(__file__).resolve().parents[2] / "docs" / "first_bake.md"
FRAMES = 48
WAY = ((1, (0.1, 0.35, 0.3)), (20, (0.1, -0.05, 0.14)), (34, (0.1, -0.45, 0.35)), (FRAMES, (0.1, -1.0, 0.7)))
"""Frame and place of the target. The leg, 0.91 long, hangs from (0.1, 0, 1), so the last place is out of reach."""


def prepare():
    bpy.data.batch_remove(list(bpy.data.objects))
    character = walker.make_skeleton("Walker", 1.0)
    walker.dress(character)
    character.show_in_front = True
    bpy.context.view_layer.objects.active = character
    character.select_set(state=True)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, FRAMES
    bpy.ops.object.mode_set(mode="POSE")
    for bone in character.pose.bones:
        holder = bone if hasattr(bone, "select") else bone.bone
        holder.select = bone.name == "shin.L"
    character.data.bones.active = character.data.bones["shin.L"]


def scenario(user):
    yield from user.look_from("RIGHT")
    view = user.area().spaces.active.region_3d
    view.view_distance *= 1.1  # all of the way is to be in sight, and none of it under the sidebar
    view.view_location.y += 0.3
    yield from user.open_sidebar("Two-Bone IK")
    yield from user.picture("first_bake_start")

    yield from user.click(*(yield from user.find_button("bpy.ops.twobone.add_target")))
    yield from user.wait(10)
    (target,) = [thing for thing in bpy.data.objects if thing.type == "EMPTY"]
    target.empty_display_size = 0.15
    yield from user.picture("first_bake_target")

    for frame, place in WAY:
        target.location = place
        target.keyframe_insert("location", frame=frame)
    manager = bpy.context.window_manager
    before = manager.twobone_report
    yield from user.click(*(yield from user.find_button("bpy.ops.twobone.bake")))
    for _ in range(20):
        if manager.twobone_report != before:
            break
        yield from user.wait(10)
    (quoted,) = re.findall(r"^    (\S+ on target in .+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    said = json.loads(manager.twobone_report)["sentence"]
    assert said == quoted, said
    bpy.context.scene.frame_set(16)
    yield from user.wait(60)
    frames_out_of_reach = yield from user.find_button("bpy.ops.twobone.jump_to_frame")  # Scrolls to it.
    yield from user.picture("first_bake_end")

    yield from user.click(*frames_out_of_reach)
    yield from user.wait(40)
    left = bpy.context.scene.frame_current
    assert 34 < left <= FRAMES, f"pressing the frames that were out of reach goes to frame {left}"
    bpy.context.scene.frame_set(FRAMES)
    yield from user.wait(40)
    yield from user.picture("first_bake_out_of_reach")


install_zip()
prepare()
play(scenario, is_documented=True)
