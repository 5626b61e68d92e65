"""The mouse in a 3D viewport: which viewport it is over, and how a point moves with it."""

from typing import Any

import bpy
from bpy_extras import view3d_utils
from mathutils import Vector
from mathutils.geometry import intersect_line_plane

NAVIGATION = {
    "MIDDLEMOUSE", "TRACKPADPAN", "TRACKPADZOOM", "MOUSEROTATE", "MOUSESMARTZOOM",
    *(f"NUMPAD_{number}" for number in range(10)), "NUMPAD_PERIOD", "NUMPAD_PLUS", "NUMPAD_MINUS",
}  # fmt: skip
"""Events that turn, move or zoom the view, with any keys held."""

BUTTONS = {"LEFTMOUSE", "RIGHTMOUSE", "WHEELUPMOUSE", "WHEELDOWNMOUSE"}
"""Events that do so while Alt is held."""

EDGE = 0.1
"""Sine of the angle between view and plane below which the plane is seen from its edge: there a pixel is far too long."""

PRECISE = 0.1
"""How much slower the point moves while Shift is held, as in Blender's own transforms."""


def is_navigation(event: Any) -> bool:
    """Whether an event is the view's."""
    if event.type in NAVIGATION or event.type.startswith("NDOF_"):
        return True
    return event.type in BUTTONS and event.alt


def viewport_at(area: bpy.types.Area | None, event: Any) -> bpy.types.Region | None:
    """The region of a 3D viewport that the mouse is over, one of four in quad view; its first where it is over none."""
    if area is None or area.type != "VIEW_3D":
        return None
    regions = [region for region in area.regions if region.type == "WINDOW"]
    over = (
        region
        for region in regions
        if 0 <= event.mouse_x - region.x < region.width and 0 <= event.mouse_y - region.y < region.height
    )
    return next(over, regions[0])


class Pointer:
    """A point of the world that moves with the mouse, from where it is."""

    def __init__(self, viewport: bpy.types.Region, place: Vector, normal: Vector | None, event: Any) -> None:
        """`normal` is that of the plane in which the point moves; without one that is the plane that faces the viewer."""
        self.viewport, self.place, self.normal = viewport, place, normal
        self.mouse: tuple[int, int] | None = self._mouse_of(event)

    def let_go(self) -> None:
        """The view changes: go on from wherever the mouse is afterwards."""
        self.mouse = None

    def follow(self, event: Any) -> None:
        """Move the point as far as the mouse has moved."""
        now = self._mouse_of(event)
        if self.mouse is not None:
            step = self._step(self.mouse, now)
            self.place = self.place + step * (PRECISE if event.shift else 1.0)
        self.mouse = now

    def _mouse_of(self, event: Any) -> tuple[int, int]:
        return event.mouse_x - self.viewport.x, event.mouse_y - self.viewport.y

    def _step(self, before: tuple[int, int], now: tuple[int, int]) -> Vector:
        """How far the point moves: in its plane, or, where that is seen from its edge, as much of the way as lies in it."""
        viewport, view = self.viewport, self.viewport.data
        first, last = (view3d_utils.region_2d_to_location_3d(viewport, view, mouse, self.place) for mouse in (before, now))
        if self.normal is None:
            return last - first
        normal = self.normal.normalized()
        facing = view3d_utils.region_2d_to_vector_3d(viewport, view, now)
        start, end = self._on_plane(before, normal), self._on_plane(now, normal)
        if start is not None and end is not None and abs(facing.dot(normal)) > EDGE:
            return end - start
        seen: Vector = last - first
        return seen - seen.project(normal)

    def _on_plane(self, mouse: tuple[int, int], normal: Vector) -> Vector | None:
        """Where the line of sight through the mouse meets the plane in front of the viewer."""
        start = view3d_utils.region_2d_to_origin_3d(self.viewport, self.viewport.data, mouse)
        direction = view3d_utils.region_2d_to_vector_3d(self.viewport, self.viewport.data, mouse)
        met = intersect_line_plane(start, start + direction, self.place, normal)
        is_behind = met is not None and self.viewport.data.is_perspective and (met - start).dot(direction) <= 0.0
        return None if is_behind else met
