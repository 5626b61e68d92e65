"""The state of an interactive nudge, by mouse or typed numbers: its offset, its range and the paths to draw."""

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
from ...pipeline.pose.present import dragging_plan, present_channels, present_inputs, present_limbs, present_motion
from ...records import replace
from ...tasks.give.guides import target_guide
from ...tasks.nudge.task import NudgePlan
from .mouse import EDGE, Pointer
from .posing import put_values, read_channels, write_channels

AXES = "XYZ"

TYPED = frozenset("0123456789.-")

FARTHEST = 500.0
"""Maximum length of the range on each side, in frames."""

AROUND = 2.0
"""Length of the sampled tip path on each side, relative to the range when it is sampled."""


def constrained(moved: Array, line_of_sight: Array, axis: int, *, is_plane: bool) -> Array:
    """Constrain a move `(3,)` in the view plane to a world axis, or with `is_plane` to the plane across it.

    The result stays under the mouse, as seen along the unit vector `line_of_sight` `(3,)`, if possible; for an axis that
    points at the viewer, or a plane that is edge-on, the move is projected onto it instead.
    """
    along = np.eye(3)[axis]
    if not is_plane:
        # The point of the axis that is seen nearest to the mouse.
        in_view = along - line_of_sight * (along @ line_of_sight)
        squared_length = in_view @ in_view
        return along * ((moved @ in_view) / squared_length if squared_length > EDGE**2 else moved @ along)
    facing = along @ line_of_sight
    if abs(facing) <= EDGE:
        return moved - along * (moved @ along)
    # Along the line of sight, so that it stays under the mouse.
    return moved - line_of_sight * (moved @ along / facing)


class NudgeDrag:
    """The state of an interactive nudge, from its begin until it is confirmed or cancelled."""

    def __init__(self, context: bpy.types.Context, plan: NudgePlan, event: Any) -> None:
        """Begin the drag; raises a `TwoBoneError`.

        plan : has a nudge at the present frame, whose offset is ignored
        """
        scene, depsgraph = context.scene, context.evaluated_depsgraph_get()
        armature, limb = bpy.data.objects[plan.armature], plan.limb
        self.armature, self.scene = armature.name, scene
        known = next((nudge for nudge in plan.known if abs(nudge.frame - plan.frame) <= NEAR_FRAME), plan.new)
        self.nudge: Nudge = replace(known, frame=plan.frame)
        self.is_known = known is not plan.new
        self.begun = np.array(self.nudge.offset) if self.is_known else np.zeros(3)
        """Offset `(3,)` that the pose already contains, from an existing nudge at this frame."""
        names = [bone.name for bone in limb.rest.bones] + ([limb.end_bone.name] if limb.end_bone else [])
        self.before = read_channels(armature, names)
        self.start = np.array(target_guide(armature.evaluated_get(depsgraph), limb.names).location_world)
        # The limb's motion at this frame is sampled once here, so that nothing is sampled while the mouse moves.
        present = dragging_plan(scene, limb.settings)
        (self.present,) = present_limbs([present_inputs(present, scene, depsgraph, self.before)], [None])
        self.motion = present_motion(self.present, self.start)
        self.pointer = Pointer(context.area, Vector(self.start), None, event)
        self.axis: int | None = None
        self.is_plane = False
        self.typed = ["", "", ""]
        self.field = 0
        self.limb = limb
        self.path = (np.empty(0), np.empty((0, 3)))
        self._sample_path()

    @property
    def moved(self) -> Array:
        """The tip's displacement since the drag began, `(3,)`, world space."""
        if any(self.typed):
            return np.array([_number(text) for text in self.typed])
        free = np.array(self.pointer.point) - self.start
        if self.axis is None:
            return free
        viewport, view = self.pointer.viewport, self.pointer.viewport.data
        on_screen = view3d_utils.location_3d_to_region_2d(viewport, view, Vector(self.start))
        line_of_sight = view3d_utils.region_2d_to_vector_3d(viewport, view, on_screen or (0, 0))
        return constrained(free, np.array(line_of_sight), self.axis, is_plane=self.is_plane)

    @property
    def offset(self) -> Array:
        """The total offset of the nudge, `(3,)`, world space."""
        return self.begun + self.moved

    def constrain(self, axis: int, *, is_plane: bool) -> None:
        """Constrain the move to an axis or the plane across it; the same constraint again removes it. Clears typed numbers."""
        is_same = (self.axis, self.is_plane) == (axis, is_plane)
        self.axis, self.is_plane = (None, False) if is_same else (axis, is_plane)
        self.typed, self.field = ["", "", ""], 0 if is_same or is_plane else axis

    def type(self, letter: str) -> None:
        """Add a digit or point to the typed number of the current axis; a minus flips its sign."""
        text = self.typed[self.field]
        if letter == "-":
            self.typed[self.field] = text[1:] if text.startswith("-") else f"-{text}"
        elif letter != "." or "." not in text:
            self.typed[self.field] = text + letter

    def take_back(self) -> None:
        """Delete the last typed character of the current axis."""
        self.typed[self.field] = self.typed[self.field][:-1]

    def next_field(self) -> None:
        """Continue typing at the next axis."""
        self.field = (self.field + 1) % len(AXES)

    def widen(self, frames: float) -> None:
        """Extend the range by this many frames at both ends; negative numbers shorten it."""
        before, after = (float(np.clip(round(side + frames), 1.0, FARTHEST)) for side in (self.nudge.before, self.nudge.after))
        self.nudge = replace(self.nudge, before=before, after=after)
        if len(self.path[0]) and not (
            self.path[0][0] <= self.nudge.frame - before < self.nudge.frame + after <= self.path[0][-1]
        ):
            self._sample_path()

    def pose(self) -> None:
        """Pose the limb at the present frame with the displacement; raises a `TwoBoneError`."""
        target = self.motion.target_world.copy()
        target[:, :3, 3] = self.start + self.moved
        (values,) = present_channels([self.present], [replace(self.motion, target_world=target)])
        put_values(bpy.data.objects[self.armature], values)

    def give_back(self) -> None:
        """Restore the pose from before the drag."""
        armature = bpy.data.objects.get(self.armature)
        if armature is not None:
            write_channels(armature, self.before)

    def paths(self) -> tuple[Array, Array, Array]:
        """Return the frames `(F,)` within the range, and the tip's old and new path `(F, 3)` over them, world space."""
        frames, tips = self.path
        inside = (frames >= self.nudge.frame - self.nudge.before) & (frames <= self.nudge.frame + self.nudge.after)
        frames, tips = frames[inside], tips[inside]
        return frames, tips, tips + self.nudge.weights(frames, None)[:, None] * self.moved

    def header(self) -> str:
        """Return the text for the header: the offset along each axis, the constraint and the range."""
        parts = [
            f"{letter}: {self.typed[number] + '|' if number == self.field and any(self.typed) else length(self.scene, value)}"
            for number, (letter, value) in enumerate(zip(AXES, self.offset, strict=True))
        ]
        along = "" if self.axis is None else f"   {AXES[self.axis] if not self.is_plane else AXES.replace(AXES[self.axis], '')}"
        frames = f"{pgettext_iface('Frames')} -{self.nudge.before:g} / +{self.nudge.after:g}"
        return f"{'   '.join(parts)}{along}   {frames}"

    def _sample_path(self) -> None:
        """Sample the tip's path around the frame from the present animation."""
        frame, nudge = self.nudge.frame, self.nudge
        first, last = (round(AROUND * side) for side in (nudge.before, nudge.after))
        frames = np.unique(np.append(frame + np.arange(-first, last + 1.0), [frame - nudge.before, frame + nudge.after]))
        plan = replace(self.limb, frames=frames, report_rows=np.arange(len(frames)))
        motion = plan_motion(plan, sample(self.scene, motion_quantities(plan), frames))
        tips = joints_of(plan.rest, pose_path(plan.rest, motion.chain))[:, -1]
        self.path = frames, np.broadcast_to(points(motion.world_from_armature, tips), (len(frames), 3))


def length(scene: bpy.types.Scene, value: float) -> str:
    """Format a length, which may be negative, in the scene's units, as in the header of Blender's own Move."""
    units = scene.unit_settings
    metres = value * units.scale_length
    return bpy.utils.units.to_string(units.system, "LENGTH", metres, precision=4, split_unit=units.use_separate).rstrip()


def _number(text: str) -> float:
    """Return the value of a typed number; 0 while it is empty, or only a sign or a point."""
    try:
        return float(text)
    except ValueError:
        return 0.0
