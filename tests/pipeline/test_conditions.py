"""What poses a limb in place of its keys, against every task: one condition has one answer, with one remedy, whoever asks.

Tasks that key a limb are refused wherever the keys would not be what is seen; tasks that read its motion wherever that is not.
"""

import re

import bpy
import pytest
from mathutils import Euler, Matrix, Vector

from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.rigs.followed_rig import deformed_mesh
from tests.tasks.rigs.switched_leg import drive
from tests.tasks.rigs.walker import Walk, build_walker
from tests.tasks.scenes import add_empty, key_channel, key_places
from twobone_addon.scene.versions import curve_bag

LAST = 24
LEG = {"armature": "Walker", "upper": "thigh.L", "lower": "shin.L", "tip": "foot.L"}
OPERATORS = bpy.ops.twobone

KEYING = {
    "bake": lambda: OPERATORS.bake(**LEG, target="Target"),
    "bake_all": lambda: OPERATORS.bake_all(scope="ACTIVE"),
    "nudge": lambda: OPERATORS.nudge(armature="Walker", chain="leg.L", frame=12, offset=(0, 0, 0.02)),
    "plant": lambda: OPERATORS.plant(armature="Walker"),
    "fit_root": lambda: OPERATORS.fit_root(armature="Walker"),
    "align": lambda: OPERATORS.align_hinge(**LEG),
}
READING = {
    "find_contacts": lambda: OPERATORS.find_contacts(armature="Walker"),
    "bake_target": lambda: OPERATORS.bake_target(**LEG, target="Target"),
}
HAS_ATTRIBUTES = "GEOMETRY_ATTRIBUTE" in bpy.types.Constraint.bl_rna.properties["type"].enum_items
PASSES = ""
"""Instead of a refusal."""


def walker():
    """Two legs that walk, the left one with a target a little above the ankle."""
    rig, _ = build_walker(Walk(frames=LAST, slide=0.02, raised=0.03))
    target, places = add_empty("Target"), []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        places.append((rig.matrix_world @ rig.pose.bones["foot.L"].head + Vector((0, 0, 0.02)))[:])
    key_places(target, places)
    rig.twobone.chains["leg.L"].target = target
    bpy.context.scene.frame_set(1)
    return rig


def own(kind, bone="shin.L", **settings):
    """A constraint on a bone of the leg, which follows a control that has moved away."""
    constraint = walker_in_file().pose.bones[bone].constraints.new(kind)
    control = add_empty("Control")
    control.location, control.rotation_euler = (0.5, 0.4, 0.6), (0.5, 0.3, 0.2)
    if kind == "ARMATURE":
        # It copies how far a bone has gone from its rest pose.
        other = walker_in_file().copy()
        bpy.context.scene.collection.objects.link(other)
        other.animation_data_clear()
        other.pose.bones["chest"].rotation_quaternion = (0.9, 0.3, 0.2, 0.1)
        entry = constraint.targets.new()
        entry.target, entry.subtarget = other, "chest"
    elif hasattr(constraint, "target"):
        constraint.target = control
    for name, value in settings.items():
        setattr(constraint, name, value)
    return constraint


def walker_in_file():
    return bpy.data.objects["Walker"]


def with_attribute():
    """A constraint that takes its pose from a mesh."""
    mesh = bpy.data.meshes.new("Poses")
    mesh.from_pydata([(0.0, 0.0, 0.0)], [], [])
    mesh.attributes.new("pose", "FLOAT4X4", "POINT").data[0].value = Matrix.LocRotScale(
        (0.5, 0.4, 0.6), Euler((0.5, 0.3, 0.2)), None
    )
    thing = bpy.data.objects.new("Poses", mesh)
    bpy.context.scene.collection.objects.link(thing)
    constraint = walker_in_file().pose.bones["shin.L"].constraints.new("GEOMETRY_ATTRIBUTE")
    constraint.target, constraint.attribute_name, constraint.data_type = thing, "pose", "FLOAT4X4"
    constraint.apply_target_transform = True


def on_ik(value):
    """Bones that deform beside the left leg and follow it, or with the switch other ones on IK."""
    rig = walker_in_file()
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    for kind in ("ik", "def"):
        for part, parent in (("thigh.L", "hips"), ("shin.L", f"{kind}_thigh.L"), ("foot.L", f"{kind}_shin.L")):
            bone = bones.new(f"{kind}_{part}")
            bone.head, bone.tail, bone.roll = bones[part].head, bones[part].tail, bones[part].roll
            bone.parent = bones[parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in rig.data.bones:
        bone.use_deform = bone.name.startswith("def_")
    ik = rig.pose.bones["ik_shin.L"].constraints.new("IK")
    ik.target, ik.chain_count = add_empty("Goal"), 2
    ik.target.location = (0.1, 0.2, 0.3)
    rig["IK"] = value
    for part in ("thigh.L", "shin.L", "foot.L"):
        for kind in ("", "ik_"):
            copy = rig.pose.bones[f"def_{part}"].constraints.new("COPY_TRANSFORMS")
            copy.name, copy.target, copy.subtarget = kind or "fk", rig, f"{kind}{part}"
        drive(copy, "influence", rig, '["IK"]')
    deformed_mesh(rig, "def_shin.L")


def ik(**settings):
    own("IK", chain_count=2, **settings)


def ik_in_the_middle():
    constraint = own("IK", chain_count=2)
    for frame, influence in ((1, 0.0), (9, 0.0), (10, 1.0), (14, 1.0), (15, 0.0)):
        constraint.influence = influence
        constraint.keyframe_insert("influence", frame=frame)


def switch_in_the_middle():
    on_ik(0.0)
    rig = walker_in_file()
    for frame, value in ((1, 0.0), (9, 0.0), (10, 1.0), (14, 1.0), (15, 0.0)):
        rig["IK"] = value
        rig.keyframe_insert('["IK"]', frame=frame)


def on_skin(kind):
    """A constraint of the bone that deforms, after those by which it follows the leg."""
    on_ik(0.0)
    constraint = walker_in_file().pose.bones["def_shin.L"].constraints.new(kind)
    constraint.target = add_empty("Control")
    constraint.target.location = (0.5, 0.4, 0.6)
    return constraint


def foot_followed_by_ik(*, mute):
    """A foot that hangs from the root and that the leg's IK follows, on or as Switch leaves it."""
    rig = walker_in_file()
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    foot = rig.data.edit_bones["foot.L"]
    foot.use_connect, foot.parent = False, rig.data.edit_bones["root"]
    bpy.ops.object.mode_set(mode="OBJECT")
    places = {1: (0.0, 0.05, 0.0), 12: (0.05, -0.1, 0.0), LAST: (0.0, 0.05, 0.0)}
    key_channel(rig.pose.bones["foot.L"], "location", places)
    constraint = rig.pose.bones["shin.L"].constraints.new("IK")
    constraint.target, constraint.subtarget, constraint.chain_count, constraint.mute = rig, "foot.L", 2, mute


def adding():
    """The lower bone turns by what the upper one does, on top of its own keys."""
    rig = walker_in_file()
    own("COPY_ROTATION", target=rig, subtarget="thigh.L", mix_mode="ADD", target_space="LOCAL", owner_space="LOCAL")


def transform(constraint=None):
    """Rotations that replace those of the bone: of a type that no list of copies would name."""
    constraint = constraint or own("TRANSFORM")
    constraint.map_from, constraint.map_to, constraint.mix_mode_rot = "LOCATION", "ROTATION", "REPLACE"
    constraint.target_space, constraint.owner_space = "WORLD", "LOCAL"
    constraint.to_max_x_rot, constraint.from_max_x = 0.5, 1.0


def hidden():
    for name in ("thigh.L", "shin.L"):
        walker_in_file().data.bones[name].hide = True
    walker_in_file().hide_set(state=True)


def locked():
    for curve in curve_bag(walker_in_file()).fcurves:
        curve.lock = "shin.L" in curve.data_path


def driven():
    walker_in_file().pose.bones["shin.L"].driver_add("rotation_quaternion", 1).driver.expression = "0.2"


def shared():
    """Another object plays the action with the leg's keys as well."""
    other = walker_in_file().copy()
    bpy.context.scene.collection.objects.link(other)


BY_IK = r'IK \("IK"\) poses bone "(thigh|shin).L", so keys on it would be invisible. Use Switch All Limbs to FK, or Convert'
ELSEWHERE = r'The visible limb \("def_shin.L"\) does not follow bone "shin.L", so .*Use Switch All Limbs to FK first'
HALF = r'The visible limb \("def_shin.L"\) follows bone "shin.L" by 50% only \(".+"\), so .*Use Switch All Limbs to FK first'
BY_SKIN = r'Constraint "Transformation" poses bone "def_shin.L".*, so .*Mute it, or bake it with'
BY_CONSTRAINT = r'Constraint ".+" poses bone "shin.L".*, so .*Mute it, or bake it with'

CONDITIONS = {
    "nothing": (lambda: None, PASSES, PASSES),
    "IK": (ik, BY_IK, PASSES),
    "IK by half": (
        lambda: ik(influence=0.5),
        r'IK \("IK"\) poses bone ".+" by 50%, so keys on it would show only partly',
        PASSES,
    ),
    "IK at some frames": (ik_in_the_middle, r'IK \("IK"\) poses bone ".+" at frame 1\d', PASSES),
    "IK, muted": (lambda: ik(mute=True), PASSES, PASSES),
    "foot that IK follows": (lambda: foot_followed_by_ik(mute=False), BY_IK, PASSES),
    "foot that IK follows, muted": (lambda: foot_followed_by_ik(mute=True), PASSES, PASSES),
    "switch on IK": (lambda: on_ik(1.0), ELSEWHERE, ELSEWHERE),
    "switch halfway": (lambda: on_ik(0.5), HALF, HALF),
    "switch on FK": (lambda: on_ik(0.0), PASSES, PASSES),
    "switch on IK at some frames": (switch_in_the_middle, r'does not follow bone "shin.L" at frame 10, so .*Use Switch', PASSES),
    "limit": (lambda: own("LIMIT_ROTATION", use_limit_x=True, max_x=0.1, owner_space="LOCAL"), PASSES, PASSES),
    "muted constraint": (lambda: own("COPY_ROTATION", mute=True), PASSES, PASSES),
    "hidden": (hidden, PASSES, PASSES),
    **{
        kind: (lambda kind=kind: own(kind), BY_CONSTRAINT, PASSES)
        for kind in ("COPY_TRANSFORMS", "COPY_ROTATION", "DAMPED_TRACK", "TRACK_TO", "STRETCH_TO", "ARMATURE")
    },
    "COPY_ROTATION by half": (lambda: own("COPY_ROTATION", influence=0.5), r'poses bone "shin.L" by \d+%, so keys', PASSES),
    "COPY_ROTATION that adds what the limb does": (adding, BY_CONSTRAINT, PASSES),
    "CHILD_OF": (lambda: own("CHILD_OF", set_inverse_pending=False), BY_CONSTRAINT, PASSES),
    "CHILD_OF, where it is": (lambda: own("CHILD_OF"), PASSES, PASSES),
    "TRANSFORM": (transform, BY_CONSTRAINT, PASSES),
    **({"GEOMETRY_ATTRIBUTE": (with_attribute, BY_CONSTRAINT, PASSES)} if HAS_ATTRIBUTES else {}),
    "bone that deforms tracks something": (lambda: on_skin("DAMPED_TRACK"), ELSEWHERE, ELSEWHERE),
    "TRANSFORM on the bone that deforms": (lambda: transform(on_skin("TRANSFORM")), BY_SKIN, BY_SKIN),
}
"""What is done to the left leg, and what tasks that key it and tasks that read it are refused with."""


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
def test_one_condition_has_one_answer_for_every_task(empty_file, condition):
    walker()
    build, keying, reading = condition
    build()
    bpy.context.view_layer.objects.active = walker_in_file()
    bpy.context.view_layer.update()
    before = dump_file()
    for said, tasks in ((keying, KEYING), (reading, READING)):
        if said:
            for name, call in tasks.items():
                with pytest.raises(RuntimeError) as refused:
                    call()
                assert re.search(said, str(refused.value)), f"{name}: {refused.value}"
    assert differences(before, dump_file()) == []
    for said, tasks in ((keying, KEYING), (reading, READING)):
        if not said:
            for call in tasks.values():
                assert call() <= {"FINISHED", "CANCELLED"}


@pytest.mark.parametrize("build, said", [(locked, "is locked"), (driven, "is driven"), (shared, "Other users of action")])
def test_keys_that_cannot_be_written_are_refused_by_every_task_that_writes_them(empty_file, build, said):
    walker()
    build()
    bpy.context.view_layer.objects.active = walker_in_file()
    bpy.context.view_layer.update()
    before = dump_file()
    for name, call in KEYING.items():
        # The root has curves of its own, which only a shared action keeps from being keyed.
        if name != "fit_root" or said.startswith("Other"):
            with pytest.raises(RuntimeError, match=said):
                call()
    if said.startswith("Other"):
        # Contacts are keyed beside the motion; a target has keys of its own.
        with pytest.raises(RuntimeError, match=said):
            READING["find_contacts"]()
    assert differences(before, dump_file()) == []
    assert READING["bake_target"]() == {"FINISHED"}
