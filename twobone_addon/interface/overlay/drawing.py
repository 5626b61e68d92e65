"""Drawing of the overlay in the 3D viewport; the only module that uses the GPU."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import blf
import bpy
import gpu
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d
from gpu_extras.batch import batch_for_shader

from ...pipeline.plan.stored import active_chain
from ...settings import LETTERS
from . import data
from .lines import Color, Lines, Palette, guide_lines, joined, miss_lines, path_lines, plane_lines, reach_lines, solution_lines

SHADER = "POLYLINE_SMOOTH_COLOR"
"""Built-in shader for wide, smooth lines in perspective and orthographic views."""

THIN, WIDE = 1.0, 2.5
"""Line widths in pixels, at resolution scale 1."""


class WideBatch(NamedTuple):
    """Lines of one width on the graphics card."""

    width: float
    """Pixels, at resolution scale 1."""
    batch: Any


@dataclass(slots=True)
class DrawnPart:
    """Cached GPU batches of one part of the overlay."""

    made_from: tuple[Any, ...] = ()
    """Cache key of `batches`."""
    batches: tuple[WideBatch, ...] = ()

    def update(self, made_from: tuple[Any, ...], lines_of: Callable[[], dict[float, Lines]]) -> None:
        """Remake the batches from `lines_of()`, lines by width, if the cache key has changed."""
        if made_from != self.made_from:
            self.made_from, self.batches = made_from, _batches(lines_of())


chain_part = DrawnPart()
"""Plane, reach and solutions at the present frame, remade at every frame."""

path_part = DrawnPart()
"""The paths over the range, which do not depend on the present frame."""

feet_part = DrawnPart()
"""The footprints and foot paths around the present frame."""

LABEL_SIZE = 11.0
"""Font size of the frame labels beside footprints, in points."""


def draw(context: bpy.types.Context, armature: bpy.types.Object) -> None:
    """Draw the overlay of an armature's active chain in the current viewport."""
    shown = data.update(context, armature)
    palette = theme_palette(context.preferences.themes[0], active_chain(armature).plane)
    options = armature.twobone
    switches = (options.show_plane, options.show_reach, options.show_solutions)
    chain_part.update((shown.picture_version, switches, palette), lambda: chain_lines(shown, switches, palette))
    made_from = (data.paths.version, id(shown.paths), options.show_path, palette)
    path_part.update(made_from, lambda: way_lines(shown, palette) if options.show_path else {})
    feet = data.feet_of(armature) if options.show_footprints else []
    frame = context.scene.frame_current_final
    made_from = (data.feet.version, armature.name, bool(feet) and frame, palette)
    near = data.pictures_around(feet, frame)
    feet_part.update(made_from, lambda: {WIDE: data.foot_lines(near, palette)} if feet else {})
    if chain_part.batches or path_part.batches or feet_part.batches:
        batches = (*path_part.batches, *feet_part.batches, *chain_part.batches)
        _draw_batches(context, batches, in_front=options.show_in_front)


def begin_drawing(lines_of: Callable[[Any, Palette], Lines], state: Any) -> Any:
    """Draw the lines of a running operation's state in all viewports; return the handle for `end_drawing`."""

    def draw_lines() -> None:
        context = bpy.context
        lines = lines_of(state, theme_palette(context.preferences.themes[0], ""))
        _draw_batches(context, _batches({WIDE: lines}), in_front=True)

    return bpy.types.SpaceView3D.draw_handler_add(draw_lines, (), "WINDOW", "POST_VIEW")


def end_drawing(handle: Any) -> None:
    """Stop drawing what `begin_drawing` began."""
    bpy.types.SpaceView3D.draw_handler_remove(handle, "WINDOW")


def draw_labels(context: bpy.types.Context, armature: bpy.types.Object) -> None:
    """Draw the frame labels of an armature's footprints in the current viewport, where there is room."""
    palette = theme_palette(context.preferences.themes[0], active_chain(armature).plane)
    blf.size(0, LABEL_SIZE * context.preferences.system.ui_scale)
    blf.color(0, *palette.chosen)
    frame = context.scene.frame_current_final
    labels = data.foot_labels(data.pictures_around(data.feet_of(armature), frame), frame)
    corners = [location_3d_to_region_2d(context.region, context.region_data, position) for position, _ in labels]
    visible = [(corner, text) for corner, (_, text) in zip(corners, labels, strict=True) if corner is not None]
    gap, sizes = blf.dimensions(0, "0")[0], [blf.dimensions(0, text) for _, text in visible]
    sizes = [(width + gap, height) for width, height in sizes]
    for row in data.with_room([(*corner,) for corner, _ in visible], sizes):
        corner, text = visible[row]
        blf.position(0, corner.x, corner.y, 0)
        blf.draw(0, text)


def chain_lines(shown: data.OverlayPicture, switches: tuple[bool, bool, bool], palette: Palette) -> dict[float, Lines]:
    """Return the lines of the present frame by width; `switches` turn plane, reach and solutions on."""
    if shown.picture is None:
        return {}
    plane, reach, solutions = switches
    wide = [reach_lines(shown.picture, palette)] if reach else []
    wide += [solution_lines(shown.picture, palette)] if solutions else []
    thin = [plane_lines(shown.picture, palette)] if plane else []
    thin += [guide_lines(shown.picture, palette)] if solutions else []
    return {THIN: joined(thin), WIDE: joined(wide)}


def way_lines(shown: data.OverlayPicture, palette: Palette) -> dict[float, Lines]:
    """Return the lines of the paths over the range by width."""
    if shown.path is None:
        return {}
    return {THIN: miss_lines(shown.path, palette), WIDE: path_lines(shown.path, palette)}


def _batches(lines_of_width: dict[float, Lines]) -> tuple[WideBatch, ...]:
    shader = gpu.shader.from_builtin(SHADER)
    return tuple(
        WideBatch(
            width,
            batch_for_shader(shader, "LINES", {"pos": lines.points.astype("float32"), "color": lines.colors.astype("float32")}),
        )
        for width, lines in lines_of_width.items()
        if len(lines.points)
    )


def _draw_batches(context: bpy.types.Context, batches: Iterable[WideBatch], *, in_front: bool) -> None:
    shader = gpu.shader.from_builtin(SHADER)
    # Blender and other add-ons draw on with the state that they find.
    before = gpu.state.depth_test_get(), gpu.state.blend_get()
    gpu.state.depth_test_set("NONE" if in_front else "LESS_EQUAL")
    gpu.state.blend_set("ALPHA")
    shader.bind()
    shader.uniform_float("viewportSize", (context.region.width, context.region.height))
    for width, batch in batches:
        shader.uniform_float("lineWidth", width * context.preferences.system.ui_scale)
        batch.draw(shader)
    gpu.state.depth_test_set(before[0])
    gpu.state.blend_set(before[1])


def forget() -> None:
    """Release all GPU batches and cached data."""
    for part in (chain_part, path_part, feet_part):
        part.made_from, part.batches = (), ()
    data.forget()


CONTRAST = 2.5
"""Minimum contrast ratio between a line and the background, as defined by WCAG. Below the 3 that WCAG asks for large items,
since lines also stand out by their colour."""

SHARES = np.linspace(0.0, 1.0, 21)
"""Fractions of black or white to try mixing in, ascending."""

BRIGHTNESS = np.array([0.2126, 0.7152, 0.0722])
"""Luminance weights of linear red, green and blue (Rec. 709)."""


def theme_palette(theme: Any, plane: str) -> Palette:
    """Return the overlay's colours from Blender's theme, made readable on the viewport's background.

    The axes of a letter plane have the theme's colours of those axes, an object plane those of X and Y. The axes of a plane
    that turns with the limb mean nothing to the user, so they look like its grid.
    """
    interface, view = theme.user_interface, theme.view_3d
    background = view.space.gradients.high_gradient

    def on_background(color: Any, opacity: float) -> Color:
        return readable(color, background, opacity)

    grid = (*view.grid[:3], 0.5)
    axes = {"X": interface.axis_x, "Y": interface.axis_y, "Z": interface.axis_z}
    letters = plane if plane in LETTERS else "XY" if plane == "OBJECT" else ""
    u, v = (on_background(axes[letter], 0.9) for letter in letters) if letters else (grid, grid)
    return Palette(
        axis_u=u,
        axis_v=v,
        plane=grid,
        reach=on_background(view.bone_pose_active, 0.6),
        chosen=on_background(view.bone_pose, 1.0),
        reached=on_background(interface.axis_y, 1.0),
        soft=on_background(interface.gizmo_hi, 1.0),
        too_far=on_background(interface.axis_x, 1.0),
        too_near=on_background(interface.axis_z, 1.0),
        tip=on_background(view.object_active, 0.9),
    )


def readable(color: Any, background: Any, opacity: float) -> Color:
    """Mix in as little black or white, whichever contrasts more with the background, as reaches the minimum contrast."""
    foreground, behind = np.array(color[:3], dtype=float), np.array(background[:3], dtype=float)
    background_luminance = _luminance(behind)
    # Where these are equal, black and white have the same contrast with the background.
    extreme = np.zeros(3) if (background_luminance + 0.05) ** 2 > 0.05 * 1.05 else np.ones(3)
    mixed = foreground + SHARES[:, None] * (extreme - foreground)
    ratios = (_luminance(mixed) + 0.05) / (background_luminance + 0.05)
    enough = np.maximum(ratios, 1.0 / ratios) >= CONTRAST
    red, green, blue = mixed[int(np.argmax(enough))] if enough.any() else extreme
    return float(red), float(green), float(blue), opacity


def _luminance(colors: Any) -> Any:
    """Return the relative luminance `(...)` of sRGB colours `(..., 3)`, from 0 to 1."""
    linear = np.where(colors <= 0.04045, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4)  # noqa: PLR2004 - sRGB's curve
    return linear @ BRIGHTNESS
