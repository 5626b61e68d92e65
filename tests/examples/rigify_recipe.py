"""Run a recipe on Rigify's basic human, and tell what is seen of it. A program of its own: python rigify_recipe.py SCRIPT.py."""

import json
import runpy
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

import bpy

from tests.examples.recipe_scene import LAST, make_rigify_shot
from tests.real.generated_rigs import run_and_leave
from twobone_addon import registration


def seen(rig):
    """Places of the deforming knee and ankle at each frame, and the switch to FK."""
    found, on_fk = [], []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        found.append([rig.pose.bones[name].head.copy() for name in ("DEF-shin.L", "DEF-foot.L")])
        on_fk.append(rig.pose.bones["thigh_parent.L"]["IK_FK"])
    return found, on_fk


def main():
    registration.register()
    rig = make_rigify_shot()
    before, _ = seen(rig)
    runpy.run_path(sys.argv[1])
    after, on_fk = seen(rig)
    moved = max((new - old).length for news, olds in zip(after, before, strict=True) for new, old in zip(news, olds, strict=True))
    way = max((ankle - before[0][1]).length for _, ankle in before)
    print(json.dumps({"moved": moved, "way": way, "on_fk": on_fk}))


if __name__ == "__main__":
    run_and_leave(main)
