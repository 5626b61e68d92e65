"""Rigify's metarigs, and those with a plus behind their names as generated rigs: their limbs, also under random names."""

import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

import bpy
import pytest

from tests.real.generated_rigs import run_and_leave
from tests.real.limbs_of_rigs import of_metarig
from twobone_addon import registration

BODY = {"root", "torso", "hips", "chest", "neck", "head"}


def main():
    import addon_utils  # can be found once bpy is loaded

    registration.register()
    for argument in sys.argv[1:]:
        metarig = argument.rstrip("+")
        bpy.ops.wm.read_factory_settings(use_empty=True)
        addon_utils.enable("rigify", default_set=True)
        getattr(bpy.ops.object, f"armature_{metarig}_metarig_add")()
        assert_limbs(metarig, of_metarig(metarig, generated=False))
        if argument.endswith("+"):
            bpy.ops.pose.rigify_generate()
            assert_limbs(f"generated {metarig}", of_metarig(metarig, generated=True))
            assert_body_is_refused()
    print("As anybody would name them")


def assert_limbs(who, expected):
    rig = bpy.context.view_layer.objects.active
    seen = limbs()
    assert seen == expected, f"{who}: {seen ^ expected}"
    before = shuffle_names(rig)
    seen = {(kind, *(before[name] for name in bones)) for kind, _, *bones in limbs()}
    assert seen == {(kind, *bones) for kind, _, *bones in expected}, f"{who}, renamed: {seen}"
    for name, old in before.items():
        rig.data.bones[name].name = old
    rig.twobone.chains.clear()


def assert_body_is_refused():
    """Add Target on a control of the whole body says that it is no part of a limb, and stores nothing."""
    rig = bpy.context.view_layer.objects.active
    bpy.ops.object.mode_set(mode="POSE")
    before = set(bpy.data.objects)
    for name in BODY & set(rig.pose.bones.keys()):
        bpy.ops.pose.select_all(action="DESELECT")
        bone = rig.pose.bones[name]
        (bone if hasattr(bone, "select") else bone.bone).select = True
        rig.data.bones.active = bone.bone
        with pytest.raises(RuntimeError, match="is not part of an arm or leg"):
            bpy.ops.twobone.add_target()
    assert not rig.twobone.chains
    assert set(bpy.data.objects) == before
    bpy.ops.object.mode_set(mode="OBJECT")


def limbs():
    bpy.ops.twobone.find_limbs()
    report = json.loads(bpy.context.window_manager.twobone_report)
    return {(limb["kind"], limb["side"], limb["upper"], limb["lower"], limb["tip"]) for limb in report["limbs"]}


def shuffle_names(rig):
    numbers = list(range(len(rig.data.bones)))
    random.Random(1).shuffle(numbers)  # noqa: S311 - no secret
    before = {}
    for number, bone in zip(numbers, list(rig.data.bones), strict=True):
        before[f"x{number:04}"] = bone.name
        bone.name = f"x{number:04}"
    return before


if __name__ == "__main__":
    run_and_leave(main)
