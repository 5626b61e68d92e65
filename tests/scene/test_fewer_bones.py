"""A reduced rig is made in Edit Mode, but not in the user's: modes, selection, undo steps and other add-ons notice nothing."""

import bpy
import pytest

from tests.scene.big_rig import FRAMES, LIMB, WANTED, big_rig
from tests.scene.movers import add_empty
from twobone_addon.scene.sampling import reduced_rigs as fewer_bones
from twobone_addon.scene.sampling.evaluate import prepared_place
from twobone_addon.scene.sampling.reduced_rigs import with_fewer_bones


def object_mode():
    pass


def pose_mode():
    enter(bpy.data.objects["Rig"], "POSE")


def weight_paint():
    enter(add_mesh(), "WEIGHT_PAINT")


def mesh_edit():
    enter(add_mesh(), "EDIT")


def other_armature_edit():
    data = bpy.data.armatures.new("Other")
    other = bpy.data.objects.new("Other", data)
    bpy.context.scene.collection.objects.link(other)
    enter(other, "EDIT")
    data.edit_bones.new("unsaved").tail = (0, 0, 1)


def nothing_active():
    bpy.context.view_layer.objects.active = None


MODES = (object_mode, pose_mode, weight_paint, mesh_edit, other_armature_edit, nothing_active)
each_mode = pytest.mark.parametrize("enter_mode", MODES, ids=lambda enter_mode: enter_mode.__name__)


def enter(thing, mode):
    bpy.context.view_layer.objects.active = thing
    thing.select_set(state=True)
    bpy.ops.object.mode_set(mode=mode)


def add_mesh():
    mesh = bpy.data.meshes.new("Body")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    body = bpy.data.objects.new("Body", mesh)
    bpy.context.scene.collection.objects.link(body)
    return body


def reduced():
    with prepared_place(bpy.context.scene, WANTED, FRAMES) as place:
        return {name: double.thing.pose.bones.keys() for name, double in place.reduced.items()}


def seen_by_the_user():
    """All that a person would notice: modes, what is active, what is selected, bones that are being edited."""
    context = bpy.context
    return {
        "scene": context.scene.name,
        "mode": context.mode,
        "active": context.active_object and context.active_object.name,
        "selected": sorted(thing.name for thing in context.selected_objects),
        "modes": {thing.name: thing.mode for thing in bpy.data.objects},
        "bones": [bone.name for bone in getattr(getattr(context.object, "data", None), "edit_bones", ())],
        "frame": context.scene.frame_current_final,
    }


@each_mode
def test_the_user_stays_in_the_mode_with_what_is_selected(scene, enter_mode):
    big_rig()
    enter_mode()
    before = seen_by_the_user()
    assert reduced() == {"Rig": list(LIMB)}
    assert seen_by_the_user() == before


# In Edit Mode, Blender's own steps hold what is edited and nothing else.
@pytest.mark.parametrize("enter_mode", [object_mode, pose_mode, weight_paint], ids=lambda enter_mode: enter_mode.__name__)
def test_undo_and_redo_find_the_steps_that_the_user_made(scene, enter_mode):
    big_rig()
    add_empty("Thing")
    enter_mode()
    for x in (1.0, 2.0, 3.0):
        bpy.data.objects["Thing"].location.x = x
        bpy.ops.ed.undo_push(message=f"Move {x}")
    assert reduced()
    seen = []
    for step in (bpy.ops.ed.undo, bpy.ops.ed.undo, bpy.ops.ed.redo, bpy.ops.ed.redo):
        assert step() == {"FINISHED"}
        seen.append(bpy.data.objects["Thing"].location.x)
    assert seen == [2.0, 1.0, 2.0, 3.0]


def test_other_addons_hear_nothing_of_it(scene):
    big_rig()
    bpy.context.view_layer.update()
    heard = []
    handlers = [bpy.app.handlers.depsgraph_update_pre, bpy.app.handlers.depsgraph_update_post]
    listen = lambda scene, *_: heard.append(scene.name)  # noqa: E731 - one function in two lists
    for functions in handlers:
        functions.append(listen)
    try:
        assert reduced()
    finally:
        for functions in handlers:
            functions.remove(listen)
    assert not heard


def test_where_edit_mode_cannot_be_entered_there_is_no_double_and_nothing_is_left(scene, monkeypatch):
    rig = big_rig()
    monkeypatch.setattr(fewer_bones, "_switch", lambda *_: False)
    kinds = ("objects", "armatures", "collections", "scenes")
    before = [getattr(bpy.data, kind).keys() for kind in kinds]
    assert with_fewer_bones(rig, set(LIMB)) is None
    assert reduced() == {}
    assert [getattr(bpy.data, kind).keys() for kind in kinds] == before
    assert len(rig.data.bones) > len(LIMB)
