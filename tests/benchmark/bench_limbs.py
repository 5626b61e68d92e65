"""How many limbs Find Limbs finds where the rest tells nothing: recordings whose rest is laid out along one axis.

Run: python tests/benchmark/bench_limbs.py

Each recording of the data folder (`shared/data` beside the checkout, or where TWOBONE_TEST_DATA says) is given a rest of which
all offsets lie along one axis, with keys by which its joints move as before; then with its names as they are, permuted, and
without any. A limb is right if kind, upper, lower and tip bone are. Without the folder only the table of characters in
tests/core/limbs is measured. Prints a table; nothing is asserted.
"""

import json
import os
import random
import sys
import time
from pathlib import Path

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.core.limbs.builder import renamed
from tests.core.limbs.table import read_table
from tests.real.limbs_of_rigs import of_file
from twobone_addon import registration
from twobone_addon.core.limbs.finding import find_limbs

DATA = Path(os.environ.get("TWOBONE_TEST_DATA", ROOT.parent / "shared" / "data"))
FRAMES = 25
"""Keyed of each recording."""
NAMES = ("as they are", "permuted", "none")
OWN_WORDS = {"cmu_131_01_walk.bvh": (("LEG", "Hip", "Knee", "Ankle"), ("ARM", "Shoulder", "Elbow", "Wrist"))}
"""What the bones of limbs are called in files that call them otherwise than most do."""


def main():
    registration.register()
    rows = {names: [0, 0, 0, 0] for names in NAMES}
    if DATA.is_dir():
        for file in sorted([*DATA.glob("*.bvh"), *DATA.glob("motion/*.bvh"), *DATA.glob("*.glb"), *DATA.glob("*.fbx")]):
            for expected, names, parents, places in list(recordings(file)):
                for how in NAMES:
                    add(rows[how], expected, *searched(names, parents, places, how))
        show("Recordings, rest along one axis", rows)
    else:
        print(f"No folder {DATA}: the recordings are skipped.")
    table = {names: [0, 0, 0, 0] for names in NAMES}
    for skeleton, limbs in read_table().values():
        expected = {(kind, *bones) for kind, _, *bones in limbs}
        for how in NAMES:
            names = mixed(list(skeleton.names), how)
            back = dict(zip(names, skeleton.names, strict=True))
            start = time.process_time()
            found = find_limbs(renamed_to(skeleton, names)).limbs
            seconds = time.process_time() - start
            seen = {(limb.kind.value, *(back[bone] for bone in (limb.upper, limb.lower, limb.tip))) for limb in found}
            add(table[how], expected, seen, seconds)
    show("Characters of tests/core/limbs/table.txt, at rest", table)


def add(row, expected, seen, seconds):
    row[0] += len(expected)
    row[1] += len(expected & seen)
    row[2] += len(seen - expected)
    row[3] = max(row[3], seconds)


def show(title, rows):
    print(
        f"\n{title}\n{'names':12} {'limbs':>6} {'right':>6} {'wrong':>6} {'recall':>7} {'precision':>9} {'longest, s of CPU':>18}"
    )
    for names, (limbs, right, wrong, seconds) in rows.items():
        recall, precision = right / max(limbs, 1), right / max(right + wrong, 1)
        print(f"{names:12} {limbs:6} {right:6} {wrong:6} {recall:7.3f} {precision:9.3f} {seconds:18.3f}")


def renamed_to(skeleton, names):
    order, _ = renamed(skeleton, 0)
    return type(order)(**{each: getattr(skeleton, each) for each in skeleton.__slots__} | {"names": tuple(names)})


def mixed(names, how):
    """The names of the bones as they are to be called."""
    shuffled = list(names) if how == "permuted" else [f"x{number:04}" for number in range(len(names))]
    random.Random(1).shuffle(shuffled)  # noqa: S311 - no secret
    return names if how == "as they are" else shuffled


def recordings(file):
    """For each action of a file: its limbs, names, parents and the places `(F, B, 3)` of its joints, armature space."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    if file.suffix == ".bvh":
        bpy.ops.import_anim.bvh(filepath=str(file))
    elif file.suffix == ".glb":
        bpy.ops.import_scene.gltf(filepath=str(file))
    else:
        bpy.ops.import_scene.fbx(filepath=str(file))
    rig = next(thing for thing in bpy.data.objects if thing.type == "ARMATURE")
    names = [bone.name for bone in rig.data.bones]
    parents = [names.index(bone.parent.name) if bone.parent else -1 for bone in rig.data.bones]
    for action in list(bpy.data.actions):
        rig.animation_data.action = action
        if hasattr(action, "slots"):
            rig.animation_data.action_slot = next((slot for slot in action.slots if slot.target_id_type == "OBJECT"), None)
        frames = np.unique(np.round(np.linspace(*action.frame_range, FRAMES)).astype(int))
        places = []
        for frame in frames:
            bpy.context.scene.frame_set(int(frame))
            places.append([tuple(bone.head) for bone in rig.pose.bones])
        yield limbs_of(file, names), names, parents, np.array(places)


def limbs_of(file, names):
    if file.name in OWN_WORDS:
        return {(kind, *(side + word for word in words)) for kind, *words in OWN_WORDS[file.name] for side in ("Left", "Right")}
    known = file.name if file.parent == DATA else "cmu_02_01_walk.bvh"
    found = {(kind, *bones) for kind, _, *bones in of_file(known)}
    assert all(bone in names for _, *bones in found for bone in bones), file
    return found


def searched(names, parents, places, how):
    """What Find Limbs makes of these joints under a rest along one axis: limbs, and the CPU time that it took."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    registration_again()
    names_now = mixed(names, how)
    rig = laid_out_rig(names_now, parents, places)
    back = dict(zip(names_now, names, strict=True))
    start = time.process_time()
    bpy.ops.twobone.find_limbs(armature=rig.name)
    seconds = time.process_time() - start
    report = json.loads(bpy.context.window_manager.twobone_report)
    return {(limb["kind"], *(back[limb[part]] for part in ("upper", "lower", "tip"))) for limb in report["limbs"]}, seconds


def registration_again():
    """Factory settings switch add-ons off."""
    if not hasattr(bpy.types.Object, "twobone"):
        registration.register()


def laid_out_rig(names, parents, places):
    """An armature whose bones all lie along X at rest, with location keys by which their heads are at the places."""
    lengths = [
        float(np.median(np.linalg.norm(places[:, bone] - places[:, above], axis=1))) if above >= 0 else 0.0
        for bone, above in enumerate(parents)
    ]
    size = max(lengths)
    data = bpy.data.armatures.new("Laid")
    rig = bpy.data.objects.new("Laid", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, above, length in zip(names, parents, lengths, strict=True):
        bone = data.edit_bones.new(name)
        if above >= 0:
            bone.parent = data.edit_bones[names[above]]
            bone.head = bone.parent.head + type(bone.parent.head)((length, 0.0, 0.0))
        bone.tail = (bone.head[0] + 0.05 * size, 0.0, 0.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    for name, above, own in zip(names, parents, np.moveaxis(places, 1, 0), strict=True):
        bone = rig.pose.bones[name]
        rest = np.array(bone.bone.matrix_local)
        carried = places[:, above] if above >= 0 else np.zeros_like(own)
        start = np.array(bone.bone.parent.head_local) if above >= 0 else np.zeros(3)
        offsets = (own - carried - (rest[:3, 3] - start)) @ rest[:3, :3]
        for frame, offset in enumerate(offsets, start=1):
            bone.location = offset
            bone.keyframe_insert("location", frame=frame)
    return rig


if __name__ == "__main__":
    main()
