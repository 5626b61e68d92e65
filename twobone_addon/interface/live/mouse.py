"""The mouse in a 3D viewport: the viewport under it, and a point that moves with it."""

from typing import Any

import bpy
from bpy_extras import view3d_utils
from mathutils import Vector
from mathutils.geometry import intersect_line_plane

NAVIGATION = {
    "MIDDLEMOUSE", "TRACKPADPAN", "TRACKPADZOOM", "MOUSEROTATE", "MOUSESMARTZOOM",
    *(f"NUMPAD_{number}" for number in range(10)), "NUMPAD_PERIOD", "NUMPAD_PLUS", "NUMPAD_MINUS",
}  # fmt: skip
"""Events that rotate, pan or zoom the view, with any modifiers."""

BUTTONS = {"LEFTMOUSE", "RIGHTMOUSE", "WHEELUPMOUSE", "WHEELDOWNMOUSE"}
"""Events that navigate the view while Alt is held."""

EDGE = 0.1
"""Sine of the angle between line of sight and plane below which the plane is edge-on, where one pixel covers a long way."""

PRECISE = 0.1
"""Speed factor of the point while Shift is held, as in Blender's own transforms."""


def is_navigation(event: Any) -> bool:
    """Whether an event navigates the view."""
    if event.type in NAVIGATION or event.type.startswith("NDOF_"):
        return True
    return event.type in BUTTONS and event.alt


def viewports_of(area: bpy.types.Area | None) -> list[bpy.types.Region]:
    """Return the regions of a 3D viewport that show the scene, four in quad view; none for other areas."""
    if area is None or area.type != "VIEW_3D":
        return []
    return [region for region in area.regions if region.type == "WINDOW"]


def viewport_at(area: bpy.types.Area, event: Any) -> bpy.types.Region | None:
    """Return the region of a 3D viewport under the mouse; `None` beside them and over sidebar, toolbar or header."""
    regions = viewports_of(area)
    # Sidebar, toolbar and headers may lie over the viewport.
    covering = [region for region in area.regions if region.type != "WINDOW"]
    if any(_is_over(region, event) for region in covering):
        return None
    return next((region for region in regions if _is_over(region, event)), None)


def _is_over(region: bpy.types.Region, event: Any) -> bool:
    inside = 0 <= event.mouse_x - region.x < region.width and 0 <= event.mouse_y - region.y < region.height
    return inside and min(region.width, region.height) > 1  # A hidden region is one pixel wide.


class Pointer:
    """A point in world space that moves with the mouse, from the mouse's first place inside the 3D viewport."""

    def __init__(self, area: bpy.types.Area, point: Vector, normal: Vector | None, event: Any) -> None:
        """Start at `point`; the point moves in the plane with this `normal`, or in the view plane without one."""
        self.area, self.point, self.normal = area, point, normal
        self.viewport = viewports_of(area)[0]
        self.mouse: tuple[int, int] | None = None
        self._enter(event)

    def let_go(self) -> None:
        """Forget the mouse position, since the view changes; the next `follow` starts from the mouse's new position."""
        self.mouse = None

    def follow(self, event: Any) -> None:
        """Move the point with the mouse; slower while Shift is held. A button was pressed beside the viewport."""
        if self.mouse is None:
            self._enter(event)
            return
        now = self._mouse_of(event)
        step = self._step(self.mouse, now)
        self.point = self.point + step * (PRECISE if event.shift else 1.0)
        self.mouse = now

    def _enter(self, event: Any) -> None:
        viewport = viewport_at(self.area, event)
        if viewport is not None:
            self.viewport = viewport
            self.mouse = self._mouse_of(event)

    def _mouse_of(self, event: Any) -> tuple[int, int]:
        return event.mouse_x - self.viewport.x, event.mouse_y - self.viewport.y

    def _step(self, before: tuple[int, int], now: tuple[int, int]) -> Vector:
        """Return how far the point moves in its plane; if that is edge-on, the move in the view plane projected onto it."""
        viewport, view = self.viewport, self.viewport.data
        first, last = (view3d_utils.region_2d_to_location_3d(viewport, view, mouse, self.point) for mouse in (before, now))
        if self.normal is None:
            return last - first
        normal = self.normal.normalized()
        facing = view3d_utils.region_2d_to_vector_3d(viewport, view, now)
        start, end = self._on_plane(before, normal), self._on_plane(now, normal)
        if start is not None and end is not None and abs(facing.dot(normal)) > EDGE:
            return end - start
        in_view: Vector = last - first
        return in_view - in_view.project(normal)

    def _on_plane(self, mouse: tuple[int, int], normal: Vector) -> Vector | None:
        """Intersect the line of sight through the mouse with the plane; `None` if they do not meet in front of the viewer."""
        start = view3d_utils.region_2d_to_origin_3d(self.viewport, self.viewport.data, mouse)
        direction = view3d_utils.region_2d_to_vector_3d(self.viewport, self.viewport.data, mouse)
        hit = intersect_line_plane(start, start + direction, self.point, normal)
        is_behind = hit is not None and self.viewport.data.is_perspective and (hit - start).dot(direction) <= 0.0
        return None if is_behind else hit
