"""One limb in every plane and every destination: baked, and measured as Blender then evaluates it."""

from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix

from tests.real.rigs import plane_that_shows
from tests.tasks.checks.checking import BENDS
from tests.tasks.checks.measuring import LETTER_AXES, PROMISE, evaluate
from tests.tasks.checks.targets import circling_target
from tests.tasks.scenes import add_empty, bake
from twobone_addon.scene.versions import assign_slot

PLANES = ("XY", "XZ", "YZ", "REST", "POLE", "OBJECT")
DESTINATIONS = ("ACTION", "NEW_ACTION", "NLA")
SLANT = 0.5
"""Radians by which the plane object's own axes are turned within its plane."""

UPRIGHT = 1e-3
"""What is seen in the plane of a link that stands upright on it, as a part of its length."""

SAME_REPORT = 1e-5
"""World units, between what a report says and what is measured here, on rigs of about one unit."""


@dataclass(frozen=True)
class Measured:
    """One bake of one limb."""

    limb: str
    plane: str
    destination: str
    frames: int
    reached: int
    """Frames in reach."""
    off: float
    """Farthest that the tip is from where it should be on these frames, relative to the limb's length."""
    held: bool
    """The rig's own constraints act on the limb's bones besides their keys."""


def bake_everywhere(rig, limb, frames, number):
    """Bake the limb in each plane, the destinations in turn beginning with another one for each `number`."""
    own_motion = OwnMotion(rig)
    found = []
    for index, plane in enumerate(PLANES):
        destination = DESTINATIONS[(index + number) % len(DESTINATIONS)]
        own_motion.restore()
        letters = plane if plane in LETTER_AXES else plane_that_shows(rig, limb)
        target = circling_target(rig, limb, plane=letters, frames=frames)
        guides = add_guides(rig, plane, letters)
        if destination == "NLA":
            own_motion.push_down(frames[0])
        before = places_of_keys(rig)
        report = bake(
            limb, tip=limb.carrier, tip_end="TAIL" if limb.at_tail else "HEAD", target=target.name, plane=plane,
            plane_space="ARMATURE", bend=BENDS[index % 2], frame_range="CUSTOM", frame_start=frames[0], frame_end=frames[1],
            destination=destination, **guides,
        )  # fmt: skip
        assert_went_to(destination, before, places_of_keys(rig))
        found.append(measure(rig, limb, target, report, plane=plane, letters=letters, destination=destination))
        for thing in [target, *(bpy.data.objects[name] for name in guides.values())]:
            bpy.data.objects.remove(thing)
    own_motion.restore()
    return found


def measure(rig, limb, target, report, *, plane, letters, destination):
    """Hold what Blender shows against the promise, on the frames that the report calls reached."""
    frames = np.arange(report["frame_start"], report["frame_end"] + 0.5)
    shown = evaluate(rig, limb, frames, target=target, plane=letters)
    missed = [any(first <= frame <= last for first, last in report["out_of_reach"]) for frame in frames]
    if report["degenerate"] == len(frames):  # a link stands upright on the plane, so that it turns nowhere in it
        seen = np.linalg.norm(shown.links_plane, axis=-1) / np.linalg.norm(shown.links, axis=-1)
        assert seen.min(axis=-1).max() < UPRIGHT, (limb, plane)
        return Measured(limb.upper, plane, destination, report["frames"], 0, 0.0, is_held(rig, limb))
    reached = ~np.array(missed)
    assert np.count_nonzero(reached) == report["reached"] > 0, (limb, plane, report)
    off = shown.errors if plane not in {"REST", "POLE"} else np.linalg.norm(shown.joints[:, 2] - shown.targets, axis=-1)
    held = is_held(rig, limb)
    if held:
        assert abs(report["max_error"] - off[reached].max()) < SAME_REPORT, (limb, plane, report)
        assert any("constraints that act on top of the keys" in note for note in report["notes"])
    else:
        assert_promised(limb, plane, (off / shown.scales)[reached], shown.seen_bends[reached])
    lengths = np.linalg.norm(shown.links, axis=-1).sum(axis=-1)
    farthest = float((off / lengths)[reached].max())
    return Measured(limb.upper, plane, destination, report["frames"], report["reached"], farthest, held)


def is_held(rig, limb):
    """Whether the rig's own constraints turn the limb besides its keys, so that no keys bring it anywhere exactly."""
    return any(not constraint.mute for name in (limb.upper, limb.lower) for constraint in rig.pose.bones[name].constraints)


def assert_promised(limb, plane, relative, seen_bends):
    assert relative.max() <= PROMISE, (limb, plane, relative.max())
    if plane in LETTER_AXES:
        sign = 1.0 if BENDS[PLANES.index(plane) % 2] == "POSITIVE" else -1.0
        assert np.all(sign * seen_bends > 0.0), (limb, plane)


def add_guides(rig, plane, letters):
    """What a plane needs beside the target: the setting, and the name of the object that is made for it."""
    if plane == "OBJECT":
        return {"plane_object": add_plane(rig, letters)}
    if plane != "POLE":
        return {}
    pole = add_empty("Pole")
    pole.location = (3.0, 4.0, 5.0)
    return {"pole": pole.name}


def add_plane(rig, letters):
    """An object whose X and Y axes span one of the armature's own planes, turned within it."""
    thing = add_empty("Plane", rig)
    first, second = (np.eye(3)[axis] for axis in LETTER_AXES[letters])
    axes = np.stack([first, second, np.cross(first, second)], axis=-1)
    thing.matrix_basis = (Matrix(axes.tolist()) @ Matrix.Rotation(SLANT, 3, "Z")).to_4x4()
    return thing.name


class OwnMotion:
    """The motion that a rig has before any bake, in its action or pushed down into a strip."""

    def __init__(self, rig):
        self.data = rig.animation_data or rig.animation_data_create()
        self.action = self.data.action
        self.slot = self.data.action_slot.identifier if getattr(self.data, "action_slot", None) else ""

    def restore(self):
        """A copy of it in the rig's action, and no strips."""
        for track in list(self.data.nla_tracks):
            self.data.nla_tracks.remove(track)
        self.data.action = self.action.copy() if self.action else None
        assign_slot(self.data, self.slot)

    def push_down(self, first):
        """The same as a strip, as a person does before baking into another one."""
        action = self.data.action
        if action is None:
            return
        self.data.action = None
        strip = self.data.nla_tracks.new().strips.new("own motion", first, action)
        assign_slot(strip, self.slot)
        strip.frame_start, strip.frame_end = action.frame_range


def places_of_keys(rig):
    """Name of the action, and number of strips."""
    data = rig.animation_data
    return data.action.name if data.action else "", sum(len(track.strips) for track in data.nla_tracks)


def assert_went_to(destination, before, after):
    action, strips = (old == new for old, new in zip(before, after, strict=True))
    if not before[0]:  # a rig without any motion gets its first action in either case
        action = destination == "ACTION" or not after[0]
    assert (action, strips) == {"ACTION": (True, True), "NEW_ACTION": (False, True), "NLA": (True, False)}[destination]
