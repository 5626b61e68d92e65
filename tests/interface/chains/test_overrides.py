"""A character linked from another file and overridden: its stored chains work, and what is changed stays in the shot."""

import bpy
import numpy as np
import pytest

from tests.interface.acting import chain_values, joints_world, select_bones
from tests.pipeline.live.live_scene import needs_nodes
from tests.tasks.checks.seen_walk import key_values, plant
from tests.tasks.rigs.walker import Walk, build_walker
from tests.tasks.scenes import LEG, add_empty, build_armature
from twobone_addon.interface.stored.storing import set_limits


@pytest.fixture
def library(empty_file, tmp_path):
    """Path of a file with a leg, its target and one stored chain, all in a collection."""
    rig, target = build_armature(LEG), add_empty()
    collection = bpy.data.collections.new("Character")
    bpy.context.scene.collection.children.link(collection)
    for thing in (rig, target):
        bpy.context.scene.collection.objects.unlink(thing)
        collection.objects.link(thing)
    target.location = (0.1, 0.5, 0.1)
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target, chain.plane = "Leg", "upper", "lower", target, "YZ"
    path = str(tmp_path / "character.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    return path


@pytest.fixture
def untouched(empty_file, tmp_path):
    """Path of a file with a walking character in a collection, made by somebody who does not have the add-on."""
    armature, _ = build_walker(Walk(slide=0.02, raised=0.03))
    armature.property_unset("twobone")
    assert not armature.is_property_set("twobone")
    collection = bpy.data.collections.new("Character")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(armature)
    bpy.context.scene.collection.objects.unlink(armature)
    path = str(tmp_path / "character.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    return path


def overridden(library, *, editable=True):
    with bpy.data.libraries.load(library, link=True) as (_, wanted):
        wanted.collections = ["Character"]
    context = bpy.context
    bpy.data.collections["Character"].override_hierarchy_create(context.scene, context.view_layer, do_fully_editable=editable)
    return rig_here()


def rig_here():
    rig = next(thing for thing in bpy.context.scene.objects if thing.type == "ARMATURE" and thing.library is None)
    bpy.context.view_layer.objects.active = rig
    bpy.context.scene.frame_end = 3
    return rig


def reopened(tmp_path):
    path = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    return rig_here()


@pytest.mark.parametrize("editable", [True, False], ids=["editable", "as Blender makes it first"])
def test_a_changed_chain_and_its_bake_stay_in_the_shot(library, tmp_path, editable):
    rig = overridden(library, editable=editable)
    bpy.ops.twobone.chain_duplicate()
    rig.twobone.active_index = 0
    chain = rig.twobone.chains["Leg"]
    chain.bend, chain.softness, chain.target.location = "NEGATIVE", 0.25, (0.1, 0.6, 0.2)
    bpy.ops.twobone.bake()
    before = chain_values(chain)
    rig = reopened(tmp_path)
    assert rig.override_library is not None
    chain = rig.twobone.chains["Leg"]
    assert chain_values(chain) == before
    assert chain.report
    assert rig.twobone.chains.keys() == ["Leg", "Leg.001"]
    assert rig.animation_data.action.library is None
    bpy.context.scene.frame_set(2)
    assert (joints_world(rig, "upper", "lower")[2].yz - chain.target.location.yz).length < 1e-5


def test_a_chain_that_is_added_gets_a_target_and_stays_with_it(library, tmp_path):
    rig = overridden(library)
    select_bones(rig, "upper", "lower")
    bpy.ops.twobone.chain_add()
    bpy.ops.twobone.add_target(stored="lower")
    bpy.ops.twobone.chain_duplicate()
    bpy.ops.twobone.bake()
    before = [chain_values(chain) for chain in rig.twobone.chains]
    rig = reopened(tmp_path)
    assert [chain.name for chain in rig.twobone.chains] == ["Leg", "lower", "lower.001"]
    assert [chain_values(chain) for chain in rig.twobone.chains] == before
    target = rig.twobone.chains["lower"].target
    assert target.library is None
    assert target.override_library is None


def test_joint_limits_stay_in_the_shot(library, tmp_path):
    rig = overridden(library)
    chain = rig.twobone.chains["Leg"]
    chain.use_limits = True
    set_limits(chain.limits, ((-0.4, 0.6), (0.1, 2.0)))
    set_limits(chain.limits, ((-0.3, 0.6), (0.1, 2.5)))
    before = chain_values(chain)
    assert before["limits"][1] == pytest.approx((0.1, 2.5))
    assert chain_values(reopened(tmp_path).twobone.chains["Leg"]) == before


@pytest.mark.parametrize("press", ["chain_remove", "chain_move"])
def test_the_list_can_only_grow_and_says_so(library, press):
    rig = overridden(library)
    bpy.ops.twobone.chain_duplicate()
    for number in range(2):
        rig.twobone.active_index = number
        with pytest.raises(RuntimeError, match="cannot be removed or reordered"):
            getattr(bpy.ops.twobone, press)()


@needs_nodes
def test_live_follows_on_an_override(library):
    rig = overridden(library)
    target = rig.twobone.chains["Leg"].target
    bpy.ops.twobone.live(state="ON")
    target.location = (0.1, 0.3, 0.3)
    bpy.context.view_layer.update()
    assert (joints_world(rig, "upper", "lower")[2].yz - target.location.yz).length < 1e-5
    bpy.ops.twobone.live(state="OFF")


def test_a_linked_armature_says_what_to_do(library):
    with bpy.data.libraries.load(library, link=True) as (_, wanted):
        wanted.objects = ["Rig"]
    rig = bpy.data.objects["Rig"]
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    for press in (bpy.ops.twobone.add_target, bpy.ops.twobone.bake):
        with pytest.raises(RuntimeError, match="is linked from another file"):
            press()


def test_chains_contacts_and_replaced_keys_stay_on_an_override_of_an_untouched_library(untouched, tmp_path):
    rig = overridden(untouched)
    rig.animation_data.action = rig.animation_data.action.copy()
    if hasattr(rig.animation_data, "action_slot"):
        rig.animation_data.action_slot = rig.animation_data.action.slots[0]
    bpy.context.scene.frame_end = 60
    before = key_values(rig)
    assert bpy.ops.twobone.find_limbs(targets=True) == {"FINISHED"}
    rig.twobone.chains[0].softness = 0.25
    assert plant(armature=rig.name)["chains"]
    chains = [(chain.name, chain.limb, chain.found_contacts, *chain_values(chain).items()) for chain in rig.twobone.chains]
    assert any(not np.array_equal(values, before.get(path)) for path, values in key_values(rig).items())
    for _ in range(2):
        rig = reopened(tmp_path)
        again = [(chain.name, chain.limb, chain.found_contacts, *chain_values(chain).items()) for chain in rig.twobone.chains]
        assert again == chains
    bpy.context.scene.frame_end = 60
    leg = next(chain for chain in rig.twobone.chains if chain.limb == "LEG")
    bpy.ops.twobone.clear_baked(armature=rig.name, upper=leg.upper, lower=leg.lower, all_frames=True)
    after = key_values(rig)
    assert all(np.array_equal(after[path], values) for path, values in before.items())
