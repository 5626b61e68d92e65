"""States in which motion beside a range comes from more than the keys of one curve: modifiers, extrapolation, strips below."""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

import bpy
import numpy as np

from tests.promises.refused_calls import armature
from twobone_addon.scene.versions import curve_bag

LAST = 40
"""Last frame of the scene; the files that tasks are tried in have keys on the first few of these."""


def key_frames(curve):
    return [key.co.x for key in curve.keyframe_points]


Chosen = Callable[[bpy.types.Object, bpy.types.FCurve], bool]
"""Which curves a state is about."""


def of_limb(thing, curve):
    return thing == armature() and any(f'"{name}"' in curve.data_path for name in ("upper", "lower", "foot", "thigh.L", "shin.L"))


def of_others(thing, curve):
    """Controls, parents and the root: every other bone, and the armature as an object."""
    return thing == armature() and not of_limb(thing, curve)


def of_objects(thing, curve):
    del curve
    return thing != armature()


def of_all(thing, curve):
    del thing, curve
    return True


WHERE: dict[str, Chosen] = {"limb": of_limb, "other bones": of_others, "objects": of_objects, "everything": of_all}


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

    def __str__(self) -> str:
        return f"{self.task} {self.start:g}-{self.end:g} into {self.destination}, {self.state} on {self.where}"


def drawn_places(seed: int, count: int, tasks: dict[str, bool]) -> list[Place]:
    """Cells such that each task is tried in each state before any is tried twice; what they do and where is drawn.

    tasks : whether each has a destination
    """
    dice, places = random.Random(seed), []  # noqa: S311 - dice, not secrets
    pairs = [(task, state) for task in tasks for state in STATES]
    dice.shuffle(pairs)
    for number in range(count):
        task, state = pairs[number % len(pairs)]
        start = float(dice.choice((3, 12, 17, 26)))
        destination = dice.choice(("ACTION", "ACTION", "NEW_ACTION", "NLA")) if tasks[task] else "ACTION"
        places.append(Place(task, state, dice.choice(tuple(WHERE)), destination, start, start + dice.choice((3.0, 5.0))))
    return places


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
