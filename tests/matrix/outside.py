"""States in which motion beside a range comes from more than the keys of one curve: modifiers, extrapolation, strips below."""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import bpy
import numpy as np

from tests.promises.refused_calls import armature
from tests.tasks.scenes import key_channel
from twobone_addon.scene.versions import curve_bag

LAST = 40
"""Last frame of the scene; the files that tasks are tried in have keys on the first few of these."""


def key_frames(curve):
    return [key.co.x for key in curve.keyframe_points]


Chosen = Callable[[bpy.types.Object, bpy.types.FCurve], bool]
"""Which curves a state is about."""


LIMB = {"upper", "lower", "foot", "thigh.L", "shin.L", "foot.L", "thigh.R", "shin.R", "foot.R"}
TARGETS = {"Target", "Target.L"}
TARGET_CONTROLS, CONTROLS = {"Foot.L"}, {"PoleTarget.L", "holder"}
"""Controls of the rig's own IK: the one that its target hangs on, and its pole with the parents of both."""


def bone_of(curve):
    return curve.data_path.split('"')[1] if '"' in curve.data_path else ""


def of_limb(thing, curve):
    return thing == armature() and bone_of(curve) in LIMB


def of_controls(thing, curve):
    return thing == armature() and bone_of(curve) in CONTROLS


def of_target(thing, curve):
    """The object that the limb follows, or the control that its IK does."""
    return thing.name in TARGETS or (thing == armature() and bone_of(curve) in TARGET_CONTROLS)


def of_parent(thing, curve):
    """Bones above the limb, and the armature as an object."""
    return thing == armature() and bone_of(curve) not in LIMB | TARGET_CONTROLS | CONTROLS


def of_all(thing, curve):
    del thing, curve
    return True


WHERE: dict[str, Chosen] = {
    "limb": of_limb, "controls": of_controls, "target": of_target, "parent": of_parent, "everything": of_all,
}  # fmt: skip

PLACES_OF = {
    "bake": ("limb", "target", "parent", "everything"),
    "bake_target": ("limb", "controls", "target", "parent", "everything"),
    "convert_ik": ("limb", "target", "parent", "everything"),
    "switch": ("limb", "controls", "target", "parent", "everything"),
    "nudge": ("limb", "target", "parent", "everything"),
    "plant": ("limb", "parent", "everything"),
    "fit_root": ("limb", "target", "parent", "everything"),
}
"""Where each task's file has motion, or gets some by `key_more`."""


def key_more() -> None:
    """Let the limb, its parent and the rig's controls move, where they have no keys, or a single one."""
    rig = armature()
    keyed = {bone_of(curve) for curve in curve_bag(rig).fcurves}
    for curve in curve_bag(rig).fcurves:
        if len(curve.keyframe_points) == 1:
            curve.keyframe_points.insert(9, curve.keyframe_points[0].co.y + 0.02)
    for bone in rig.pose.bones:
        if bone.name in {"parent"} | TARGET_CONTROLS | CONTROLS and bone.name not in keyed:
            key_channel(bone, "location", {1: (0.0, 0.0, 0.0), 5: (0.02, 0.03, -0.02), 9: (0.0, 0.0, 0.0)})


def chosen_curves(chosen: Chosen):
    for thing in bpy.data.objects:
        bag = curve_bag(thing)
        for curve in list(bag.fcurves) if bag is not None else ():
            is_motion = curve.data_path.rpartition(".")[2].startswith(("location", "rotation", "scale"))
            if is_motion and len(curve.keyframe_points) > 1 and chosen(thing, curve):
                yield thing, bag, curve


def cycled(mode: str, *, before: bool = True, after: bool = True):
    def make(chosen: Chosen) -> None:
        for _, _, curve in chosen_curves(chosen):
            modifier = curve.modifiers.new("CYCLES")
            modifier.mode_before, modifier.mode_after = mode if before else "NONE", mode if after else "NONE"

    return make


def extrapolated(chosen: Chosen) -> None:
    for _, _, curve in chosen_curves(chosen):
        curve.extrapolation = "LINEAR"


def strips_of(thing):
    return [strip for track in thing.animation_data.nla_tracks for strip in track.strips]


def pushed(places, *, repeat: float = 1.0, scale: float = 1.0, keeps: bool = False, extrapolation: str = "HOLD"):
    """The chosen curves play in a strip for each place; where all of an object's are chosen, it has no action left.

    places : `(track, first frame)` of each strip
    keeps : whether the action gets a key of its own for another bone, so that it stays in any case
    """

    def make(chosen: Chosen) -> None:
        moved: dict[bpy.types.Object, set[tuple[str, int]]] = {}
        for thing, _, curve in chosen_curves(chosen):
            moved.setdefault(thing, set()).add((curve.data_path, curve.array_index))
        for thing, channels in moved.items():
            clip = split_off(thing, channels)
            if keeps:
                thing.keyframe_insert("hide_render", frame=3)
            for number, first in places:
                strip = track_of(thing, number).strips.new("clip", first, clip)
                if hasattr(strip, "action_slot"):
                    strip.action_slot = clip.slots[0]
                strip.scale, strip.repeat, strip.extrapolation = scale, repeat, extrapolation

    return make


def split_off(thing, channels):
    """A new action with the curves of these channels, which the object's own one has no more."""
    data = thing.animation_data
    action = data.action
    clip = action.copy()
    for played, is_kept in ((clip, True), (action, False)):
        data.action = played
        if hasattr(data, "action_slot"):
            data.action_slot = played.slots[0]
        bag = curve_bag(thing)
        for curve in list(bag.fcurves):
            if ((curve.data_path, curve.array_index) in channels) != is_kept:
                bag.fcurves.remove(curve)
    if not len(curve_bag(thing).fcurves):
        data.action = None
    return clip


def track_of(thing, number):
    tracks = thing.animation_data.nla_tracks
    while len(tracks) <= number:
        tracks.new()
    return tracks[number]


STATES: dict[str, Callable[[Chosen], None]] = {
    "cycles before and after": cycled("REPEAT"),
    "cycles before": cycled("REPEAT", after=False),
    "cycles after": cycled("REPEAT", before=False),
    "cycles with offset": cycled("REPEAT_OFFSET"),
    "cycles mirrored": cycled("MIRROR"),
    "linear extrapolation": extrapolated,
    "clip below": pushed([(0, 1)]),
    "clip below, other keys": pushed([(0, 1)], keeps=True),
    "two tracks with gaps": pushed([(0, 1), (1, 28)], extrapolation="HOLD_FORWARD"),
    "a strip that repeats": pushed([(0, 2)], repeat=3.0),
    "a strip that is scaled": pushed([(0, 1)], scale=1.7),
}


@dataclass(frozen=True)
class Place:
    """One cell: what is done, where the motion comes from, and over which frames."""

    task: str
    state: str
    where: str
    destination: str
    start: float
    end: float
    onto_controls: bool = False
    """Whether Bake Target is for the rig's own controls."""

    def __str__(self) -> str:
        onto = " onto controls" if self.onto_controls else ""
        return f"{self.task}{onto} {self.start:g}-{self.end:g} into {self.destination}, {self.state} on {self.where}"


def drawn_places(seed: int, count: int, tasks: dict[str, bool]) -> list[Place]:
    """Cells such that each task is tried in each state before any is tried twice, and in the end in all that there is.

    tasks : whether each has a destination
    """
    dice = random.Random(seed)  # noqa: S311 - dice, not secrets
    pairs = [(task, state) for task in tasks for state in STATES]
    dice.shuffle(pairs)
    waiting = {
        (task, state): list(product(PLACES_OF[task], ("ACTION", "NEW_ACTION", "NLA") if tasks[task] else ("ACTION",)))
        for task, state in pairs
    }
    for cells in waiting.values():
        dice.shuffle(cells)
    places: list[Place] = []
    for number in range(max(map(len, waiting.values()))):
        for (task, state), cells in waiting.items():
            if number < len(cells):
                start = float(dice.choice((3, 12, 17, 26)))
                onto = task == "bake_target" and (cells[number][0] == "controls" or dice.random() < ONTO_CONTROLS)
                places.append(Place(task, state, *cells[number], start, start + dice.choice((3.0, 5.0)), onto))
    return places[:count]


ONTO_CONTROLS = 0.4
"""Share of the cells of Bake Target that are for the rig's own controls."""


def seen(frames: np.ndarray) -> dict[str, np.ndarray]:
    """World matrices `(F, 4, 4)` of every object and bone, as Blender evaluates them."""
    found: dict[str, list[np.ndarray]] = {}
    for frame in frames.tolist():
        whole = math.floor(frame)
        bpy.context.scene.frame_set(whole, subframe=frame - whole)
        graph = bpy.context.evaluated_depsgraph_get()
        for thing in bpy.data.objects:
            evaluated = thing.evaluated_get(graph)
            found.setdefault(thing.name, []).append(np.array(evaluated.matrix_world))
            for bone in evaluated.pose.bones if evaluated.pose else ():
                found.setdefault(f"{thing.name}/{bone.name}", []).append(np.array(evaluated.matrix_world @ bone.matrix))
    return {name: np.array(matrices) for name, matrices in found.items()}
