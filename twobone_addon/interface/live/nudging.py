"""A limb's tip that is nudged with the mouse or by typed numbers: its place, its range and what is drawn of it meanwhile."""

from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from bpy.app.translations import pgettext_iface
from bpy_extras import view3d_utils
from mathutils import Vector

from ...core.array_types import Array
from ...core.curves.frames import NEAR_FRAME
from ...core.nudges import Nudge
from ...core.rig.posing import joints_of, pose_path
from ...pipeline.motion.plan_motion import motion_quantities, plan_motion, points
from ...pipeline.motion.sampling import sample
from ...pipeline.pose.present import dragging_plan, present_channels, present_motion
from ...tasks.give.guides import target_guide
from ...tasks.nudge.plan import NudgePlan
from .mouse import EDGE, Pointer
from .posing import read_channels, set_values, write_channels

AXES = "XYZ"

TYPED = frozenset("0123456789.-")

FARTHEST = 500.0
"""Frames that a range may have here."""

AROUND = 2.0
"""Times the range, over which the tip's way is known from the beginning."""


def constrained(moved: Array, line_of_sight: Array, axis: int, *, is_plane: bool) -> Array:
    """A move `(3,)` seen as `moved` `(3,)` along the unit vector `line_of_sight` `(3,)`, along an axis or across it.

    It stays under the mouse as far as that is possible: an axis that points at the viewer, and a plane that is seen from its
    edge, have as much of the move as lies in them.
    """
    along = np.eye(3)[axis]
    if not is_plane:
        seen = along - line_of_sight * (along @ line_of_sight)
        length = seen @ seen
        return along * ((moved @ seen) / length if length > EDGE**2 else moved @ along)
    facing = along @ line_of_sight
    if abs(facing) <= EDGE:
        return moved - along * (moved @ along)
    return moved - line_of_sight * (moved @ along / facing)


class NudgeDrag:
    """The state of a nudge on its way, from taking hold of the tip to letting go."""

    def __init__(self, context: bpy.types.Context, plan: NudgePlan, viewport: bpy.types.Region, event: Any) -> None:
        """Take hold; raises a `TwoBoneError`.

        plan : with a nudge at the present frame, whose offset does not count
        """
        scene, depsgraph = context.scene, context.evaluated_depsgraph_get()
        armature, limb = bpy.data.objects[plan.armature], plan.limb
        self.armature, self.scene = armature.name, scene
        known = next((each for each in plan.known if abs(each.frame - plan.frame) <= NEAR_FRAME), plan.new)
        self.nudge: Nudge = replace(known, frame=plan.frame)
        self.is_known = known is not plan.new
        self.begun = np.array(self.nudge.offset) if self.is_known else np.zeros(3)
        """The offset that the pose has already."""
        names = [bone.name for bone in limb.rest.bones] + ([limb.end_bone.name] if limb.end_bone else [])
        self.before = read_channels(armature, names)
        self.start = np.array(target_guide(armature.evaluated_get(depsgraph), limb.names).location_world)
        # What the limb starts from stays as it is meanwhile, so that nothing is sampled while the mouse moves.
        present = dragging_plan(scene, limb.settings)
        self.plan, self.motion = present_motion(present, scene, depsgraph, self.before, place_world=self.start)
        self.viewport, self.pointer = viewport, Pointer(viewport, Vector(self.start), None, event)
        self.axis: int | None = None
        self.is_plane = False
        self.typed = ["", "", ""]
        self.field = 0
        self.limb = limb
        self.path = (np.empty(0), np.empty((0, 3)))
        self._look_around()

    @property
    def moved(self) -> Array:
        """How far the tip is from where it was when it was taken hold of, `(3,)`, world space."""
        if any(self.typed):
            return np.array([_number(text) for text in self.typed])
        free = np.array(self.pointer.place) - self.start
        if self.axis is None:
            return free
        view = self.viewport.data
        seen = view3d_utils.location_3d_to_region_2d(self.viewport, view, Vector(self.start))
        sight = view3d_utils.region_2d_to_vector_3d(self.viewport, view, seen or (0, 0))
        return constrained(free, np.array(sight), self.axis, is_plane=self.is_plane)

    @property
    def offset(self) -> Array:
        """The whole offset of the nudge, `(3,)`."""
        return self.begun + self.moved

    def constrain(self, axis: int, *, is_plane: bool) -> None:
        """Move along an axis or across it, or freely again where that is how it moves."""
        is_same = (self.axis, self.is_plane) == (axis, is_plane)
        self.axis, self.is_plane = (None, False) if is_same else (axis, is_plane)
        self.typed, self.field = ["", "", ""], 0 if is_same or is_plane else axis

    def type(self, letter: str) -> None:
        """One more digit, point or minus of the number that is typed; a minus turns its sign."""
        text = self.typed[self.field]
        if letter == "-":
            self.typed[self.field] = text[1:] if text.startswith("-") else f"-{text}"
        elif letter != "." or "." not in text:
            self.typed[self.field] = text + letter

    def take_back(self) -> None:
        """Take away the last letter that was typed."""
        self.typed[self.field] = self.typed[self.field][:-1]

    def next_field(self) -> None:
        """The number that is typed next is the next axis's."""
        self.field = (self.field + 1) % len(AXES)

    def widen(self, frames: float) -> None:
        """Let the range be so many frames longer at both ends, or shorter."""
        before, after = (float(np.clip(round(each + frames), 1.0, FARTHEST)) for each in (self.nudge.before, self.nudge.after))
        self.nudge = replace(self.nudge, before=before, after=after)
        if len(self.path[0]) and not (
            self.path[0][0] <= self.nudge.frame - before < self.nudge.frame + after <= self.path[0][-1]
        ):
            self._look_around()

    def pose(self) -> None:
        """Pose the limb at the present frame; raises a `TwoBoneError`."""
        target = self.motion.target_world.copy()
        target[:, :3, 3] = self.start + self.moved
        set_values(bpy.data.objects[self.armature], present_channels(self.plan, replace(self.motion, target_world=target)))

    def give_back(self) -> None:
        """The pose as it was."""
        armature = bpy.data.objects.get(self.armature)
        if armature is not None:
            write_channels(armature, self.before)

    def ways(self) -> tuple[Array, Array, Array]:
        """Frames `(F,)` within the range, and where the tip is `(F, 3)` and will be `(F, 3)` at them, world space."""
        frames, tips = self.path
        inside = (frames >= self.nudge.frame - self.nudge.before) & (frames <= self.nudge.frame + self.nudge.after)
        frames, tips = frames[inside], tips[inside]
        return frames, tips, tips + self.nudge.weights(frames, None)[:, None] * self.moved

    def told(self) -> str:
        """What the header says: the offset along each axis, the constraint and the range."""
        parts = [
            f"{letter}: {self.typed[number] + '|' if number == self.field and any(self.typed) else length(self.scene, value)}"
            for number, (letter, value) in enumerate(zip(AXES, self.offset, strict=True))
        ]
        along = "" if self.axis is None else f"   {AXES[self.axis] if not self.is_plane else AXES.replace(AXES[self.axis], '')}"
        frames = f"{pgettext_iface('Frames')} -{self.nudge.before:g} / +{self.nudge.after:g}"
        return f"{'   '.join(parts)}{along}   {frames}"

    def _look_around(self) -> None:
        """Learn where the tip is at the frames around, from the animation as it is now."""
        frame, nudge = self.nudge.frame, self.nudge
        first, last = (round(AROUND * each) for each in (nudge.before, nudge.after))
        frames = np.unique(np.append(frame + np.arange(-first, last + 1.0), [frame - nudge.before, frame + nudge.after]))
        plan = replace(self.limb, frames=frames, report_rows=np.arange(len(frames)))
        motion = plan_motion(plan, sample(self.scene, motion_quantities(plan), frames))
        tips = joints_of(plan.rest, pose_path(plan.rest, motion.chain))[:, -1]
        self.path = frames, np.broadcast_to(points(motion.world_from_armature, tips), (len(frames), 3))


def length(scene: bpy.types.Scene, value: float) -> str:
    """A length, which may be negative, as the header of Blender's own Move tells it: in the scene's units."""
    units = scene.unit_settings
    metres = value * units.scale_length
    told = bpy.utils.units.to_string(units.system, "LENGTH", metres, precision=4, split_unit=units.use_separate)
    return told.rstrip()


def _number(text: str) -> float:
    """What was typed so far; nothing, a sign or a point alone is 0."""
    try:
        return float(text)
    except ValueError:
        return 0.0
