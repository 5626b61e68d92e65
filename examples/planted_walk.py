"""Clean a walk with sliding feet in two calls.

    python examples/planted_walk.py

The body moves a fifth farther than the feet step, as after a retarget to another character, so that every foot slides while it
stands. Find Limbs finds the legs, Plant Feet detects when they are on the ground and holds them there. In the picture, the
ground under heel and ball is marked at each frame at which they stand: smears before, footprints after.
"""

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import bpy
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parent))
import body
import rigify_walk
import stage

TOO_FAR = 1.2
"""Distance that the body moves, divided by the distance that the feet step."""

FEET = {"Left Leg": ("foot_fk.L", "toe_fk.L"), "Right Leg": ("foot_fk.R", "toe_fk.R")}
"""Bones whose heads are at the ankle and at the ball of the foot, by the names that Find Limbs gives to the legs."""
STANDING = {"HEEL": ("HEEL",), "BALL": ("BALL",), "BOTH": ("HEEL", "BALL")}
RADII = {"HEEL": 0.036, "BALL": 0.045}
LANE = 1.3
"""Distance between the walks before and after, in metres."""
WORDS = ("before: feet slide", "after Plant Feet")
SHOWN = 81
"""Frame in the picture."""
PASSING = range(42, 76, 2)
"""Frames of the film."""

Places = Mapping[tuple[str, str], Sequence[Vector]]
"""Positions of each (leg, point) at every frame."""


class Print(NamedTuple):
    """A point of a foot that stands at a frame."""

    leg: str
    point: str
    frame: int


def make_sliding_walk(too_far: float = TOO_FAR, filtered: int = 0) -> bpy.types.Object:
    """A human with sliding feet, with keys on its bones and nothing else, as if imported from a file.

    filtered : frames to both sides over which the feet's way is averaged, as filters do that remove trembling
    """
    human, targets = rigify_walk.make_scene(arms=(rigify_walk.key_swing, rigify_walk.key_swing), filtered=filtered)
    rigify_walk.store_chains(human, targets)
    bpy.ops.twobone.bake_all(scope="ACTIVE")
    human.twobone.chains.clear()
    # An imported action has no record of replaced keys, so later bakes start from this walk.
    human.animation_data.action.property_unset("twobone_replaced")
    for target in targets:
        bpy.data.objects.remove(target)
    stretch_way(human, too_far)
    return human


def stretch_way(human: bpy.types.Object, too_far: float) -> None:
    """Make the torso move too far: scale the keys and handles of its location along Y."""
    torso = human.pose.bones["torso"]
    along = max(range(3), key=lambda axis: abs(torso.bone.matrix_local.col[axis].y))
    for curve in stage.curves_of(human):
        if curve.data_path == torso.path_from_id("location") and curve.array_index == along:
            for key in curve.keyframe_points:
                for point in (key.co, key.handle_left, key.handle_right):
                    point.y *= too_far
            curve.update()


def sole_places(human: bpy.types.Object) -> Places:
    """Positions of heels and balls at each frame; the heel is below the ankle, level with the ball."""
    places = {(leg, point): [] for leg in FEET for point in RADII}
    for frame in range(1, rigify_walk.LAST + 1):
        bpy.context.scene.frame_set(frame)
        for leg, (foot, toe) in FEET.items():
            ankle, ball = human.data.bones[foot].head_local, human.data.bones[toe].head_local
            posed = human.pose.bones[foot]
            heel = posed.bone.matrix_local.inverted() @ Vector((ankle.x, ankle.y, ball.z))
            places[leg, "HEEL"].append(posed.matrix @ heel)
            places[leg, "BALL"].append(human.pose.bones[toe].head.copy())
    return places


def clean(human: bpy.types.Object) -> dict:
    """Find the legs and plant their feet; Blender prints how far feet slid before and after. Returns the report."""
    bpy.ops.twobone.find_limbs(armature=human.name)
    bpy.ops.twobone.plant(armature=human.name)
    return stage.last_report()


def prints_of(told: dict) -> list[Print]:
    """The points that stand at each frame, from a report of Plant Feet."""
    return [
        Print(chain["chain"], point, frame)
        for chain in told["chains"]
        for contact in chain["contacts"]
        for frame in range(round(contact["first"]), round(contact["last"]) + 1)
        for point in STANDING[contact["point"]]
    ]


def mark(name: str, prints: Sequence[Print], places: Places, colour: tuple[float, float, float], across: float = 0.0) -> None:
    """Draw a disc on the ground below each standing point, all in one mesh."""
    turns = [math.tau * side / 20 for side in range(20)]
    points = [
        (place.x + across + radius * math.cos(turn), place.y + radius * math.sin(turn), 0.002 + 1e-5 * number)
        for number, (place, radius) in enumerate((places[leg, point][frame - 1], RADII[point]) for leg, point, frame in prints)
        for turn in turns
    ]
    discs = bpy.data.meshes.new(name)
    discs.from_pydata(points, [], [range(first, first + 20) for first in range(0, len(points), 20)])
    stage.add(name, discs, stage.material(name, colour, roughness=0.9))


def leave_behind(human: bpy.types.Object) -> None:
    """Leave a copy of the body as it is before cleaning, in its own lane and colour."""
    skin = human.children[0]
    body.repaint(skin, stage.material("Person", stage.SAND), but=("Left wrist", "Right wrist"))
    (before,) = body.leave_poses(skin, [SHOWN], across=-LANE)
    body.repaint(before, stage.material("Person before", (0.90, 0.50, 0.30)))


def show_footprints(arguments: argparse.Namespace, name: str, prints: Sequence[Print], slid: Places, stands: Places) -> None:
    """Picture the walks before (its copy in its own lane) and after, both with their footprints.

    Everything drawn for the picture is removed afterwards.
    """
    mark("Before", prints, slid, stage.ORANGE, -LANE)
    mark("After", prints, stands, stage.BLUE)
    end = -TOO_FAR * rigify_walk.walked(SHOWN)
    for words, across, colour in zip(WORDS, (-LANE - 0.45, 0.5), (stage.ORANGE, stage.BLUE), strict=True):
        stage.write(words, (across, end + 1.9, 0.0), colour)
    centre = Vector((-0.45 * LANE, end + 1.1, 0.78))
    stage.look(centre + Vector((6.0, 0.5, 3.1)), centre, lens=48.0)
    stage.picture(arguments, name, SHOWN, height=0.56)
    for drawn in ("Before", "After", *WORDS, f"Body at {SHOWN}"):
        bpy.data.objects.remove(bpy.data.objects[drawn])


def film_passing(arguments: argparse.Namespace, name: str, prints: Sequence[Print], places: Places, colour: tuple) -> None:
    """Film the legs as they pass a fixed camera, with the footprints they leave."""
    middle = -TOO_FAR * rigify_walk.walked((PASSING[0] + PASSING[-1] + 2) / 2)
    stage.look((3.0, middle, 0.70), (0.0, middle, 0.35), lens=46.0)

    def leave_prints(frame: int) -> None:
        for thing in [thing for thing in bpy.context.scene.objects if thing.name.startswith("Prints")]:
            bpy.data.objects.remove(thing)
        mark("Prints", [seen for seen in prints if seen.frame <= frame], places, colour)

    stage.film(arguments, name, PASSING, height=0.42, follow=leave_prints, width=640)


def film_both(
    arguments: argparse.Namespace,
    human: bpy.types.Object,
    prints: Sequence[Print],
    before: tuple[bpy.types.Action, Places],
    after: tuple[bpy.types.Action, Places],
) -> None:
    """Film the walks before and after, by playing their actions again."""
    animation = human.animation_data
    for name, (action, places), colour in zip(("sliding", "standing"), (before, after), (stage.ORANGE, stage.BLUE), strict=True):
        animation.action = action
        if hasattr(animation, "action_slot"):
            animation.action_slot = action.slots[0]
        film_passing(arguments, name, prints, places, colour)


def main(arguments: argparse.Namespace) -> None:
    """Make a walk that slides, clean it, show the footprints before and after."""
    human = make_sliding_walk()
    stage.save(arguments, "sliding_walk")
    slid, recorded = sole_places(human), human.animation_data.action.copy()
    leave_behind(human)
    prints = prints_of(clean(human))
    stands = sole_places(human)
    stage.save(arguments, "planted_walk")
    show_footprints(arguments, "planted_walk", prints, slid, stands)
    if arguments.film:
        film_both(arguments, human, prints, (recorded, slid), (human.animation_data.action, stands))


if __name__ == "__main__":
    stage.run(main, "planted_walk")
