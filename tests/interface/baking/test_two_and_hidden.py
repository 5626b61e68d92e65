"""Two armatures in Pose Mode at once, what is hidden or locked, and characters appended or linked with their chains."""

import bpy
import pytest

from tests.leg_scene import TIP_TOLERANCE, leg_with_target, worst_miss
from tests.tasks.checks.targets import curves_of


@pytest.fixture
def leg_and_target(empty_file):
    return with_chain(*leg_with_target())


def with_chain(rig, target):
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target = "Leg", "upper", "lower", target
    chain.plane, chain.bend = "XZ", "POSITIVE"
    return rig, target


@pytest.fixture
def two(leg_and_target):
    """Two legs, both in Pose Mode, the second one active; with the targets."""
    other = with_chain(*leg_with_target())
    for rig in (leg_and_target[0], other[0]):
        rig.select_set(state=True)
    bpy.ops.object.mode_set(mode="POSE")
    assert {rig.mode for rig in (leg_and_target[0], other[0])} == {"POSE"}
    return leg_and_target, other


def test_of_two_in_pose_mode_the_active_one_is_baked(two):
    (rig, _), (other, target) = two
    assert bpy.ops.twobone.bake_all(scope="ACTIVE") == {"FINISHED"}
    assert not curves_of(rig)
    assert worst_miss(other, target) <= TIP_TOLERANCE


def test_both_in_pose_mode_are_baked_and_stay_in_it(two):
    assert bpy.ops.twobone.bake_all(scope="SELECTED") == {"FINISHED"}
    assert max(worst_miss(*pair) for pair in two) <= TIP_TOLERANCE
    assert {rig.mode for rig, _ in two} == {"POSE"}


def test_add_target_in_pose_mode_takes_the_bone_of_the_active_one(two):
    (rig, target), (other, _) = two
    other.twobone.chains.clear()
    other.data.bones.active = other.data.bones["lower"]
    for bone in other.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name == "lower"
    assert bpy.ops.twobone.add_target() == {"FINISHED"}
    (added,) = other.twobone.chains
    assert (added.upper, added.lower) == ("upper", "lower")
    assert added.target not in (None, target)
    assert [chain.target for chain in rig.twobone.chains] == [target]


def hidden_in_the_viewport(collection, layer):
    layer.hide_viewport = True


def excluded(collection, layer):
    layer.exclude = True


def disabled_in_viewports(collection, layer):
    collection.hide_viewport = True


def locked(collection, layer):
    collection.hide_select = True


@pytest.mark.parametrize("hide", [hidden_in_the_viewport, excluded, disabled_in_viewports, locked])
@pytest.mark.parametrize("part", ["character", "target"])
def test_what_is_in_a_hidden_or_locked_collection_is_baked_as_if_it_were_seen(leg_and_target, hide, part):
    rig, target = leg_and_target
    thing = {"character": rig, "target": target}[part]
    collection = bpy.data.collections.new("Away")
    scene = bpy.context.scene.collection
    scene.children.link(collection)
    scene.objects.unlink(thing)
    collection.objects.link(thing)
    layer = bpy.context.view_layer.layer_collection.children["Away"]
    hide(collection, layer)
    hidden = layer.hide_viewport, layer.exclude, collection.hide_viewport, collection.hide_select
    assert bpy.ops.twobone.bake_all(scope="SCENE") == {"FINISHED"}
    assert (layer.hide_viewport, layer.exclude, collection.hide_viewport, collection.hide_select) == hidden
    layer.hide_viewport = layer.exclude = collection.hide_viewport = False
    assert worst_miss(rig, target) <= TIP_TOLERANCE


@pytest.fixture
def saved(leg_and_target, tmp_path):
    """Path of a file with the leg, its chain and its target, baked; another file is open."""
    assert bpy.ops.twobone.bake_all(scope="SCENE") == {"FINISHED"}
    path = str(tmp_path / "character.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    return path


def brought(path, *, link):
    with bpy.data.libraries.load(path, link=link) as (_, wanted):
        wanted.objects = ["Rig"]
    (rig,) = wanted.objects
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.scene.frame_end = 24
    bpy.context.view_layer.objects.active = rig
    return rig


def test_an_appended_character_has_its_chain_and_its_bake_can_be_taken_back(saved):
    rig = brought(saved, link=False)
    (chain,) = rig.twobone.chains
    assert (chain.name, chain.target.name) == ("Leg", "Target")
    bpy.context.scene.collection.objects.link(chain.target)
    assert worst_miss(rig, chain.target) <= TIP_TOLERANCE
    assert bpy.ops.twobone.clear_baked(all_frames=True) == {"FINISHED"}
    assert not curves_of(rig)
    assert bpy.ops.twobone.bake_all(scope="ACTIVE") == {"FINISHED"}
    assert worst_miss(rig, chain.target) <= TIP_TOLERANCE


def test_a_linked_character_is_refused_with_the_way_out(saved):
    brought(saved, link=True)
    with pytest.raises(RuntimeError, match="linked from another file"):
        bpy.ops.twobone.bake_all(scope="ACTIVE")
