"""A complete workflow on a real rig: `nox -s demo`.

Start with a walk whose feet slide, as after a retarget and a filter. Find its limbs and plant its feet. Give both hands targets,
one to wave and one to carry, and bake the arms with reduced keys. What is printed of feet and hands is measured here, from the
bones as Blender evaluates them. Writes a Blender file, the reports as JSON and three pictures, and prints their paths.
"""

import argparse
import sys
from pathlib import Path

import bpy
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parent))
import body
import chart
import planted_walk
import rigify_walk
import stage
from planted_walk import Places, Print

MOMENTS = (41, 61, 81)
"""Frames shown side by side."""
TOO_FAR = 1.15
"""Distance that the body moves, divided by the distance that the feet step."""
FILTERED = 6
"""Frames to both sides over which the feet's way is averaged."""
ELBOW = Vector((0.45, 0.25, -0.45))
"""Where the left elbow points, from the shoulder: outwards, down and back."""
TOLERANCE = 0.002
"""Largest drift of a hand that reducing keys may cause, in metres."""
ARM_COLOURS = {"Left Arm": stage.YELLOW, "Right Arm": stage.BLUE}


def say(number: int, text: str) -> None:
    """Print the heading of a step."""
    print(f"\n{number}. {text}", flush=True)


def key_carry(target: bpy.types.Object, shoulder: Vector) -> None:
    """Key the right hand as if it carried something in front of the chest."""
    for frame in range(1, rigify_walk.LAST + 4, 4):
        target.location = shoulder + Vector((-0.02, -0.36 - TOO_FAR * rigify_walk.walked(frame), -0.16))
        target.keyframe_insert("location", frame=frame)


def key_wave(target: bpy.types.Object, shoulder: Vector) -> None:
    """Key the left hand to wave."""
    rigify_walk.key_wave(target, shoulder, pace=TOO_FAR)


def key_elbow(pole: bpy.types.Object, shoulder: Vector) -> None:
    """Key the pole of the left arm to walk along."""
    for frame in range(1, rigify_walk.LAST + 4, 4):
        pole.location = shoulder + ELBOW - Vector((0.0, TOO_FAR * rigify_walk.walked(frame), 0.0))
        pole.keyframe_insert("location", frame=frame)


def move_arms(human: bpy.types.Object) -> list[bpy.types.Object]:
    """Give each found arm a target, and bake the arms with reduced keys."""
    targets = []
    for name, key_arm in (("Left Arm", key_wave), ("Right Arm", key_carry)):
        chain = human.twobone.chains[name]
        chain.target = stage.add(f"{name} target", None)
        chain.keys, chain.tolerance, chain.frame_range = "REDUCE", TOLERANCE, "SCENE"
        shoulder = human.data.bones[chain.upper].head_local
        key_arm(chain.target, shoulder)
        if key_arm is key_wave:
            chain.plane, chain.pole = "POLE", stage.add(f"{name} pole", None)
            key_elbow(chain.pole, shoulder)
        targets.append(chain.target)
    for chain in human.twobone.chains:
        chain.enabled = chain.limb == "ARM"
    bpy.ops.twobone.bake_all(scope="ACTIVE")
    for name, chain in zip(ARM_COLOURS, stage.last_report()["chains"], strict=True):
        off = max(chain["max_distance_to_target"], chain["between_frames"])
        print(f"{name}: at most {1000.0 * off:.1f} mm off, between frames too; up to {1000.0 * TOLERANCE:g} mm were allowed.")
    return targets


def show_moments(arguments: argparse.Namespace, human: bpy.types.Object, targets: list[bpy.types.Object]) -> None:
    """Picture the body at three moments, with the paths of the targets."""
    for target, colour in zip(targets, ARM_COLOURS.values(), strict=True):
        stage.show_target(target, colour, range(1, rigify_walk.LAST + 1))
    body.leave_poses(human.children[0], MOMENTS[:-1])
    way = TOO_FAR * rigify_walk.walked(MOMENTS[1])
    centre = Vector((0.0, -way, 0.92))
    stage.look(centre + Vector((5.4, -2.6, 0.9)), centre, lens=54.0)
    stage.picture(arguments, "moments", MOMENTS[-1], height=0.6)


def slides_of(prints: list[Print], places: Places) -> list[list[tuple[float, float]]]:
    """For each contact of a ball of the foot: distance travelled since it came down in centimetres, over time in seconds."""
    rate = bpy.context.scene.render.fps
    lines: list[list[tuple[float, float]]] = []
    for leg in planted_walk.FEET:
        frames = sorted(seen.frame for seen in prints if (seen.leg, seen.point) == (leg, "BALL"))
        way = [place.xy for place in places[leg, "BALL"]]
        for before, frame in zip([None, *frames], frames, strict=False):
            if before != frame - 1:
                start = way[frame - 1]
                lines.append([])
            lines[-1].append((frame / rate, 100.0 * (way[frame - 1] - start).length))
    return lines


def write_report(arguments: argparse.Namespace, name: str) -> None:
    """Write the last report to a file."""
    path = arguments.output / f"{name}.json"
    path.write_text(bpy.context.window_manager.twobone_report, encoding="utf-8")
    print(f"Report: {path}")


def clean_feet(arguments: argparse.Namespace, human: bpy.types.Object) -> None:
    """Plant the feet, and picture the effect."""
    slid = planted_walk.sole_places(human)
    planted_walk.leave_behind(human)
    report = planted_walk.clean(human)
    prints = planted_walk.prints_of(report)
    write_report(arguments, "planted_report")
    stands = planted_walk.sole_places(human)
    slides = {"before": (slides_of(prints, slid), stage.ORANGE), "after": (slides_of(prints, stands), stage.BLUE)}
    before, after = (max(value for line in lines for _, value in line) for lines, _ in slides.values())
    print(f"While it stood a ball travelled by up to {before:.0f} cm, and now by {after:.1f} cm.")
    before, after = report["skate_share_before"], report["skate_share_after"]
    print(f"The skate share was {before:.0%}, and now is {after:.0%}: low frames in which a foot swings forward.")
    chart.draw(arguments, "slide", "How far a ball has travelled since it came down (cm)", slides, across="seconds")
    planted_walk.show_footprints(arguments, "footprints", prints, slid, stands)


def main(arguments: argparse.Namespace) -> None:
    """Run all steps."""
    say(1, f"A walk comes in, on Rigify's human in Blender {bpy.app.version_string}; its feet slide.")
    human = planted_walk.make_sliding_walk(TOO_FAR, FILTERED)
    say(2, "Find Limbs and Plant Feet: two clicks.")
    clean_feet(arguments, human)
    say(3, "A target for each hand: the left one waves, the right one carries. Bake All, with Reduce.")
    targets = move_arms(human)
    write_report(arguments, "report")
    stage.save(arguments, "demo")
    show_moments(arguments, human, targets)


if __name__ == "__main__":
    stage.run(main, "demo")
