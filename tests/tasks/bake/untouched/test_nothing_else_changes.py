"""Before and after: only the two bones' rotation curves inside the range, and how these bones then stand."""

import random

import bpy
import pytest

from tests.tasks.checks.checking import RIG
from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.checks.targets import curves_of
from tests.tasks.rigs.busy_file import NOW, RANGE, edit_without_keys, make_busy_file
from tests.tasks.rigs.random_file import make_random_file
from tests.tasks.scenes import add_empty, bake, build_armature, key_places, pose_mode

CHOICES = {
    "plane": ("XY", "XZ", "YZ", "REST"),
    "plane_space": ("WORLD", "ARMATURE", "PARENT"),
    "bend": ("POSITIVE", "NEGATIVE", "KEEP"),
    "depth": ("KEEP", "FLATTEN"),
    "reference": ("REST", "POSE"),
    "step": (0.5, 1.0, 3.0),
    "keys": ("FRAMES", "TARGET_KEYS", "CHAIN_KEYS", "REDUCE"),
    "evaluation": ("AUTO", "PROBES", "SCENE"),
}
"""Settings of bakes in random files."""

POSED = ("matrix", "matrix_basis", "matrix_channel", "head", "tail", "length")
"""Where a bone ends up."""

ROTATION = ("rotation_quaternion", "rotation_euler", "rotation_axis_angle")


def is_expected(path):
    """Whether a bake may change this: the chain's rotations now, where its bones are and those below, what Clear needs."""
    if path == "actions[RigAction].twobone_replaced":
        return True
    if path.startswith("objects[Rig].pose.bones["):
        bone, _, rest = path.removeprefix("objects[Rig].pose.bones[").partition("].")
        if bone in {"upper", "lower"} and rest in ROTATION:
            return True
        return bone in {"upper", "lower", "toe"} and rest in POSED
    if path in {"objects[Rig].bound_box", "objects[Rig].dimensions"}:
        return True
    return any(f'pose.bones["{bone}"].rotation_' in path for bone in ("upper", "lower")) and "fcurves[" in path


def unexpected(before, after):
    """One line per surprise."""
    paths = [path for path in differences(before, after) if not is_expected(path)]
    return "\n".join(f"{path}: {before.get(path)} -> {after.get(path)}" for path in paths)


def keys_outside(rig, within=RANGE):
    """All that keys of the chain's rotation curves hold, outside the range, and all that the curves are besides."""
    kept = {}
    for fcurve in curves_of(rig):
        if any(f'"{bone}"].rotation_' in fcurve.data_path for bone in ("upper", "lower")):
            properties = ("lock", "mute", "hide", "select", "extrapolation", "color_mode", "auto_smoothing")
            name = (fcurve.data_path, fcurve.array_index)
            kept[name] = [getattr(fcurve, key) for key in properties]
            kept[name] += [everything(key) for key in fcurve.keyframe_points if not within[0] <= key.co.x <= within[1]]
    return kept


def everything(key):
    names = [name for name in key.bl_rna.properties.keys() if name != "rna_type"]  # noqa: SIM118
    return {name: tuple(value) if hasattr(value := getattr(key, name), "__len__") else value for name in names}


@pytest.fixture
def busy(empty_file):
    return make_busy_file()


@pytest.mark.parametrize("evaluation", ["AUTO", "PROBES", "SCENE"])
@pytest.mark.parametrize("edited", [False, True], ids=["as keyed", "with edits"])
@pytest.mark.parametrize("mode", ["OBJECT", "POSE"])
def test_a_bake_changes_only_the_chain(busy, evaluation, edited, mode):
    rig, target = busy
    add_driver_that_reads_the_scene(target)
    with pose_mode(rig):
        if mode == "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        if edited:
            edit_without_keys(rig, target)
        before, kept = dump_file(), keys_outside(rig)
        bake(RIG, target=target.name, plane="YZ", bend="POSITIVE", evaluation=evaluation)
        after = dump_file()
        assert unexpected(before, after) == ""
        assert keys_outside(rig) == kept
        scene = bpy.context.scene
        assert (scene.frame_current, scene.frame_subframe) == NOW


@pytest.mark.parametrize("seed", range(16))
def test_a_bake_changes_only_the_chain_in_any_file(empty_file, seed):
    chance = random.Random(seed)  # noqa: S311 - dice, not secrets
    rig, target = make_random_file(chance)
    start = chance.choice((-4, 1, 6.5))
    within = (start, start + chance.choice((9, 13, 21)))
    settings = {name: chance.choice(values) for name, values in CHOICES.items()}
    before, kept = dump_file(), keys_outside(rig, within)
    bake(RIG, target=target.name, frame_range="CUSTOM", frame_start=within[0], frame_end=within[1], **settings)
    assert unexpected(before, dump_file()) == "", settings
    assert keys_outside(rig, within) == kept, settings


def add_driver_that_reads_the_scene(target):
    driver = target.driver_add("rotation_euler", 0).driver
    variable = driver.variables.new()
    variable.targets[0].id_type = "SCENE"
    variable.targets[0].id, variable.targets[0].data_path = bpy.context.scene, '["mood"]'
    driver.expression = variable.name
    bpy.context.view_layer.update()


@pytest.mark.parametrize(
    "more", [{}, {"end_rotation": "TARGET"}, {"bend": "KEEP"}, {"keys": "REDUCE"}], ids=lambda more: " ".join(more.values())
)
def test_a_second_bake_changes_nothing_at_all(busy, more):
    _, target = busy
    settings = {"target": target.name, "plane": "YZ", "bend": "POSITIVE", **more}
    bake(RIG, **settings)
    before = dump_file()
    bake(RIG, **settings)
    assert differences(before, dump_file()) == []


def test_a_rig_without_animation_gets_an_action_for_the_two_bones_only(empty_file):
    rig = build_armature()
    target = add_empty()
    key_places(target, [(0.1, 0.9, 0.5)] * 3)
    bake(RIG, target=target.name, frame_range="TARGET")
    assert {fcurve.data_path for fcurve in curves_of(rig)} == {
        'pose.bones["upper"].rotation_quaternion',
        'pose.bones["lower"].rotation_quaternion',
    }
    assert {fcurve.group.name for fcurve in curves_of(rig)} == {"upper", "lower"}
    assert len(bpy.data.actions) == 2
    assert len(bpy.data.objects) == 2
    assert len(bpy.data.scenes) == 1


def test_new_curves_and_keys_look_like_those_that_blender_inserts(empty_file):
    rig, own = build_armature(), build_armature(name="Own")
    target = add_empty()
    key_places(target, [(0.1, 0.9, 0.5)] * 3)
    bake(RIG, target=target.name, frame_range="TARGET", plane="YZ", bend="POSITIVE")
    own.pose.bones["upper"].keyframe_insert("rotation_quaternion", frame=1)
    ours, native = (curves_of(thing)[0] for thing in (rig, own))
    for name in ("extrapolation", "color_mode", "auto_smoothing", "hide", "lock", "mute"):
        assert getattr(ours, name) == getattr(native, name), name
    for name in ("amplitude", "back", "period", "easing"):
        assert getattr(ours.keyframe_points[0], name) == getattr(native.keyframe_points[0], name), name
    assert {key.type for key in ours.keyframe_points} == {"GENERATED"}
