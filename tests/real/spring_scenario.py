"""The hind leg of one of Rigify's metarigs, baked with two and with three joints that spring: run as a program of its own.

Says what it measured as JSON in its last line.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

import bpy
import numpy as np

from tests.real.generated_rigs import run_and_leave
from tests.tasks.scenes import add_empty, bake, key_places, set_range
from twobone_addon import registration

LAST = 40
UPPER = "thigh.L"


def main():
    import addon_utils  # can be found once bpy is loaded

    registration.register()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon_utils.enable("rigify", default_set=True)
    getattr(bpy.ops.object, f"armature_{sys.argv[1]}_metarig_add")()
    bpy.ops.object.mode_set(mode="OBJECT")
    set_range(1, LAST)
    print(json.dumps([spring(bpy.context.view_layer.objects.active, count) for count in (3, 4)]))


def spring(rig, count):
    """Bake the first `count` links of the leg onto a target that swings and comes nearer; what came of it."""
    bones = [rig.data.bones[UPPER]]
    while len(bones) < count:
        bones.append(next(bone for bone in bones[-1].children if bone.use_connect))
    names = [bone.name for bone in bones]
    rest = np.array([*(rig.data.bones[name].head_local for name in names), rig.data.bones[names[-1]].tail_local])
    reach = np.linalg.norm(rest[-1] - rest[0])
    turn = 2.0 * np.pi * np.arange(LAST) / LAST
    heading = np.arctan2(*(rest[-1] - rest[0])[[2, 1]]) + 0.3 * np.sin(turn)
    distance = reach * (0.93 + 0.07 * np.cos(2.0 * turn))
    aside = np.full(LAST, rest[-1, 0])
    places = np.stack([aside, rest[0, 1] + distance * np.cos(heading), rest[0, 2] + distance * np.sin(heading)], axis=-1)
    target = bpy.data.objects.get("Target") or add_empty()
    key_places(target, places)
    chain = {"armature": rig.name, "upper": names[0], "lower": names[-1], "tip": names[-1], "tip_end": "TAIL"}
    report = bake(**chain, target="Target", joints="ALL", method="SPRING", plane="YZ", bend="KEEP", depth="FLATTEN")
    joints = joints_over_time(rig, names)
    bends, base = bends_of(joints), bends_of(rest[np.newaxis])
    factors = np.tan(0.5 * bends) / np.tan(0.5 * base)
    return {
        "joints": count - 1,
        "frames": report["frames"],
        "reached": report["reached"],
        "tip_off": float(np.abs(joints[:, -1, 1:] - places[:, 1:]).max() / reach),
        "factors_apart": float((factors.max(axis=1) - factors.min(axis=1)).max()),
        "largest_step": float(np.degrees(np.abs(np.diff(bends, axis=0)).max())),
    }


def joints_over_time(rig, names):
    rows = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        bones = rig.pose.bones
        rows.append([*(bones[name].head[:] for name in names), bones[names[-1]].tail[:]])
    return np.array(rows)


def bends_of(joints):
    """Bends as seen from the side, radians, `(F, n - 1)`."""
    links = np.diff(joints, axis=1)[..., 1:]
    across = links[:, :-1, 0] * links[:, 1:, 1] - links[:, :-1, 1] * links[:, 1:, 0]
    return np.arctan2(across, np.sum(links[:, :-1] * links[:, 1:], axis=-1))


if __name__ == "__main__":
    run_and_leave(main)
