"""The overlay in the 3D viewport: the only file that talks to the GPU."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import blf
import bpy
import gpu
from bpy_extras.view3d_utils import location_3d_to_region_2d
from gpu_extras.batch import batch_for_shader

from ...baking.plan.completing import active_chain
from ..stored.where import MODES, active_armature
from . import data as overlay_data
from . import footprints
from .colors import theme_palette
from .lines import Lines, Palette, guide_lines, joined, miss_lines, path_lines, plane_lines, reach_lines, solution_lines

SHADER = "POLYLINE_SMOOTH_COLOR"
"""Wide, smooth lines in perspective and orthographic views alike."""

THIN, WIDE = 1.0, 2.5
"""Widths in pixels, at resolution scale 1."""


@dataclass(slots=True)
class Part:
    """What was sent to the GPU last of a part that changes as a whole, and what it was made from."""

    made_from: tuple[Any, ...] = ()
    batches: tuple[tuple[float, Any], ...] = ()
    """Line width and batch."""

    def update(self, made_from: tuple[Any, ...], lines_of: Callable[[], dict[float, Lines]]) -> None:
        """Send it anew if it is made from anything else than before."""
        if made_from != self.made_from:
            self.made_from, self.batches = made_from, _batches(lines_of())


chain_part = Part()
"""Plane, reach and solutions at the present frame: new with every frame."""

path_part = Part()
"""The ways over the range: they stay while time passes."""

feet_part = Part()
"""Where the feet stand over the range: it stays while time passes."""

handles: list[Any] = []

LABEL_SIZE = 11.0
"""Of the frames beside footprints, in points."""


def draw() -> None:
    """Draw the active chain's overlay in the viewport that Blender draws now."""
    context = bpy.context
    armature = active_armature(context)
    if not _is_wanted(context, armature):
        return
    shown = overlay_data.update(context, armature)
    palette = theme_palette(context.preferences.themes[0], active_chain(armature).plane)
    options = armature.twobone
    switches = (options.show_plane, options.show_reach, options.show_solutions)
    chain_part.update((shown.picture_version, switches, palette), lambda: chain_lines(shown, switches, palette))
    made_from = (shown.path_version, options.show_path, palette)
    path_part.update(made_from, lambda: way_lines(shown, palette) if options.show_path else {})
    feet = footprints.update(armature) if options.show_footprints else None
    made_from = (footprints.shown.version, feet is not None, palette)
    feet_part.update(made_from, lambda: {WIDE: footprints.foot_lines(feet.pictures, palette)} if feet else {})
    if chain_part.batches or path_part.batches or feet_part.batches:
        _draw_batches(context, in_front=options.show_in_front)


def draw_labels() -> None:
    """Write the frames beside the footprints in the viewport that Blender draws now."""
    context = bpy.context
    armature = active_armature(context)
    if not _is_wanted(context, armature) or not armature.twobone.show_footprints:
        return
    palette = theme_palette(context.preferences.themes[0], active_chain(armature).plane)
    blf.size(0, LABEL_SIZE * context.preferences.system.ui_scale)
    blf.color(0, *palette.chosen)
    for place, text in footprints.foot_labels(footprints.shown.pictures):
        seen = location_3d_to_region_2d(context.region, context.region_data, place)
        if seen is not None:
            blf.position(0, seen.x, seen.y, 0)
            blf.draw(0, text)


def chain_lines(shown: overlay_data.Shown, switches: tuple[bool, bool, bool], palette: Palette) -> dict[float, Lines]:
    """Lines of the present frame by their width; `switches` tell which of plane, reach and solutions are wanted."""
    if shown.picture is None:
        return {}
    plane, reach, solutions = switches
    wide = [reach_lines(shown.picture, palette)] if reach else []
    wide += [solution_lines(shown.picture, palette)] if solutions else []
    thin = [plane_lines(shown.picture, palette)] if plane else []
    thin += [guide_lines(shown.picture, palette)] if solutions else []
    return {THIN: joined(thin), WIDE: joined(wide)}


def way_lines(shown: overlay_data.Shown, palette: Palette) -> dict[float, Lines]:
    """Lines of the ways over the range by their width."""
    if shown.path is None:
        return {}
    return {THIN: miss_lines(shown.path, palette), WIDE: path_lines(shown.path, palette)}


def _is_wanted(context: bpy.types.Context, armature: bpy.types.Object | None) -> bool:
    return (
        context.mode in MODES
        and context.space_data is not None
        and context.space_data.overlay.show_overlays
        and active_chain(armature) is not None
        and armature.twobone.show_overlay
        and armature.visible_get(viewport=context.space_data)
    )


def _batches(lines_of_width: dict[float, Lines]) -> tuple[tuple[float, Any], ...]:
    shader = gpu.shader.from_builtin(SHADER)
    return tuple(
        (
            width,
            batch_for_shader(shader, "LINES", {"pos": lines.points.astype("float32"), "color": lines.colors.astype("float32")}),
        )
        for width, lines in lines_of_width.items()
        if len(lines.points)
    )


def _draw_batches(context: bpy.types.Context, *, in_front: bool) -> None:
    shader = gpu.shader.from_builtin(SHADER)
    before = gpu.state.depth_test_get(), gpu.state.blend_get()
    gpu.state.depth_test_set("NONE" if in_front else "LESS_EQUAL")
    gpu.state.blend_set("ALPHA")
    shader.bind()
    shader.uniform_float("viewportSize", (context.region.width, context.region.height))
    for width, batch in (*path_part.batches, *feet_part.batches, *chain_part.batches):
        shader.uniform_float("lineWidth", width * context.preferences.system.ui_scale)
        batch.draw(shader)
    gpu.state.depth_test_set(before[0])
    gpu.state.blend_set(before[1])


def register() -> None:
    """Draw in every 3D viewport from now on."""
    handles.append(bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_VIEW"))
    handles.append(bpy.types.SpaceView3D.draw_handler_add(draw_labels, (), "WINDOW", "POST_PIXEL"))


def unregister() -> None:
    """Stop drawing, and let go of everything on the GPU."""
    while handles:
        bpy.types.SpaceView3D.draw_handler_remove(handles.pop(), "WINDOW")
    for part in (chain_part, path_part, feet_part):
        part.made_from, part.batches = (), ()
    footprints.forget()
    overlay_data.unregister()
