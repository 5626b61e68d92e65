"""A bake that cannot be: one sentence with what to do about it, and nothing changed."""

import math

import bpy
import pytest

from tests.tasks.checks.checking import RIG
from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.checks.targets import curves_of
from tests.tasks.scenes import LEG, BoneShape, Limb, add_empty, bake, build_armature, key_places, pose_mode, refusal, set_range

UPPER_ROTATION = 'pose.bones["upper"].rotation_quaternion'


@pytest.fixture
def rig(empty_file):
    set_range(1, 6)
    toe, lonely = BoneShape("toe", LEG[2].tail, (0.1, 0.6, -0.7), "lower"), BoneShape("lonely", (3, 0, 0), (3, 0, 1))
    rig = build_armature((*LEG, toe, lonely))
    key_places(add_empty(), [(0.1, 0.9, 0.5 + 0.1 * frame) for frame in range(6)])
    return rig


def assert_refused(*words, limb=RIG, **settings):
    """The bake is refused in a sentence or two that hold these words, and the file is as it was."""
    before = dump_file()
    sentence = refusal(limb, **{"target": "Target", **settings})
    for word in words:
        assert word in sentence, sentence
    assert "Traceback" not in sentence, sentence
    assert sentence[0].isupper(), sentence
    assert sentence.endswith("."), sentence
    assert 1 <= sentence.count(". ") <= 2 or sentence.count(".") == 1, sentence
    assert differences(before, dump_file()) == []


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"armature": "Nobody"}, ('"Nobody"', "Choose")),
        ({"armature": "Target"}, ('"Target"', "not an armature")),
        ({"upper": "thigh"}, ('"thigh"', '"Rig"', "Choose")),
        ({"lower": "shin"}, ('"shin"', '"Rig"', "Choose")),
        ({"tip": "foot"}, ('"foot"', '"Rig"', "Choose")),
        ({"upper": ""}, ("upper bone", "Name")),
        ({"lower": ""}, ("lower bone", "Name")),
        ({"upper": "lower", "lower": "upper"}, ("is not a descendant of", "Choose")),
        ({"upper": "upper", "lower": "upper"}, ("is not a descendant of", "Choose")),
        ({"lower": "lonely"}, ("is not a descendant of", "Choose")),
        ({"tip": "lonely"}, ("is not a descendant of", "Choose")),
        ({"tip": "lower", "tip_end": "HEAD"}, ("head", "Choose")),
        ({"target": ""}, ("No target", "Choose")),
        ({"target": "Nothing"}, ('"Nothing"', "Choose")),
        ({"target": "Rig"}, ("own target", "Choose")),
        ({"target": "Rig", "target_bone": "nose"}, ('"nose"', "Choose")),
        ({"target": "Rig", "target_bone": "lower"}, ("depends on", "Choose")),
        ({"target": "Rig", "target_bone": "toe"}, ("depends on", "Choose")),
        ({"target_bone": "hand"}, ("not an armature", '"hand"')),
        ({"plane": "OBJECT"}, ("lane", "Choose")),
        ({"plane": "POLE"}, ("ole", "Choose")),
        ({"plane": "POLE", "pole": "Nothing"}, ('"Nothing"', "Choose")),
        ({"frame_range": "CUSTOM", "frame_start": 10.0, "frame_end": 9.5}, ("ends before it starts", "Choose")),
        ({"step": 0.0}, ("Step", "above 0")),
        ({"step": -1.0}, ("Step", "above 0")),
        ({"step": math.nan}, ("Step", "finite")),
        ({"frame_range": "CUSTOM", "frame_start": math.nan}, ("Start", "finite")),
        ({"frame_range": "CUSTOM", "frame_end": math.inf}, ("frames", "Choose")),
        ({"frame_range": "CUSTOM", "frame_end": 1e9}, ("frames", "Choose")),
        ({"softness": 1.5, "reach": "SOFTEN"}, ("Softness", "at most 1")),
        ({"influence": -0.1}, ("Influence", "at least 0")),
        ({"tolerance": 0.0}, ("Tolerance", "above 0")),
        ({"use_limits": True, "lower_min": 1.0, "lower_max": -1.0}, ("Lower Minimum", "Swap")),
        ({"min_distance": 2.0, "max_distance": 1.0}, ("Minimum Distance", "Swap")),
    ],
    ids=lambda value: ",".join(f"{key}={value[key]}" for key in value) if isinstance(value, dict) else "",
)
def test_settings_that_mean_nothing(rig, settings, words):
    assert_refused(*words, **settings)


@pytest.mark.parametrize("way", ["child", "bone child", "constraint", "driver", "child of child"])
def test_a_target_that_hangs_from_the_chain(rig, way):
    target = bpy.data.objects["Target"]
    if way == "child":
        target.parent = rig  # of the object only, which the chain does not move: fine
        bake(RIG, target="Target")
        return
    middle = add_empty("Middle") if way == "child of child" else target
    if way in {"bone child", "child of child"}:
        middle.parent, middle.parent_type, middle.parent_bone = rig, "BONE", "lower"
        target.parent = middle if middle != target else target.parent
    elif way == "constraint":
        constraint = target.constraints.new("COPY_LOCATION")
        constraint.target, constraint.subtarget = rig, "toe"
    else:
        variable = target.driver_add("rotation_euler", 0).driver.variables.new()
        variable.type = "TRANSFORMS"
        variable.targets[0].id, variable.targets[0].bone_target = rig, "upper"
    assert_refused("depends on", "Choose")


def test_a_target_that_hangs_from_the_chain_by_the_pole_of_an_ik_limb(rig):
    other = build_armature(name="Other")
    constraint = other.pose.bones["lower"].constraints.new("IK")
    constraint.target, constraint.chain_count = add_empty("Hand"), 2
    constraint.pole_target, constraint.pole_subtarget = rig, "lower"
    target = bpy.data.objects["Target"]
    target.parent, target.parent_type, target.parent_bone = other, "BONE", "lower"
    assert_refused("depends on", '"lower"', "Choose")
    constraint.pole_subtarget = "parent"
    bake(RIG, target="Target")


def test_a_driven_rotation(rig):
    rig.driver_add(UPPER_ROTATION, 2)
    assert_refused(UPPER_ROTATION, "driven", "Remove")


def keyed_upper(rig):
    for frame in (1, 4):
        rig.pose.bones["upper"].keyframe_insert("rotation_quaternion", frame=frame, group="upper")
    return [fcurve for fcurve in curves_of(rig) if fcurve.data_path == UPPER_ROTATION]


def test_a_locked_curve_and_a_locked_group(rig):
    fcurve = keyed_upper(rig)[1]
    fcurve.lock = True
    assert_refused(UPPER_ROTATION, "locked", "Unlock")
    fcurve.lock = False
    fcurve.group.lock = True
    assert_refused("locked", "Unlock")


def test_a_sampled_curve(rig):
    keyed_upper(rig)[0].convert_to_samples(1, 4)
    assert_refused(UPPER_ROTATION, "samples", "Convert")


@pytest.mark.parametrize("what", ["curve", "group"])
def test_a_muted_curve_and_a_muted_group(rig, what):
    fcurve = keyed_upper(rig)[1]
    (fcurve if what == "curve" else fcurve.group).mute = True
    assert_refused(UPPER_ROTATION, "muted", "Unmute")


def test_stretched_time(rig):
    bpy.context.scene.render.frame_map_old, bpy.context.scene.render.frame_map_new = 100, 50
    assert_refused("Time Stretching", "100", "50", "Set")
    with pytest.raises(RuntimeError, match="Time Stretching"):
        bpy.ops.twobone.bake_target(**RIG.names(), target="Target")
    bpy.context.scene.render.frame_map_old, bpy.context.scene.render.frame_map_new = 50, 50
    bake(RIG, target="Target")


def test_tweak_mode(rig):
    keyed_upper(rig)
    data = rig.animation_data
    strip = data.nla_tracks.new().strips.new("strip", 1, data.action)
    data.action = None
    data.nla_tracks[0].select = strip.select = True
    data.use_tweak_mode = True
    assert data.use_tweak_mode
    assert_refused("tweak mode", "Leave")


@pytest.mark.parametrize("linked", ["armature", "action"])
def test_what_is_linked_from_another_file(rig, linked, tmp_path):
    keyed_upper(rig)
    library = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=library, copy=True)
    with bpy.data.libraries.load(library, link=True) as (_, wanted):
        if linked == "armature":
            wanted.objects = ["Rig"]
        else:
            wanted.actions = [rig.animation_data.action.name]
    if linked == "action":
        rig.animation_data.action = wanted.actions[0]
    else:
        bpy.data.objects.remove(rig)
        bpy.context.scene.collection.objects.link(wanted.objects[0])
        bpy.context.view_layer.objects.active = wanted.objects[0]
    assert_refused("linked from another file", limb=Limb("") if linked == "armature" else RIG)


def test_an_armature_that_shows_its_rest_position(rig):
    rig.data.pose_position = "REST"
    assert_refused("rest position", "Switch")


def test_no_armature_at_all(empty_file):
    bpy.context.view_layer.objects.active = None
    assert_refused("No armature is active", "Choose", limb=Limb("", "", ""))


def test_edit_mode_says_to_leave_it(rig):
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="Switch to Object Mode or Pose Mode first"):
        bpy.ops.twobone.bake(target="Target")
    bpy.ops.object.mode_set(mode="OBJECT")


def test_a_target_without_keys_and_its_range(rig):
    bpy.data.objects["Target"].animation_data_clear()
    assert_refused("no keys", "Choose", frame_range="TARGET")


def test_refusals_leave_pose_mode_and_selection_alone(rig):
    with pose_mode(rig):
        assert_refused("No target", target="")
