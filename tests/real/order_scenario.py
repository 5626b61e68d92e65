"""Buttons of the panel in both orders on one rig: what must not move does not, and both orders end alike, or say why not.

Started with a rig, a seed, a number of draws and the folder of the rigs made by others. Each draw is a state, reached by some
buttons, and two more buttons that the panel offers there. Says as JSON in its last line what it has seen.
"""

import json
import random
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

import bpy
import numpy as np

from tests.real.generated_rigs import generated_rig, run_and_leave
from tests.tasks.rigs.robot import LAST as ROBOT_LAST
from tests.tasks.rigs.robot import robot
from tests.tasks.rigs.two_legs import legs_on_ik
from tests.tasks.scenes import key_channel, set_range
from twobone_addon import registration

MOVED, TURNED = 0.3e-3 / 1.7, np.radians(0.3)
"""What nobody sees: 0.3 mm on a person of 1.7 m, as a part of the rig's height, and 0.3 degrees."""

ON_TARGET = 1e-3
"""Of the rig's height: a foot that a bake took to its target, whatever was planted or nudged before."""

SHORT = 16
"""Frames of the rigs that take long."""


def human():
    """Rigify's human on IK, which steps and reaches."""
    rig = generated_rig("basic_human")
    set_range(1, SHORT)
    bones = rig.pose.bones
    for frame, x in ((1, 0), (5, -0.15), (9, -0.3), (SHORT, 0)):
        key_channel(bones["foot_ik.L"], "location", {frame: (0, x, 0.05 * (frame % 4))})
        key_channel(bones["torso"], "location", {frame: (0, x / 2, -0.06)})
        key_channel(bones["hand_ik.R"], "location", {frame: (0, x, -x)})
    return rig


def robot_on_ik():
    """A robot whose feet are what the IK of its legs follows."""
    rig = robot()
    set_range(1, ROBOT_LAST)
    return rig


def walking_legs():
    """Two legs on the IK of empties that step."""
    return legs_on_ik(SHORT)


def imported(call, name, frames):
    """A clip as its importer leaves it, in a scene that is longer than the clip."""
    call(filepath=str(Path(sys.argv[4]) / name))
    rig = next(thing for thing in bpy.data.objects if thing.type == "ARMATURE")
    set_range(1, frames)
    return rig


RIGS: dict[str, Callable] = {
    "rigify": human,
    "robot": robot_on_ik,
    "legs": walking_legs,
    "bvh": lambda: imported(bpy.ops.import_anim.bvh, "cmu_02_01_walk.bvh", 60),
    "fbx": lambda: imported(bpy.ops.import_scene.fbx, "ozz_pab_run.fbx", 30),
}
CONTROLS = {"PoleTargetL", "PoleTargetR"}
"""Bones of our own rigs that nobody sees; of Rigify's, those are seen that deform."""


def first_chain(rig):
    """The first stored leg, or limb."""
    chains = sorted(rig.twobone.chains, key=lambda chain: chain.limb != "LEG")
    return chains[0].name if chains else ""


def nudged(rig):
    scene = bpy.context.scene
    middle = round(0.5 * (scene.frame_start + scene.frame_end))
    reach = 0.02 * height_of(rig)
    fade = (scene.frame_end - scene.frame_start) // 4
    return OPERATORS.nudge(armature=rig.name, chain=first_chain(rig), frame=middle, offset=(0, 0, reach), before=fade, after=fade)


OPERATORS = bpy.ops.twobone
BUTTONS: dict[str, Callable] = {
    "set up": lambda rig: OPERATORS.find_limbs(armature=rig.name, targets=True),
    "bake all": lambda _: OPERATORS.bake_all(scope="ACTIVE"),
    "to FK": lambda _: OPERATORS.switch(scope="ACTIVE", to="FK"),
    "to IK": lambda _: OPERATORS.switch(scope="ACTIVE", to="IK"),
    "plant": lambda rig: OPERATORS.plant(armature=rig.name),
    "nudge": nudged,
    "bake target": lambda _: OPERATORS.bake_target(scope="ACTIVE"),
    "convert": lambda rig: OPERATORS.convert_ik(armature=rig.name),
    "fit root": lambda rig: OPERATORS.fit_root(armature=rig.name),
    "clear": lambda rig: OPERATORS.clear_baked(armature=rig.name, scope="ACTIVE"),
}
UNMOVED = {"set up", "to FK", "to IK", "bake target", "convert"}
"""What never moves anything that is seen, whatever was done before."""

CHANGING = {"plant", "nudge", "fit root"}
"""What changes the motion."""

STATES = ((), ("set up",), ("set up", "bake all"), ("set up", "to FK"), ("set up", "to FK", "bake all"))


def height_of(rig):
    heads = np.array([rig.matrix_world @ bone.head_local for bone in rig.data.bones])
    return float(np.ptp(heads, axis=0).max())


def visible(rig):
    """Names of the bones that are looked at."""
    names = [bone.name for bone in rig.data.bones]
    deforming = [name for name in names if name.startswith("DEF-")]
    return deforming or [name for name in names if name not in CONTROLS]


def seen(rig):
    """World matrices of the visible bones at all frames, `(F, B, 4, 4)`."""
    scene, names, found = bpy.context.scene, visible(rig), []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(evaluated.matrix_world @ evaluated.pose.bones[name].matrix) for name in names])
    scene.frame_set(scene.frame_start)
    return np.array(found)


def differences(rig, before, after):
    """What of two motions differs to the eye; empty if nothing."""
    moved = np.linalg.norm(after[..., :3, 3] - before[..., :3, 3], axis=-1) / height_of(rig)
    axes = [matrices[..., :3, :3] / np.linalg.norm(matrices[..., :3, :3], axis=-2, keepdims=True) for matrices in (before, after)]
    # The length of the difference of two axes is the angle between them, as long as that is small.
    turned = np.linalg.norm(axes[1] - axes[0], axis=-2).max(axis=-1)
    if moved.max() <= MOVED and turned.max() <= TURNED:
        return ""
    names, first = visible(rig), bpy.context.scene.frame_start
    frame, bone = np.unravel_index(moved.argmax(), moved.shape)
    other, twisted = np.unravel_index(turned.argmax(), turned.shape)
    return (
        f"{1e3 * 1.7 * moved.max():.1f} mm ({names[bone]}, frame {frame + first}), "
        f"{np.degrees(turned.max()):.1f} degrees ({names[twisted]}, frame {other + first})"
    )


@dataclass
class Pressed:
    """What became of a row of buttons."""

    motion: np.ndarray
    said: list[str] = field(default_factory=list)
    """What each button said, its notes included."""
    refused: list[str] = field(default_factory=list)
    """Buttons that refused."""
    faults: list[str] = field(default_factory=list)


def press(rig, row):
    """Press buttons one after the other, and look whether each leaves what it must leave."""
    first = seen(rig)
    pressed = Pressed(first)
    for place, button in enumerate(row):
        before, wanted = pressed.motion, None
        try:
            outcome = BUTTONS[button](rig)
        except RuntimeError as error:
            if "Traceback" in str(error):
                raise
            pressed.refused.append(button)
            pressed.said.append(f"{button}: {str(error).removeprefix('Error: ').strip()}")
            wanted = before
        else:
            report = json.loads(bpy.context.window_manager.twobone_report)
            notes = " ".join(map(str, report.get("notes", ())))
            chains = report.get("chains")  # A number where keys are cleared.
            of_chains = " ".join(
                str(note) for chain in (chains if isinstance(chains, list) else ()) for note in chain.get("notes", ())
            )
            pressed.said.append(f"{button}: {report['sentence']} {notes} {of_chains}")
            is_changed = not CHANGING.isdisjoint(row[:place])
            if outcome == {"CANCELLED"} or button in UNMOVED or (button == "bake all" and not is_changed):
                wanted = before
            elif button == "clear":
                wanted = first
        pressed.motion = seen(rig)
        moved = differences(rig, wanted, pressed.motion) if wanted is not None else ""
        if moved:
            pressed.faults.append(f"{' > '.join(row[: place + 1])}: moved by {moved}; {pressed.said[-1]}")
    return pressed


def is_offered(button, rig):
    """Whether the panel offers a button: what is about stored limbs needs some."""
    on_limbs = {"bake all", "to FK", "to IK", "nudge", "bake target", "clear"}
    return button not in on_limbs or len(rig.twobone.chains) > 0


EXPLAINING = (
    "nudge", "planting", "planted", "earlier", "replaced", "restored", "removed", "nothing", "cleared", "Clear", "fitted",
    "follow", "first", "already",
)  # fmt: skip
"""Words of the sentences that say why one order ends in another way than the other."""


class Comparison:
    """Both orders of two buttons, on a rig that is made anew for each."""

    def __init__(self, name, folder):
        self.name, self.kept = name, folder / f"{name}.blend"

    def fresh(self):
        """The rig as it is before any button."""
        if not self.kept.exists():
            bpy.ops.wm.read_factory_settings(use_empty=True)
            rig = RIGS[self.name]()
            for thing in bpy.context.view_layer.objects:
                thing.select_set(state=thing == rig)
            bpy.context.view_layer.objects.active = rig
            bpy.context.scene.frame_set(bpy.context.scene.frame_start)
            bpy.ops.wm.save_as_mainfile(filepath=str(self.kept))
        bpy.ops.wm.open_mainfile(filepath=str(self.kept))
        return bpy.context.view_layer.objects.active

    def faults_of(self, state, first, second):
        """What is wrong with two buttons in either order, `None` if the panel does not offer both."""
        orders, rig = [], None
        for pair in ((first, second), (second, first)):
            rig = self.fresh()
            early = press(rig, state)
            if not all(is_offered(button, rig) for button in pair):
                return None
            orders.append(press(rig, pair))
            orders[-1].faults[:0] = early.faults
        faults = [fault for order in orders for fault in order.faults]
        apart = differences(rig, orders[0].motion, orders[1].motion)
        said = " | ".join(text for order in orders for text in order.said)
        if apart and not any(word in said for word in EXPLAINING):
            faults.append(f"{first} and {second} end differently, by {apart}, and nothing says so: {said}")
        return [f"[{self.name}: {' > '.join(state) or 'as opened'}] {fault}" for fault in faults], bool(apart), said


def main():
    registration.register()
    name, seed, draws = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    comparison = Comparison(name, Path(tempfile.mkdtemp()))
    pairs = [(state, a, b) for state in STATES for a in BUTTONS for b in BUTTONS if a < b]
    faults, compared, differing = [], 0, 0
    for state, first, second in random.Random(f"{name} {seed}").sample(pairs, len(pairs)):  # noqa: S311  # drawn cases
        if compared >= draws:
            break
        found = comparison.faults_of(state, first, second)
        if found is None:
            continue
        compared += 1
        differing += found[1]
        faults += found[0]
        print(
            "PAIR",
            name,
            state,
            first,
            "/",
            second,
            "APART" if found[1] else "alike",
            found[2][:600] if found[1] else "",
            flush=True,
        )
        for fault in found[0]:
            print("FAULT", fault, flush=True)
    print(json.dumps({"pairs": compared, "differing": differing, "faults": faults}))


if __name__ == "__main__":
    run_and_leave(main)
