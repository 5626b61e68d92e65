"""Make the pictures of the recipes: run each script of docs/recipes.md in the tests' shot, and render the result.

    nox -s pictures -- recipes

The moments of a motion are shown side by side, as in a strip. Needs the bpy module.
"""

import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import bpy
from mathutils import Matrix, Vector

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "examples")]

import stage  # noqa: E402, the folders are on the path only now

from tests.examples import recipe_scene  # noqa: E402
from twobone_addon import registration  # noqa: E402

IMAGES = ROOT / "docs" / "images"
PAGE = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
WIDTH, HEIGHT, SAMPLES, QUALITY = 640, 0.5, 8, 88
PALE = (0.88, 0.80, 0.70)
LEG = {"thigh": (0.075, 0.06), "shin": (0.058, 0.045), "foot": (0.042, 0.03)}
ARM = {"upper_arm": (0.05, 0.042), "forearm": (0.042, 0.033), "hand": (0.034, 0.028)}
SIDE = Vector((1.0, 0.0, 0.0))

Colour = tuple[float, float, float]


def main() -> None:
    """Make the pictures named on the command line, or all."""
    registration.register()
    for name in sys.argv[1:] or PICTURES:
        heading, draw = PICTURES[name]
        bpy.ops.wm.read_factory_settings(use_empty=True)
        (recipe_scene.make_rigify_shot if name == "rigify" else recipe_scene.make_recipe_shot)()
        for thing, shown in (("Stairs", "stairs"), ("Board", "prop")):
            if name not in {shown, "rigify"}:
                bpy.data.objects[thing].hide_render = True
        stage.light_and_ground()
        draw(lambda heading=heading: run(heading))
        picture(name)
    sys.stdout.flush()
    os._exit(0)  # After Rigify has generated a rig, Blender 4.2 and 4.5 crash in a normal exit.


def run(heading: str) -> None:
    """Run the script below a heading of the page."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    (script,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    exec(compile(script, heading, "exec"), {})  # noqa: S102 - the page's own script


def picture(name: str) -> None:
    """Render the first frame: moving things are shown by the copies that `leave` has made."""
    settings = bpy.context.scene.render.image_settings
    settings.file_format, settings.quality = "WEBP", QUALITY
    goal = IMAGES / f"recipe_{name}.webp"
    stage.render(goal, 1, width=WIDTH, height=HEIGHT, samples=SAMPLES)
    print(goal, flush=True)


def dress(name: str, radii: dict[str, tuple[float, float]], sides: str = "LR") -> list[bpy.types.Object]:
    """Rods around a character's bones, to be copied by `leave` and removed by `put_away`."""
    paint = stage.material("Rod", PALE)
    bones = [f"{bone}.{side}" for bone in radii for side in sides] if sides else list(radii)
    return [stage.solid_bone(bpy.data.objects[name], bone, radii[bone.split(".")[0]], paint) for bone in bones]


def leave(solids: Sequence[bpy.types.Object], frame: int, colour: Colour, way: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
    """Leave a copy of the solids as they are at a frame, moved by the offset `way`."""
    bpy.context.scene.frame_set(frame)
    paint = stage.material(f"Left {colour}", colour, roughness=0.45)
    for solid in solids:
        copy = stage.add(solid.name, solid.data)
        copy.matrix_world = Matrix.Translation(way) @ solid.matrix_world
        copy.material_slots[0].link = "OBJECT"
        copy.material_slots[0].material = paint


def put_away(solids: Sequence[bpy.types.Object]) -> None:
    """Remove the solids after their copies have been left."""
    for solid in solids:
        bpy.data.objects.remove(solid)


def strip(
    solids: Sequence[bpy.types.Object], frames: Sequence[int], colours: Sequence[Colour], gap: float, *, along: str = "y"
) -> None:
    """Leave copies side by side, the first at the left for a camera that looks from the side or, along X, from the front."""
    for number, (frame, colour) in enumerate(zip(frames, colours, strict=True)):
        way = [0.0, 0.0, 0.0]
        way["xyz".index(along)] = gap * (number - (len(frames) - 1) / 2.0)
        leave(solids, frame, colour, way)
    put_away(solids)


def bones_path(name: str, bone: str, colour: Colour, frames: Sequence[int]) -> None:
    """Draw the path of a bone's head."""
    places = [place.copy() for place in stage.world_places(bpy.data.objects[name], bone, frames)]
    stage.make_path(f"{name} {bone} {colour}", places, colour, 0.006)


def look_from_side(centre: Sequence[float], distance: float, *, up: float = 0.2, lens: float = 60.0) -> None:
    """Place the camera on the +X side."""
    stage.look(Vector(centre) + Vector((distance, 0.0, up * distance)), centre, lens=lens)


def follow_prop(bake: Callable[[], None]) -> None:
    """A foot on a board that moves back and forth, up and down."""
    bake()
    deck = bpy.data.objects["Board"]
    cast("bpy.types.Mesh", deck.data).materials.append(stage.material("Rod", PALE))
    frames, gap = (1, 15, 43, 72), 0.7
    strip([deck], frames, [stage.TEAL] * 4, gap)
    strip(dress("Rig", LEG, "L"), frames, [stage.ORANGE] * 4, gap)
    look_from_side((0.1, -0.05, 0.50), 5.4, up=0.12, lens=60.0)


def nudge(bake: Callable[[], None]) -> None:
    """The hand and its path, before and after."""
    shown = range(34, 67)
    bones_path("Walker", "hand.L", stage.ORANGE, shown)
    arm = dress("Walker", ARM, "L")
    leave(arm, 50, PALE)
    bake()
    bones_path("Walker", "hand.L", stage.BLUE, shown)
    leave(arm, 50, stage.BLUE)
    put_away(arm)
    look_from_side((0.2, -0.02, 1.12), 2.6, up=0.08, lens=66.0)


def follow_other(bake: Callable[[], None]) -> None:
    """Pairs of legs: the leading and the following one."""
    bake()
    frames, gap = (10, 25, 40, 55), 0.78
    leading, following = dress("Walker", LEG, "L"), dress("Rig", LEG, "L")
    for solids, colour, apart in ((leading, PALE, 0.15), (following, stage.BLUE, -0.15)):
        for number, frame in enumerate(frames):
            leave(solids, frame, colour, (0.0, gap * (number - 1.5) + apart, 0.0))
        put_away(solids)
    look_from_side((0.1, 0.05, 0.52), 6.0, up=0.1)


def rigify(bake: Callable[[], None]) -> None:
    """The deforming leg at three moments: on IK, on FK, on IK."""
    bake()
    radii = {"DEF-thigh.L": (0.085, 0.07), "DEF-thigh.L.001": (0.068, 0.058), "DEF-shin.L": (0.058, 0.05)}
    radii |= {"DEF-shin.L.001": (0.048, 0.036), "DEF-foot.L": (0.042, 0.04), "DEF-toe.L": (0.038, 0.028)}
    rig, paint = bpy.context.view_layer.objects.active, stage.material("Rod", PALE)
    solids = [stage.solid_bone(rig, bone, size, paint) for bone, size in radii.items()]
    frames = (10, 30, 50)
    strip(solids, frames, (stage.ORANGE, stage.BLUE, stage.ORANGE), 0.95)
    for number, words in enumerate(("IK, frame 10", "FK, frame 30", "IK, frame 50")):
        colour = stage.BLUE if "FK" in words else stage.ORANGE
        stage.write(words, (0.55, 0.95 * (number - 1) - 0.05, 0.0), colour, size=0.13)
    look_from_side((0.2, -0.05, 0.45), 4.6, up=0.32)


def flip(bake: Callable[[], None]) -> None:
    """The arm at the last frame before the key, and at the key."""
    bake()
    arm = dress("Cut-out", {"arm": (0.05, 0.045), "forearm": (0.045, 0.035)}, "")
    strip(arm, (1, 29, 30, 96), (stage.TEAL, stage.TEAL, stage.ORANGE, stage.ORANGE), 0.62, along="x")
    for number, frame in enumerate((1, 29, 30, 96)):
        bpy.context.scene.frame_set(frame)
        ball = stage.ball(f"Target {frame}", 0.03, stage.material("Target", stage.BLUE, glow=0.4))
        ball.location = bpy.data.objects["Ball"].matrix_world.translation + Vector((0.62 * (number - 1.5), -0.06, 0.0))
    stage.look((0.25, -4.6, 1.55), (0.25, 0.0, 1.45), lens=62.0)


def hind_leg(bake: Callable[[], None]) -> None:
    """Three links that fold and stretch towards the paw."""
    bake()
    frames, gap = (1, 24, 48, 72, 96), 0.55
    strip(
        dress("Dog", {"thigh": (0.07, 0.055), "shin": (0.055, 0.04), "metatarsus": (0.04, 0.03)}, ""),
        frames,
        [stage.SAND] * 5,
        gap,
    )
    for number, frame in enumerate(frames):
        bpy.context.scene.frame_set(frame)
        ball = stage.ball(f"Target {frame}", 0.04, stage.material("Target", stage.BLUE, glow=0.4))
        ball.location = bpy.data.objects["Paw"].matrix_world.translation + Vector((0.06, gap * (number - 2), 0.0))
    look_from_side((0.0, 0.0, 0.48), 4.4, up=0.1)


PICTURES: dict[str, tuple[str, Callable[[Callable[[], None]], None]]] = {
    "prop": ("Follow a prop", follow_prop),
    "nudge": ("Nudge a hand by 5 cm for twenty frames, on top of mocap", nudge),
    "other": ("Follow another character's leg", follow_other),
    "rigify": ("Go from Rigify's IK to FK over a range, and back", rigify),
    "flip": ("Flip an elbow in the middle of a shot", flip),
    "hind_leg": ("A hind leg with three links", hind_leg),
}

if __name__ == "__main__":
    main()
