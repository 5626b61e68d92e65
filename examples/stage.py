"""Helpers that the examples share: registering the add-on, solid bones, target paths, light, camera and rendering.

Nothing here is needed to bake. Run an example with `python examples/NAME.py` where bpy is installed, or with
`blender --background --python examples/NAME.py`.
"""

import argparse
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import bpy
from mathutils import Matrix, Vector

ROOT = Path(__file__).resolve().parent.parent

SAND = (0.78, 0.66, 0.50)
BLUE = (0.03, 0.22, 0.62)
ORANGE = (0.95, 0.28, 0.03)
TEAL = (0.0, 0.42, 0.40)
YELLOW = (0.95, 0.62, 0.04)
DARK = (0.05, 0.06, 0.08)
PALE = (0.82, 0.84, 0.88)

FILM_WIDTH, FILM_SAMPLES = 480, 8


def run(example: Callable[[argparse.Namespace], None], name: str) -> None:
    """Run one example in an empty file with the add-on registered, then end the process.

    It ends without Python's own clean-up: after Rigify has generated a rig, Blender 4.2 and 4.5 crash in that.
    """
    parser = argparse.ArgumentParser(prog=f"examples/{name}.py")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / name, help="output folder")
    parser.add_argument("--no-picture", action="store_true", help="bake and save, but render nothing")
    parser.add_argument("--film", action="store_true", help="also render a short film as an image sequence, if there is one")
    parser.add_argument("--width", type=int, default=960, help="width of the picture (default: 960)")
    parser.add_argument("--samples", type=int, default=8, help="render samples per pixel (default: 8)")
    given = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else ([] if bpy.app.binary_path else sys.argv[1:])
    arguments = parser.parse_args(given)
    arguments.output = arguments.output.resolve()
    arguments.output.mkdir(parents=True, exist_ok=True)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    have_addon()
    code = 1
    try:
        example(arguments)
        code = 0
    finally:
        sys.stdout.flush()
        if code:
            sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
        os._exit(code)


def have_addon() -> None:
    """Register the add-on of this checkout."""
    sys.path.insert(0, str(ROOT))
    from twobone_addon import registration  # noqa: PLC0415, can be imported only now that its folder is on the path

    registration.register()


def last_report() -> dict:
    """The report of the last bake."""
    return json.loads(bpy.context.window_manager.twobone_report)


def report() -> dict:
    """Print the report of the last bake, chain by chain, and return it."""
    told = last_report()
    row = "{:<14} {:<14} {:<12} {:>6} {:>6} {:>8} {:>8} {:>13}"
    print(row.format("upper", "lower", "target", "frames", "keys", "F-Curves", "in reach", "max error (m)"))
    for chain in told["chains"]:
        worst = "-" if chain["max_error"] is None else f"{chain['max_error']:.1e}"
        numbers = (chain["frames"], chain["keys"], chain["channels"], chain["reached"], worst)
        print(row.format(chain["upper"], chain["lower"], chain["target"], *numbers))
    seconds = told["seconds"]
    print("seconds: " + ", ".join(f"{stage} {spent:.3f}" for stage, spent in seconds.items()))
    return told


def save(arguments: argparse.Namespace, name: str) -> None:
    """Save the file and print its path."""
    path = arguments.output / f"{name}.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True)
    print(f"Blender file: {path}")


def material(name: str, colour: Sequence[float], *, glow: float = 0.0, roughness: float = 0.5) -> bpy.types.Material:
    """A plain material, created once per name."""
    made = bpy.data.materials.get(name) or bpy.data.materials.new(name)
    made.use_nodes = True
    made.diffuse_color = (*colour, 1.0)
    inputs = made.node_tree.nodes["Principled BSDF"].inputs
    inputs["Base Color"].default_value = (*colour, 1.0)
    inputs["Roughness"].default_value = roughness
    inputs["Emission Color"].default_value = (*colour, 1.0)
    inputs["Emission Strength"].default_value = glow
    return made


def add(name: str, data: bpy.types.ID | None, colour: bpy.types.Material | None = None) -> bpy.types.Object:
    """Add a new object to the scene."""
    made = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(made)
    if colour is not None:
        data.materials.append(colour)
    return made


def mesh_of(name: str, rings: Sequence[tuple[float, float, float]], sides: int = 24) -> bpy.types.Mesh:
    """A smooth solid of elliptic rings around the Y axis: (Y, half width, half depth) of each ring."""
    turns = [2.0 * math.pi * side / sides for side in range(sides)]
    points = [(wide * math.cos(turn), place, deep * math.sin(turn)) for place, wide, deep in rings for turn in turns]
    faces = [
        (
            ring * sides + side,
            ring * sides + (side + 1) % sides,
            (ring + 1) * sides + (side + 1) % sides,
            (ring + 1) * sides + side,
        )
        for ring in range(len(rings) - 1)
        for side in range(sides)
    ]
    faces += [tuple(range(sides)), tuple(reversed(range((len(rings) - 1) * sides, len(rings) * sides)))]
    made = bpy.data.meshes.new(name)
    made.from_pydata(points, [], [tuple(reversed(face)) for face in faces])
    made.polygons.foreach_set("use_smooth", [True] * len(made.polygons))
    return made


def capsule(name: str, length: float, start: float, end: float, flatness: float = 1.0) -> bpy.types.Mesh:
    """A rounded rod from the origin along Y, with a radius at each end; flatness is the ratio of depth to width."""
    steps = [math.pi / 2.0 * step / 8 for step in range(8)]
    first = [(-start * math.cos(step), start * math.sin(step)) for step in steps[:1] + steps[1:]]
    last = [(length + end * math.sin(step), end * math.cos(step)) for step in steps]
    outline = [*((place, max(radius, 1e-4)) for place, radius in first), (0.0, start), *last, (length + end, 1e-4)]
    return mesh_of(name, [(place, radius, radius * flatness) for place, radius in outline])


def solid_bone(
    armature: bpy.types.Object, bone: str, radii: tuple[float, float], colour: bpy.types.Material, *, flatness: float = 1.0
) -> bpy.types.Object:
    """Add a rod that moves with a bone."""
    length = armature.data.bones[bone].length
    made = add(f"Solid {bone}", capsule(bone, length, *radii, flatness), colour)
    made.parent, made.parent_type, made.parent_bone = armature, "BONE", bone
    made.location = (0.0, -length, 0.0)
    return made


def ball(name: str, radius: float, colour: bpy.types.Material) -> bpy.types.Object:
    """Add a sphere at the origin."""
    return add(name, capsule(name, 0.0, radius, radius), colour)


def curves_of(thing: bpy.types.Object) -> list[bpy.types.FCurve]:
    """All F-Curves of an object, in layered actions as well as in older ones."""
    action = thing.animation_data.action
    if hasattr(action, "layers"):
        return list(action.layers[0].strips[0].channelbag(thing.animation_data.action_slot).fcurves)
    return list(action.fcurves)


def keys_of(thing: bpy.types.Object) -> list[bpy.types.Keyframe]:
    """All keys of an object."""
    return [point for curve in curves_of(thing) for point in curve.keyframe_points]


def world_places(armature: bpy.types.Object, bone: str, frames: Iterable[int]) -> list[Vector]:
    """World position of a bone's head at each frame."""
    places = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        places.append(armature.matrix_world @ armature.pose.bones[bone].head)
    return places


def make_path(
    name: str, places: Iterable[Sequence[float]], colour: Sequence[float], thickness: float = 0.006
) -> bpy.types.Object:
    """Add a glowing line through positions in the world."""
    data = bpy.data.curves.new(name, "CURVE")
    data.dimensions = "3D"
    data.bevel_depth = thickness
    line = data.splines.new("POLY")
    places = list(places)
    line.points.add(len(places) - 1)
    line.points.foreach_set("co", [number for place in places for number in (*place, 1.0)])
    return add(name, data, material(f"Path {name}", colour, glow=0.6))


def write(text: str, place: Sequence[float], colour: Sequence[float], *, size: float = 0.2) -> None:
    """Add text that lies on the ground, readable from the side of +X."""
    data = bpy.data.curves.new(text, "FONT")
    data.body, data.size, data.align_x = text, size, "CENTER"
    words = add(text, data, material(f"Words {text}", colour, roughness=0.9))
    words.location, words.rotation_euler = (place[0], place[1], 0.003), (0.0, 0.0, math.pi / 2.0)


def show_target(target: bpy.types.Object, colour: Sequence[float], frames: Iterable[int], size: float = 0.03) -> None:
    """Add a ball at the target and a line along its path."""
    marker = ball(f"Ball {target.name}", size, material(f"Path {target.name}", colour, glow=0.6))
    marker.parent = target
    places = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        places.append(target.matrix_world.translation.copy())
    make_path(target.name, places, colour, size * 0.3)


def show_reach(centre: Sequence[float], lengths: tuple[float, float], colour: Sequence[float], thickness: float = 0.006) -> None:
    """Draw the ring in the YZ plane that two links reach: its outer edge, and the inner one if their lengths differ."""
    for radius in (lengths[0] + lengths[1], abs(lengths[0] - lengths[1])):
        turns = [math.tau * step / 96 for step in range(97)]
        edge = [(centre[0], centre[1] + radius * math.cos(turn), centre[2] + radius * math.sin(turn)) for turn in turns]
        if radius > thickness:
            make_path("Reach", edge, colour, thickness)


def leave_poses(armature: bpy.types.Object, frames: Iterable[int]) -> None:
    """Leave a copy of the armature's solid bones at each frame, as in a multiple exposure."""
    solids = [thing for thing in bpy.context.scene.objects if thing.parent == armature and thing.parent_type == "BONE"]
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        for solid, place in [(solid, solid.matrix_world.copy()) for solid in solids]:
            add(f"{solid.name} at {frame}", solid.data).matrix_world = place


def light_and_ground(*, sky: float = 0.7, ground: Sequence[float] = (0.80, 0.80, 0.78), size: float = 60.0) -> None:
    """Add a large ground, a soft sky and a sun with soft shadows."""
    plane = bpy.data.meshes.new("Ground")
    plane.from_pydata([(-size, -size, 0), (size, -size, 0), (size, size, 0), (-size, size, 0)], [], [(0, 1, 2, 3)])
    add("Ground", plane, material("Ground", ground, roughness=0.9))
    world = bpy.data.worlds.new("Sky")
    world.use_nodes = True
    background = world.node_tree.nodes["Background"].inputs
    background["Color"].default_value = (0.86, 0.92, 1.0, 1.0)
    background["Strength"].default_value = sky
    bpy.context.scene.world = world
    sun = bpy.data.lights.new("Sun", "SUN")
    sun.energy, sun.angle, sun.color = 2.2, math.radians(8.0), (1.0, 0.95, 0.86)
    add("Sun", sun).rotation_euler = (math.radians(48.0), math.radians(8.0), math.radians(38.0))


def look(at: Sequence[float], towards: Sequence[float], *, lens: float = 60.0) -> None:
    """Place the camera at one point and aim it at another."""
    camera = bpy.context.scene.camera or add("Camera", bpy.data.cameras.new("Camera"))
    camera.data.lens = lens
    bpy.context.scene.camera = camera
    turn = (Vector(towards) - Vector(at)).to_track_quat("-Z", "Y")
    camera.matrix_world = Matrix.Translation(at) @ turn.to_matrix().to_4x4()


def picture(arguments: argparse.Namespace, name: str, frame: int, *, height: float = 0.625) -> None:
    """Render one frame on the CPU and print the picture's path; height is relative to the width."""
    if not arguments.no_picture:
        path = arguments.output / f"{name}.png"
        render(path, frame, width=arguments.width, height=height, samples=arguments.samples)
        print(f"Picture: {path}")


def film(
    arguments: argparse.Namespace,
    name: str,
    frames: Iterable[int],
    *,
    height: float = 0.625,
    follow: Callable[[int], None] | None = None,
    width: int = FILM_WIDTH,
) -> None:
    """With `--film`, render frames as small numbered pictures; `follow` is called before each, for example to move the camera."""
    for number, frame in enumerate(frames if arguments.film else ()):
        if follow:
            follow(frame)
        render(arguments.output / f"{name}_{number:03}.png", frame, width=width, height=height, samples=FILM_SAMPLES)


def render(path: Path, frame: int, *, width: int, height: float, samples: int) -> None:
    """Render one frame to a file."""
    scene = bpy.context.scene
    scene.frame_set(frame)
    scene.render.engine = "CYCLES"
    scene.cycles.samples = samples
    scene.cycles.max_bounces, scene.cycles.use_denoising = 3, True
    scene.view_settings.view_transform = "Standard"
    scene.render.resolution_x, scene.render.resolution_y = width, round(width * height)
    scene.render.resolution_percentage = 100
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
