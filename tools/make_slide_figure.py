"""Draw how far planted feet slide, before and after Plant Feet, on the recorded walk of the shared data.

python tools/make_slide_figure.py FOLDER_OF_DATA          (needs bpy)
"""

import argparse
import json
import sys
from pathlib import Path

import bpy
import numpy as np
from drawing import BLUE, GREY, ORANGE, Figure, Frame

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.real.rigs import WALKING_LIMBS, open_rig  # noqa: E402, the checkout is on the path only now
from twobone_addon import registration  # noqa: E402

METRES = 0.0564
"""Length in metres of one unit of the file."""
SIDES = ("Left", "Right")


def balls(armature: bpy.types.Object, side: str) -> np.ndarray:
    """World positions `(F, 3)` of the ball of a foot at every frame."""
    scene, found = bpy.context.scene, []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        found.append(armature.matrix_world @ armature.pose.bones[f"{side}ToeBase"].head)  # type: ignore[union-attr]
    return np.array(found)


def slide(places: np.ndarray, contacts: list[dict]) -> list[np.ndarray]:
    """For each contact of the ball, frames and distances in millimetres from its mean position, `(n, 2)`."""
    stands = np.zeros(len(places) + 2, dtype=int)
    for contact in contacts:
        if contact["point"] in {"BALL", "BOTH"}:
            stands[int(contact["first"]) : int(contact["last"]) + 1] = 1
    edges = np.flatnonzero(np.diff(stands))
    found = []
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        stood = places[first:last]
        away = 1000.0 * np.linalg.norm(stood - stood.mean(axis=0), axis=1)
        found.append(np.column_stack([np.arange(first + 1, last + 1), away]))
    return found


def main() -> None:
    """Plant the walk, and draw the slide before and after."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    registration.register()
    armature, _ = open_rig(parser.parse_args().data, WALKING_LIMBS[0])
    armature.scale = (METRES, METRES, METRES)
    bpy.context.scene.render.fps = 120
    bpy.context.view_layer.objects.active = armature
    before = {side: balls(armature, side) for side in SIDES}
    bpy.ops.twobone.plant()  # type: ignore[attr-defined]
    report = json.loads(bpy.context.window_manager.twobone_report)
    figure = Figure(960, 360)
    frame = Frame(70, 40, 860, 250, (0.0, 0.0), (350.0, 30.0))
    figure.axes(frame, "frame, 120 a second", "millimetres off its place", ([0, 100, 200, 300], [0, 10, 20, 30]))
    for chain in report["chains"]:
        side = next(side for side in SIDES if side in chain["upper"])
        for places, colour in ((before[side], ORANGE), (balls(armature, side), BLUE)):
            for line in slide(places, chain["contacts"]):
                figure.line(frame, line, colour, 2.5)
    figure.words((640, 30), "before", ORANGE)
    figure.words((720, 30), "after", BLUE)
    figure.words((340, 30), "The ball of each foot while it stands, a recorded walk", GREY)
    figure.save(ROOT / "docs" / "images" / "slide.svg")


if __name__ == "__main__":
    main()
