"""Draw a chart with Blender's own curves and text objects, so that no other library is needed."""

import argparse
import math
from collections.abc import Mapping, Sequence

import bpy
import stage

WIDE, HIGH = 3.0, 1.0
"""Size of the chart's plot area, in metres."""
STEPS = 6
"""Largest value up to which every unit has a grid line; above it, every fifth."""
INK, FAINT = (0.02, 0.025, 0.035), (0.62, 0.65, 0.70)


Colour = tuple[float, float, float]
Line = Sequence[tuple[float, float]]
"""Values over time: (time, value)."""
Series = Mapping[str, tuple[Sequence[Line], Colour]]
"""Lines and their common colour, by name."""


def draw(arguments: argparse.Namespace, name: str, title: str, series: Series, *, across: str) -> None:
    """Draw and render series in a new scene; `across` labels the time axis."""
    if arguments.no_picture:
        return
    shown_before = bpy.context.window.scene
    bpy.context.window.scene = bpy.data.scenes.new("Chart")
    points = [point for lines, _ in series.values() for line in lines for point in line]
    last, highest = (max(values) for values in zip(*points, strict=True))
    step = 5.0 if highest > STEPS else 1.0
    top = step * math.ceil(highest / step)
    world = bpy.data.worlds.new("Paper")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (1.0, 1.0, 1.0, 1.0)
    bpy.context.scene.world = world
    for tick in range(round(top / step) + 1):
        height = HIGH * tick * step / top
        rule([(0.0, height), (WIDE, height)], FAINT, 0.002)
        words(f"{tick * step:g}", (-0.06, height - 0.025), align="RIGHT")
    for tick in range(int(last) + 1):
        words(f"{tick}", (WIDE * tick / last, -0.12))
    words(across, (WIDE / 2.0, -0.25))
    words(title, (0.0, HIGH + 0.13), align="LEFT", size=0.105)
    for number, (label, (lines, colour)) in enumerate(series.items()):
        for line in lines:
            rule([(WIDE * time / last, HIGH * value / top) for time, value in line], colour, 0.009)
        words(label, (WIDE - 0.75 + 0.45 * number, HIGH + 0.13), colour, align="LEFT", size=0.105)
    stage.look((WIDE / 2.0 - 0.05, 0.46, 5.0), (WIDE / 2.0 - 0.05, 0.46, 0.0))
    camera = bpy.context.scene.camera.data
    camera.type, camera.ortho_scale = "ORTHO", WIDE + 0.4
    stage.picture(arguments, name, 1, height=0.48)
    finished = bpy.context.window.scene
    bpy.context.window.scene = shown_before
    for thing in list(finished.objects):
        bpy.data.objects.remove(thing)
    bpy.data.scenes.remove(finished)


def rule(points: Sequence[tuple[float, float]], colour: Colour, thickness: float) -> None:
    """Draw a line through points of the plot area."""
    stage.make_path("Line", [(x, y, thickness) for x, y in points], colour, thickness).data.materials[0] = ink(colour)


def words(text: str, place: tuple[float, float], colour: Colour = INK, *, align: str = "CENTER", size: float = 0.08) -> None:
    """Write text at a point of the plot area."""
    data = bpy.data.curves.new(text, "FONT")
    data.body, data.size, data.align_x = text, size, align
    stage.add(text, data, ink(colour)).location = (*place, 0.02)


def ink(colour: Colour) -> bpy.types.Material:
    """A material whose colour does not depend on light."""
    made = stage.material(f"Ink {colour}", (0.0, 0.0, 0.0), roughness=1.0)
    inputs = made.node_tree.nodes["Principled BSDF"].inputs
    inputs["Specular IOR Level"].default_value = 0.0
    inputs["Emission Color"].default_value, inputs["Emission Strength"].default_value = (*colour, 1.0), 1.0
    return made
