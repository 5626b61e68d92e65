"""Draw the effect of tasks on characters made by the tests: `nox -s pictures -- stories`.

Each figure runs its task in a new file, and draws what Blender evaluates before and after. Needs the bpy module.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import bpy
import numpy as np
from drawing import BLUE, GREY, INK, ORANGE, RED, TEAL, Figure, Frame
from mathutils import Quaternion

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.examples.recipe_scene import make_biped  # noqa: E402
from tests.tasks.checks.seen_walk import SIDES, Seen, planted_states, whole_frames  # noqa: E402
from tests.tasks.nudge.nudging import seen  # noqa: E402
from tests.tasks.rigs.retargeted import made_pair  # noqa: E402
from tests.tasks.rigs.walker import Walk, build_walker  # noqa: E402
from tests.tasks.scenes import key_channel, set_range  # noqa: E402
from twobone_addon import registration  # noqa: E402

IMAGES = ROOT / "docs" / "images"
SKATING = Walk(frames=72, speed=0.9, slide=0.1)
CLIMBING = Walk(frames=84, speed=0.7, slide=0.05, climb=0.15, raised=-0.08)
HEEL, BALL = 1, 2
TREAD = (-0.08, 0.305)
"""Offsets in metres from the heel's intended position to both ends of its step."""
NUDGED, RANGE, OFFSET = 30, 12, (0.0, -0.1, 0.0)
BESIDE = np.array([0.03, -0.01])
"""Offset in metres from a point to its label."""
POPS_AT = 24
LIMBS = (BLUE, RED, TEAL, ORANGE)
WIDTH, HEIGHT, SIZE = 560, 400, 17
PALE, PALE_ORANGE, PALE_BLUE = "#b4bbc6", "#f6c9ad", "#a8bfe0"

Places = Sequence[tuple[float, float]]


def run(task: str, **settings: object) -> dict:
    """Call an operator and return its report."""
    getattr(bpy.ops.twobone, task)(**settings)  # type: ignore[attr-defined]
    return json.loads(bpy.context.window_manager.twobone_report)  # type: ignore[attr-defined]


def legs_at(armature: bpy.types.Object, frames: Iterable[int]) -> list[Places]:
    """Side view of both legs at some frames: hip, knee, ankle and ball, as (Y, Z)."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        for side in SIDES:
            bones = [armature.pose.bones[f"{name}.{side}"] for name in ("thigh", "shin", "foot", "toe")]  # type: ignore[union-attr]
            found.append([(bone.head.y, bone.head.z) for bone in bones])
    return found


def standing(watched: Seen, states: Mapping[str, np.ndarray]) -> Places:
    """Side view of the heels and balls, as (Y, Z), at all frames at which they stand."""
    points = ((watched.heels, HEEL), (watched.balls, BALL))
    return [
        place[1:] for places, point in points for side in SIDES for place in np.array(places[side])[states[side] & point != 0]
    ]


def slides(report: dict, when: str) -> str:
    """The largest slide of a standing foot, as text."""
    most = 1000.0 * max(contact[f"slide_{when}"] for chain in report["chains"] for contact in chain["contacts"])
    return f"{most:.0f} mm" if most >= 1.0 else "less than 1 mm"


def skating() -> Figure:
    """A walk from the side, before and after: the standing heels and balls are smears before, and points after."""
    figure = Figure(WIDTH, HEIGHT)
    armature, _ = build_walker(SKATING)
    frames, drawn = whole_frames(), range(1, SKATING.frames + 1, 6)
    seen_before, legs_before = Seen(armature, frames), legs_at(armature, drawn)
    report = run("plant")
    states = planted_states(report, SKATING.frames)
    parts = (
        (0, "before", "Before", ORANGE, seen_before, legs_before),
        (200, "after", "After", BLUE, Seen(armature, frames), legs_at(armature, drawn)),
    )
    for top, when, title, colour, watched, legs in parts:
        frame = Frame(10, top + 40, 540, 145, (-0.35, -0.04), (3.05, 0.873))
        for leg in legs:
            figure.line(frame, leg, PALE)
        figure.line(frame, [(-0.35, -0.03), (3.05, -0.03)], PALE, 1.2)
        for place in standing(watched, states):
            figure.dot(frame, place, colour, 4)
        share = np.mean([chain[f"skating_{when}"] for chain in report["chains"]])
        figure.words((12, top + 26), title, colour, size=SIZE, anchor="start", bold=True)
        told = f"slide: {slides(report, when)}; {share:.0%} of contact frames skate"
        figure.words((548, top + 26), told, size=SIZE - 1, anchor="end")
    return figure


def stairs() -> Figure:
    """A sliding walk upstairs: ankles and flat soles before and after, on steps that have no mesh in the Blender file."""
    figure = Figure(WIDTH, HEIGHT)
    frame = Frame(10, 40, 540, 350, (-0.15, -0.25), (2.75, 1.63))
    armature, _ = build_walker(CLIMBING)
    every = range(1, CLIMBING.frames + 1)
    before, ways_before = Seen(armature, whole_frames()), legs_at(armature, every)
    report = run("plant")
    states = planted_states(report, CLIMBING.frames)
    after, ways_after = Seen(armature, whole_frames()), legs_at(armature, every)
    steps = []
    for step in range(-1, 7):
        heel = 0.25 + step * CLIMBING.speed * CLIMBING.step_time / 2.0
        steps += [(heel + edge, step * CLIMBING.climb) for edge in TREAD]
    figure.area(frame, [[*steps, (steps[-1][0], -0.25), (steps[0][0], -0.25)]], GREY, 0.2)
    for leg in legs_at(armature, range(7, CLIMBING.frames, 19)):
        figure.line(frame, leg, PALE, 3)
    for ways, watched, colour, width in ((ways_before, before, ORANGE, 2.5), (ways_after, after, BLUE, 5)):
        for first, side in enumerate(SIDES):
            figure.line(frame, [leg[2] for leg in ways[first::2]], colour, 2)
            for at in np.flatnonzero(states[side] == HEEL | BALL):
                figure.line(frame, [watched.heels[side][at][1:], watched.balls[side][at][1:] - (0.0, 0.02)], colour, width)
    figure.words((12, 26), f"Before: slide {slides(report, 'before')}", ORANGE, size=SIZE, anchor="start", bold=True)
    figure.words((12, 52), f"After: {slides(report, 'after')}", BLUE, size=SIZE, anchor="start", bold=True)
    figure.words((548, 388), "Plant Feet is given no mesh of the steps", size=SIZE - 1, anchor="end")
    return figure


def nudge() -> Figure:
    """Side view of a wrist's path before and after a nudge, with the arm at the nudged frame."""
    figure = Figure(WIDTH, HEIGHT)
    rig = make_biped("Reacher")
    set_range(1, 60)
    for name, turns in (("upper_arm", (0.4, -0.2, -1.1)), ("forearm", (-0.3, -1.1, -1.0))):
        bone = rig.pose.bones[f"{name}.L"]  # type: ignore[union-attr]
        bone.rotation_mode = "XYZ"
        key_channel(bone, "rotation_euler", {frame: (turn, 0.0, 0.0) for frame, turn in zip((1, 30, 60), turns, strict=True)})
    names = ("upper_arm.L", "forearm.L", "hand.L")

    def arm() -> np.ndarray:
        return seen(rig, range(1, 61), names)[:, :, 1:3, 3] * (-1.0, 1.0)

    before = arm()
    limb = dict(zip(("upper", "lower", "tip"), names, strict=True))
    run("nudge", armature=rig.name, **limb, frame=NUDGED, offset=OFFSET, before=RANGE, after=RANGE)
    after = arm()
    frame = Frame(20, 30, 520, 350, (-0.28, 0.864), (0.86, 1.631))
    figure.line(frame, before[NUDGED - 1], PALE_ORANGE, 9)
    figure.line(frame, after[NUDGED - 1], PALE_BLUE, 9)
    for way, colour in ((before, ORANGE), (after, BLUE)):
        figure.line(frame, way[:, 2], colour, 2)
        for place in way[:, 2]:
            figure.dot(frame, place, colour, 3)
    goal = after[NUDGED - 1, 2]
    figure.arrow(frame, before[NUDGED - 1, 2], goal, RED, 4)
    figure.label(frame, goal + BESIDE, f"frame {NUDGED}: 10 cm", RED, size=SIZE, anchor="start", bold=True)
    for edge in (NUDGED - RANGE, NUDGED + RANGE):
        place = before[edge - 1, 2]
        figure.dot(frame, place, INK, 6)
        figure.label(frame, place + BESIDE, f"frame {edge}", size=SIZE, anchor="start")
    figure.words((12, 26), "The wrist before", ORANGE, size=SIZE, anchor="start", bold=True)
    figure.words((12, 52), "After a nudge", BLUE, size=SIZE, anchor="start", bold=True)
    return figure


def retarget() -> Figure:
    """A walk from the side, its rotations copied to a smaller character, and that character after Finish Retarget."""
    figure = Figure(WIDTH, HEIGHT)
    source, hero, states = made_pair(Walk(frames=60))
    drawn = range(1, 61, 6)
    parts = [
        (0, "Source", TEAL, legs_at(source, drawn), stood(source, states), (-0.0, 0.9)),
        (138, "Its rotations, copied", ORANGE, legs_at(hero, drawn), stood(hero, states), (0.0, 0.65)),
    ]
    run("finish_retarget", armature="Hero", source="Source")
    parts += [(268, "Finish Retarget", BLUE, legs_at(hero, drawn), stood(hero, states), (0.0, 0.65))]
    for top, title, colour, legs, balls, (_, height) in parts:
        tall = 130.0 * height
        frame = Frame(10, top + 8, 540, tall * 1.05, (-0.45, -0.045), (-0.45 + 540 / 130.0, height))
        for leg in legs:
            figure.line(frame, leg, PALE)
        figure.line(frame, [(-0.45, 0.0), (3.7, 0.0)], PALE, 1.2)
        for place in balls:
            figure.dot(frame, place, colour, 4)
        figure.words((548, top + 22), title, colour, size=SIZE, anchor="end", bold=True)
    return figure


def stood(rig: bpy.types.Object, states: Mapping[str, np.ndarray]) -> Places:
    """Side view of the balls of a walker's feet at all frames at which they were made to stand."""
    places = []
    for frame in range(1, len(states["L"]) + 1):
        bpy.context.scene.frame_set(frame)
        toes = [(side, rig.pose.bones[f"toe.{side}"].head) for side in SIDES]  # type: ignore[union-attr]
        places += [(toe.y, toe.z) for side, toe in toes if states[side][frame - 1] & BALL]
    return places


def limbs() -> Figure:
    """The result of Find Limbs on Rigify's human and wolf."""
    figure = Figure(WIDTH, HEIGHT)
    bpy.ops.preferences.addon_enable(module="rigify")
    for add, title, room, turn in (
        (bpy.ops.object.armature_basic_human_metarig_add, "A human", (10, 190), 25.0),  # type: ignore[attr-defined]
        (bpy.ops.object.armature_wolf_metarig_add, "A wolf", (220, 330), 55.0),  # type: ignore[attr-defined]
    ):
        add()
        draw_limbs(figure, bpy.context.object, title, room, turn)
    return figure


def draw_limbs(figure: Figure, armature: bpy.types.Object, title: str, room: tuple[float, float], turn: float) -> None:
    """Draw all bones pale and each found limb in a colour, from the front, turned to the right, and slightly from above."""
    found = run("find_limbs", armature=armature.name)["limbs"]
    bones, side, ahead = armature.data.bones, np.sin(np.radians(turn)), np.cos(np.radians(turn))  # type: ignore[union-attr]
    seen_from = np.array([[ahead, -side, 0.0], [0.2 * side, 0.2 * ahead, 0.98]])
    lines = np.array([[seen_from @ bone.head_local, seen_from @ bone.tail_local] for bone in bones])
    low, high = lines.min(axis=(0, 1)), lines.max(axis=(0, 1))
    scale = max((high[0] - low[0]) / room[1], (high[1] - low[1]) / 250.0)
    middle, ground = (low[0] + high[0]) / 2.0, low[1]
    half = scale * room[1] / 2.0
    frame = Frame(room[0], 50, room[1], 250, (middle - half, ground), (middle + half, ground + 250.0 * scale))
    for line in lines:
        figure.line(frame, line, PALE, 2.5)
    for number, (limb, colour) in reversed(list(enumerate(zip(found, LIMBS, strict=True)))):
        upper, lower, tip = (bones[limb[name]] for name in ("upper", "lower", "tip"))
        end = tip.head_local if limb["tip_end"] == "HEAD" else tip.tail_local
        joints = [seen_from @ place for place in (upper.head_local, lower.head_local, end)]
        figure.line(frame, joints, colour, 6)
        for joint in joints:
            figure.dot(frame, joint, colour, 6)
        figure.words((room[0] + room[1] / 2, 328 + 20 * number), limb["chain"], colour, size=SIZE - 1, bold=True)
    figure.words((room[0] + room[1] / 2, 26), title, size=SIZE, bold=True)


def audit() -> None:
    """Let the add-on draw its audit picture of the skating walk, in which a knee pops as well."""
    armature, _ = build_walker(SKATING)
    armature.twobone.chains.clear()  # type: ignore[attr-defined]
    armature.animation_data.action.name = "skates"  # type: ignore[union-attr]
    shin = armature.pose.bones["shin.L"]  # type: ignore[union-attr]
    bpy.context.scene.frame_set(POPS_AT)
    shin.rotation_quaternion.rotate(Quaternion((1.0, 0.0, 0.0), 0.9))
    shin.keyframe_insert("rotation_quaternion", frame=POPS_AT)
    (IMAGES / "audit.svg").unlink(missing_ok=True)  # An audit replaces only what it knows as its own.
    run("audit", armature=armature.name, picture=str(IMAGES / "audit.svg"))


FIGURES: dict[str, Callable[[], Figure | None]] = {
    "skating": skating,
    "stairs": stairs,
    "nudge": nudge,
    "retarget": retarget,
    "limbs": limbs,
    "audit": audit,
}


def main() -> None:
    """Draw the figures named on the command line, or all."""
    registration.register()
    for name in sys.argv[1:] or FIGURES:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        figure = FIGURES[name]()
        if figure:
            figure.save(IMAGES / f"{name}.svg")
        print(IMAGES / f"{name}.svg", flush=True)
    sys.stdout.flush()
    os._exit(0)  # With Rigify enabled, some Blender versions crash in a normal exit.


if __name__ == "__main__":
    main()
