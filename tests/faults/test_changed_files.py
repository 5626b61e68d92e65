"""What happens to a file between setting up a chain and baking it: deleted, renamed, undone, linked, overridden."""

import json

import bpy
import pytest

from tests.faults.attacking import bake_all, make_leg, report_or_refusal, store_leg
from tests.tasks.checks.checking import RIG
from tests.tasks.checks.measuring import evaluate
from tests.tasks.scenes import add_empty, build_armature, key_channel


@pytest.fixture
def stored_leg(empty_file):
    rig, target = make_leg()
    store_leg(rig, target)
    return rig, target


def errors_of(rig, target):
    return evaluate(rig, RIG, range(1, 7), target=target).errors


def delete_bone(rig, name):
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.remove(rig.data.edit_bones[name])
    bpy.ops.object.mode_set(mode="OBJECT")


def test_renamed_objects_are_still_meant(stored_leg):
    rig, target = stored_leg
    target.name, rig.name = "Elsewhere", "Somebody"
    assert report_or_refusal(bake_all)["target"] == "Elsewhere"
    assert errors_of(rig, target).max() < 1e-5


@pytest.mark.parametrize("part", ["upper", "lower"])
def test_renamed_bones_are_still_meant(stored_leg, part):
    rig, target = stored_leg
    names = {name: "other" if name == part else name for name in ("upper", "lower")}
    rig.data.bones[part].name = "other"
    report = report_or_refusal(bake_all)
    assert {name: report[name] for name in names} == names
    scene, tip = bpy.context.scene, rig.pose.bones[names["lower"]]
    for frame in range(1, 7):
        scene.frame_set(frame)
        assert (rig.matrix_world @ tip.tail - target.matrix_world.translation).length < 1e-5


GONE = {
    "target deleted": (lambda: bpy.data.objects.remove(bpy.data.objects["Target"]), "No target is chosen"),
    "armature deleted": (lambda: bpy.data.objects.remove(bpy.data.objects["Rig"]), "No enabled chain is stored"),
    "its data deleted": (lambda: bpy.data.armatures.remove(bpy.data.armatures["Rig"]), "No enabled chain is stored"),
    "lower deleted": (lambda: delete_bone(bpy.data.objects["Rig"], "lower"), 'Lower bone "lower" is not in armature "Rig"'),
}


@pytest.mark.parametrize("change, words", GONE.values(), ids=GONE)
def test_what_is_gone_is_said(stored_leg, change, words):
    change()
    assert words in report_or_refusal(bake_all)


def test_a_target_deleted_from_the_scene_leaves_the_chain_and_nothing_is_baked(stored_leg):
    rig, target = stored_leg
    bpy.context.view_layer.objects.active = target
    target.select_set(state=True)
    rig.select_set(state=False)
    bpy.ops.object.delete()
    bpy.context.view_layer.update()
    chain = rig.twobone.chains[0]
    assert (chain.target, chain.lost_target) == (None, "Target")
    assert 'Target "Target" is in no scene' in report_or_refusal(bake_all)


def test_an_object_in_no_scene_is_not_followed(stored_leg):
    rig, _ = stored_leg
    ghost = bpy.data.objects.new("Ghost", None)
    rig.twobone.chains[0].target = ghost
    assert 'Target "Ghost" is in no scene' in report_or_refusal(bake_all)


def test_after_undo_chain_and_bake_are_as_before(stored_leg):
    bpy.ops.ed.undo_push(message="set up")
    bake_all()
    bpy.ops.ed.undo_push(message="baked")
    bpy.ops.ed.undo()
    rig, target = bpy.data.objects["Rig"], bpy.data.objects["Target"]
    assert rig.animation_data is None
    bake_all()
    assert errors_of(rig, target).max() < 1e-5


def test_two_rigs_with_one_armature_take_their_own_keys(stored_leg):
    rig, target = stored_leg
    twin = bpy.data.objects.new("Twin", rig.data)
    bpy.context.scene.collection.objects.link(twin)
    bake_all()
    assert errors_of(rig, target).max() < 1e-5
    assert twin.animation_data is None


def link(path, *names):
    """These objects of another file, linked into the scene."""
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.objects = list(names)
    for thing in wanted.objects:
        bpy.context.scene.collection.objects.link(thing)
    return wanted.objects


@pytest.fixture
def library(stored_leg, tmp_path):
    path = tmp_path / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    return path


def test_a_linked_target_is_followed(library):
    rig, own = make_leg()
    bpy.data.objects.remove(own)
    (target,) = link(library, "Target")
    store_leg(rig, target)
    report_or_refusal(bake_all)
    assert errors_of(rig, target).max() < 1e-5


@pytest.mark.parametrize("role", ["target", "pole", "plane_object"])
def test_a_linked_object_is_never_mistaken_for_one_of_this_file_with_its_name(library, role):
    rig, own = make_leg()
    (linked,) = link(library, "Target")
    assert linked.name == own.name
    store_leg(rig, own)
    setattr(rig.twobone.chains[0], role, linked)
    assert "Choose that one, or rename it" in report_or_refusal(bake_all)
    own.name = "Own"
    assert report_or_refusal(bake_all)["target"] == ("Target" if role == "target" else "Own")
    assert errors_of(rig, rig.twobone.chains[0].target).max() < 1e-5


def test_a_linked_rig_is_never_mistaken_for_one_of_this_file_with_its_name(library):
    rig, target = make_leg()
    store_leg(rig, target)
    link(library, "Rig")
    assert "Choose that one, or rename it" in report_or_refusal(bake_all)
    rig.name, target.name = "Own", "Own target"
    assert "is linked from another file. Make it local or override it" in report_or_refusal(bake_all)


def override(*things):
    return [thing.override_create(remap_local_usages=True) for thing in things]


def test_an_overridden_rig_keeps_its_bake_in_the_file(library, tmp_path):
    rig, target = override(*link(library, "Rig", "Target"))
    bpy.context.view_layer.objects.active = rig
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 6
    bpy.ops.twobone.bake()
    shot = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    bpy.ops.wm.open_mainfile(filepath=shot)
    rig = next(thing for thing in bpy.data.objects if thing.type == "ARMATURE" and not thing.library)
    target = next(thing for thing in bpy.data.objects if thing.type == "EMPTY" and not thing.library)
    assert errors_of(rig, target).max() < 1e-5


def test_what_an_override_changes_counts_not_what_its_library_has(library):
    """A parent bone that nothing moves in the library, and that a constraint moves in the override."""
    rig, target = override(*link(library, "Rig", "Target"))
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 6
    guide = add_empty("Guide")
    key_channel(guide, "location", {1: (0, 0, 0), 6: (0.2, 0.3, 0.1)})
    rig.pose.bones["parent"].constraints.new("COPY_LOCATION").target = guide
    bpy.context.view_layer.objects.active = rig
    bpy.ops.twobone.bake()
    report = json.loads(bpy.context.window_manager.twobone_report)
    assert report["reached"] == 6
    assert errors_of(rig, target).max() < 1e-5


def test_a_library_that_is_gone_spoils_nothing(library, tmp_path):
    rig = build_armature(name="Own")
    (target,) = link(library, "Target")
    store_leg(rig, target)
    shot = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    library.unlink()
    bpy.ops.wm.open_mainfile(filepath=shot)
    report_or_refusal(bake_all)  # Blender keeps a placeholder that stands at the origin
