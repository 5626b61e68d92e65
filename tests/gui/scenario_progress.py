"""Esc at about a tenth, half and nine tenths of a long bake, and of Plant Feet: before the keys are written all is as it was.

While Blender verifies them the keys stay, and it is said that they are not verified. Left alone, a bake gets done.
Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import json
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.gui.noticing import differences, state
from tests.leg_scene import leg_with_target
from tests.tasks.rigs.walker import Walk, build_walker

LONG = 120
STEPS = 120
"""Frames of the walk."""

PATIENCE = 3000
"""Looks at the work until it is where Esc is to be pressed."""

ONE_STEP = 1e-4
"""Seconds of work between two looks at the keyboard: enough for a few frames, as where each takes its time."""

PARTS = {"bake": (0.1, 0.5, 0.9), "plant": (0.1, 0.5, 0.88)}
"""Where Esc is pressed before the keys are written; planting's last step begins at 0.88."""
FRAME_BEFORE = 7

at_work, waits_at = None, None
"""The task that is going on, or went on last, and where it waits for Esc."""


def prepare():
    bpy.data.batch_remove(list(bpy.data.objects))
    rig, target = leg_with_target()
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target = "Leg", "upper", "lower", target
    chain.plane, chain.bend, chain.evaluation = "XZ", "POSITIVE", "SCENE"
    rig.twobone.show_path = False
    bpy.context.scene.frame_set(FRAME_BEFORE)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.ed.undo_push(message="Leg made")


def prepare_walk():
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.data.batch_remove([*bpy.data.objects, *bpy.data.actions])
    rig, _ = build_walker(Walk(slide=0.02, frames=STEPS))
    for chain in rig.twobone.chains:
        chain.limb = "LEG"
    rig.select_set(state=True)
    bpy.context.view_layer.objects.active = rig
    bpy.context.scene.frame_set(FRAME_BEFORE)
    bpy.ops.ed.undo_push(message="Walker made")


def work_step_by_step():
    """Let a task that is to be stopped go on a few frames at a time, and wait where Esc is to be pressed."""
    begun = module("running.progress").Begun
    work = begun.work

    def slowly(self, seconds):
        global at_work  # noqa: PLW0603 - the scenario looks at it
        at_work = self
        if waits_at is None:
            return work(self, seconds)
        return None if waits_at(self) else work(self, ONE_STEP)

    begun.work = slowly


def module(name):
    return next(found for path, found in sys.modules.items() if path.endswith(f"twobone_addon.interface.{name}"))


def is_verifying(task):
    return type(task.part).__name__ == "Verifying"


def is_busy(user):
    return any(operator.bl_idname.startswith("TWOBONE_OT") for operator in user.window.modal_operators)


def escaped(user, button, is_there, name):
    """Press the button, and Esc as soon as the work is there."""
    global waits_at  # noqa: PLW0603 - the work looks at it
    waits_at = is_there
    yield from user.click(*button)
    for _ in range(PATIENCE):
        yield 1
        if at_work is not None and is_busy(user) and is_there(at_work):
            break
    assert is_busy(user), f"{name}: it was done before it could be stopped"
    yield from user.picture(f"{name}_at_work")
    yield from user.press("ESC")
    yield from user.wait(5)
    waits_at = None
    assert not is_busy(user), f"{name}: Esc does not stop it"
    yield from user.picture(f"{name}_after_esc")


def stopped_everywhere(user, button, name, owner):
    before = state()
    for part in PARTS[name]:
        yield from escaped(user, button, lambda task, part=part: task.part >= part - 0.01, f"{name}_{part:.0%}")
        assert not is_verifying(at_work), f"{name} is verified before {part:.0%} are done"
        assert not differences(before), f"{name} stopped at {part:.0%} has changed something"
        assert (yield from user.told())[-1] == "Cancelled, nothing was changed"
    yield from escaped(user, button, is_verifying, f"{name}_verifying")
    yield from stays_unverified(user, before, owner)


def stays_unverified(user, before, owner):
    """The keys are there, and it is said that nobody has looked at them; one Ctrl-Z takes all back."""
    told = (yield from user.told())[-1]
    assert "not verified" in told, told
    thing = bpy.data.objects[owner]
    assert thing.animation_data.action is not None
    assert (json.loads(thing.twobone.planted)["sentence"] if thing.twobone.planted else told) == told
    assert differences(before)
    yield from user.hover("WINDOW")
    yield from user.press("Z", ctrl=True)
    yield from user.wait(15)
    assert not differences(before), "one Ctrl-Z does not undo all"


def scenario(user):
    work_step_by_step()
    yield from user.look_from("FRONT")
    yield from user.open_sidebar("Two-Bone IK")
    bake = yield from user.find_button("bpy.ops.twobone.bake")
    bpy.context.scene.frame_end = LONG
    bpy.ops.ed.undo_push(message="Shot made longer")
    yield from stopped_everywhere(user, bake, "bake", "Rig")

    yield from user.click(*bake)
    for _ in range(PATIENCE):
        yield
        if not is_busy(user):
            break
    assert bpy.data.objects["Rig"].animation_data is not None, "the bake did not get done"
    assert bpy.context.scene.frame_current == FRAME_BEFORE

    prepare_walk()
    yield from user.wait(10)
    plant = yield from user.find_button("bpy.ops.twobone.plant")
    yield from stopped_everywhere(user, plant, "plant", "Walker")


install_zip()
prepare()
play(scenario)
