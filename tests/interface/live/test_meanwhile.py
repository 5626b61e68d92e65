"""Something else happens while an operator runs on, as from a second window or by a timer: it ends, and nothing is thrown."""

from types import SimpleNamespace

import bpy
import pytest

from tests.interface.acting import joints_world
from tests.interface.live.test_drag import pixels, sidebar_region, viewport
from tests.interface.recording import Windows, event, sidebar
from twobone_addon.interface.live.drag import TWOBONE_OT_drag
from twobone_addon.interface.operators.bake import TWOBONE_OT_bake_all
from twobone_addon.interface.operators.of_tasks import OPERATORS
from twobone_addon.interface.running import progress

NUDGE = OPERATORS["nudge"]


def rig():
    return bpy.data.objects["Rig"]


def edit_mode():
    bpy.context.view_layer.objects.active = rig()
    bpy.ops.object.mode_set(mode="EDIT")


def other_action():
    (rig().animation_data or rig().animation_data_create()).action = bpy.data.actions.new("Other")


def no_animation():
    rig().animation_data_clear()


def other_frame():
    bpy.context.scene.frame_set(30)


def scene_removed():
    scene = bpy.data.scenes.new("Other")
    bpy.data.scenes.remove(bpy.context.scene)
    bpy.context.window.scene = scene


def bone_renamed():
    rig().data.bones["lower"].name = "calf"


def bones_removed():
    edit_mode()
    bones = rig().data.edit_bones
    for bone in list(bones):
        bones.remove(bone)
    bpy.ops.object.mode_set(mode="OBJECT")


def chains_removed():
    rig().twobone.chains.clear()


def target_deleted():
    bpy.data.objects.remove(rig().twobone.chains[0].target)


def armature_renamed():
    rig().name = "Renamed"


def armature_deleted():
    bpy.data.objects.remove(rig())


HAPPENS = (
    edit_mode, other_action, no_animation, other_frame, scene_removed, bone_renamed, bones_removed, chains_removed,
    target_deleted, armature_renamed, armature_deleted,
)  # fmt: skip


def acting(cls, **attributes):
    said, options = [], SimpleNamespace(is_repeat=False)
    own = {"report": lambda _self, kinds, text: said.append((kinds, text)), "said": said, "options": options, **attributes}
    own |= {name: value for name, value in vars(cls).items() if not name.startswith("__") and name not in own}
    bases = tuple(base for base in cls.__bases__ if base is not bpy.types.Operator)
    operator = type(cls.__name__, bases, own)()
    name = cls.bl_idname.rpartition("_OT_")[2].rpartition(".")[2]
    operator.properties = SimpleNamespace(
        is_property_set=lambda name: name in vars(operator),
        property_unset=lambda name: vars(operator).pop(name, None),
        bl_rna=getattr(bpy.ops.twobone, name).get_rna_type(),
    )
    area = SimpleNamespace(
        type="VIEW_3D", regions=[sidebar_region(), viewport()], header_text_set=lambda _text: None, tag_redraw=lambda: None
    )
    return operator, sidebar(window_manager=Windows(), area=area)


@pytest.mark.parametrize("key", ["LEFTMOUSE", "ESC"])
@pytest.mark.parametrize("happens", HAPPENS)
@pytest.mark.parametrize("cls", [TWOBONE_OT_drag, NUDGE], ids=["drag", "nudge"])
def test_what_is_moved_with_the_mouse_ends_whatever_happens_meanwhile(leg_in_scene, cls, happens, key):
    attributes = {option.name: option.default for option in NUDGE.table.own} if cls is NUDGE else {}
    operator, context = acting(cls, **attributes)
    tip = joints_world(leg_in_scene, "upper", "lower")[2]
    assert operator.invoke(context, event("LEFTMOUSE", "RELEASE", ascii="", **pixels(*tip.yz))) == {"RUNNING_MODAL"}
    operator.modal(context, event("MOUSEMOVE", ascii="", **pixels(0.5, 0.3)))
    happens()
    context.scene = bpy.context.scene
    ended = operator.modal(context, event("MOUSEMOVE", ascii="", **pixels(0.6, 0.2)))
    if ended == {"RUNNING_MODAL"}:
        ended = operator.modal(context, event(key, ascii="", **pixels(0.6, 0.2)))
    assert ended in ({"FINISHED"}, {"CANCELLED"})
    assert context.workspace.status is None
    assert all(sentence.endswith(".") for kinds, sentence in operator.said if "ERROR" in kinds)


@pytest.mark.parametrize("happens", HAPPENS)
def test_a_bake_in_progress_ends_whatever_happens_meanwhile(leg_in_scene, monkeypatch, happens):
    monkeypatch.setattr(progress, "PATIENCE_IN_SECONDS", 1e-9)
    monkeypatch.setattr(progress, "SLICE_IN_SECONDS", 1e-3)
    operator, context = acting(TWOBONE_OT_bake_all, scope="ACTIVE", last_wins=False, actions="ACTIVE")
    assert operator.invoke(context, None) == {"RUNNING_MODAL"}
    happens()
    context.scene = bpy.context.scene
    for _ in range(1000):
        ended = operator.modal(context, event("TIMER"))
        if ended != {"RUNNING_MODAL"}:
            break
    assert ended in ({"FINISHED"}, {"CANCELLED"})
    assert context.workspace.status is None
    assert context.window_manager.timers == []
