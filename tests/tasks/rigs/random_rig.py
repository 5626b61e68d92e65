"""Limbs by the dice: rolls, gaps, in-between bones, inheritance, scale, rotation modes, motion; and settings for their bake."""

import bpy
from mathutils import Vector

from tests.tasks.scenes import BoneShape, Limb, add_empty, build_armature, key_channel, key_places

FRAMES = (1, 6)
PREVIEW = (2, 5)
MODES = ("QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
INHERITS = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")
LETTERS = ("XY", "XZ", "YZ")


def build_random_rig(dice):
    """Armature, limb, and whether its links keep their lengths whatever way they point."""
    rig = build_armature(_shapes(dice))
    limb = Limb("Rig", carrier=dice.choice(("lower", "foot")) if "foot" in rig.pose.bones else "lower")
    for bone in rig.pose.bones:
        bone.rotation_mode = dice.choice(MODES)
        bone.bone.inherit_scale = dice.choice(INHERITS) if dice.random() < 0.6 else "FULL"
        bone.bone.use_inherit_rotation = dice.random() > 0.12
        bone.bone.use_local_location = dice.random() > 0.2
        _key_turns(bone, dice)
    even = _scale(rig, dice)
    turning = {"upper", "lower"}
    rides = [name for name in ("twist", "foot") if name in rig.pose.bones and rig.data.bones[name].use_inherit_rotation is False]
    return rig, limb, even and not rides and turning <= set(rig.pose.bones.keys())


def build_random_target(rig, limb, dice):
    """An empty around the limb's root joint, in reach and out of it."""
    target = add_empty()
    upper = rig.data.bones[limb.upper]
    root = rig.matrix_world @ upper.head_local
    size = (upper.length + rig.data.bones[limb.lower].length) * abs(rig.matrix_world.determinant()) ** (1 / 3)
    key_places(target, [root + _direction(dice) * size * dice.uniform(0.2, 1.3) for _ in range(*FRAMES)] + [root], FRAMES[0])
    target.rotation_euler = [dice.uniform(-3, 3) for _ in range(3)]
    if dice.random() < 0.3:
        parent = add_empty("Target Parent")
        parent.location = _direction(dice)
        parent.keyframe_insert("location", frame=1)
        parent.location = _direction(dice)
        parent.keyframe_insert("location", frame=FRAMES[1])
        target.parent = parent
    return target


def random_settings(dice, rig):
    """Settings of one bake; names of objects that they need are made."""
    plane = dice.choice((*LETTERS, *LETTERS, "REST", "POLE", "OBJECT", "POSE"))
    settings = {
        "plane": plane,
        "plane_space": dice.choice(("WORLD", "ARMATURE", "PARENT")),
        "bend": dice.choice(("POSITIVE", "NEGATIVE", "KEEP")),
        "depth": dice.choice(("KEEP", "FLATTEN")),
        "reference": dice.choice(("REST", "POSE")),
        "interpolation": dice.choice(("LINEAR", "BEZIER", "CONSTANT")),
        "keys": dice.choice(("FRAMES", "FRAMES", "TARGET_KEYS", "CHAIN_KEYS", "REDUCE")),
        "end_rotation": dice.choice(("NONE", "NONE", "KEEP")) if "foot" in rig.pose.bones else "NONE",
        "key_before": dice.random() < 0.2,
        "key_after": dice.random() < 0.2,
        "frame_range": "CUSTOM",
    }
    for name, role in (("Pole", "pole"), ("Spanning", "plane_object")):
        if plane == {"pole": "POLE", "plane_object": "OBJECT"}[role]:
            thing = add_empty(name)
            thing.location, thing.rotation_euler = 4.0 * _direction(dice), [dice.uniform(-3, 3) for _ in range(3)]
            settings[role] = name
    return settings | _reach(dice) | _time(dice, settings["keys"]) | _rarely(dice)


def _time(dice, keys):
    """Which frames are baked, how densely, and where the keys go."""
    chosen = {
        "destination": dice.choice(("ACTION", "ACTION", "ACTION", "NEW_ACTION", "NLA")),
        "loop": dice.choice(("AUTO", "ON", "OFF")),
    }
    if keys == "REDUCE":
        chosen["keep_keys"] = dice.choice(("NONE", "TARGET", "EXTREMES", "BOTH"))
    if keys == "FRAMES":
        chosen["step"] = dice.choice((1.0, 1.0, 1.0, 0.5, 2.0, 2.5))
    kind = dice.choice(("CUSTOM", "CUSTOM", "CUSTOM", "SCENE", "PREVIEW", "TARGET"))
    if kind == "CUSTOM":
        return {**chosen, "frame_start": float(FRAMES[0]), "frame_end": float(FRAMES[1])}
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES
    scene.use_preview_range = kind == "PREVIEW"
    if kind == "PREVIEW":
        scene.frame_preview_start, scene.frame_preview_end = PREVIEW
    return {**chosen, "frame_range": kind}


def _rarely(dice):
    """At most one of the settings that take a limb off its target on purpose."""
    kind = dice.choice(("none",) * 6 + ("influence", "limits", "distances", "near"))
    if kind == "influence":
        return {"influence": dice.choice((0.0, 0.5))}
    if kind == "limits":
        low = dice.uniform(-2.5, 2.0)
        return {"use_limits": True, "lower_min": low, "lower_max": low + dice.uniform(0.1, 1.0)}
    if kind == "distances":
        return {"min_distance": dice.uniform(0.05, 0.3), "max_distance": dice.uniform(0.4, 0.8)}
    return {"softness_near": 0.1, "compress_min": 0.5} if kind == "near" else {}


def _reach(dice):
    reach = dice.choice(("CLAMP", "CLAMP", "SOFTEN", "STRETCH"))
    chosen = {"reach": reach}
    if reach == "SOFTEN":
        chosen["softness"] = dice.choice((0.02, 0.1, 0.3))
    if reach == "STRETCH":
        chosen["stretch_max"] = dice.choice((1.05, 1.5, 10.0))
    return chosen


def _shapes(dice):
    """A parent, upper and lower bone; at times a twist bone between them, a gap, a foot. Every roll is different."""
    head = Vector((dice.uniform(-0.3, 0.3), dice.uniform(-0.3, 0.3), 1.0))
    shapes = [BoneShape("parent", (0, 0, 0.2), tuple(_direction(dice) + Vector((0, 0, 0.2))), roll=dice.uniform(-3, 3))]
    hanging = "parent"
    for name in ("upper", "twist", "lower", "foot"):
        if name in {"twist", "foot"} and dice.random() < 0.6:
            continue
        tail = head + _direction(dice) * dice.uniform(0.3, 1.0) * (0.4 if name in {"twist", "foot"} else 1.0)
        shapes.append(BoneShape(name, tuple(head), tuple(tail), hanging, roll=dice.uniform(-3, 3)))
        hanging = name
        head = tail + (_direction(dice) * 0.15 if dice.random() < 0.3 else Vector())
    return tuple(shapes)


def _scale(rig, dice):
    """Scale parent, upper bone and object; returns whether everything that the limb inherits is even."""
    rig.location, rig.rotation_euler = _direction(dice), [dice.uniform(-3, 3) for _ in range(3)]
    rig.keyframe_insert("location", frame=FRAMES[0])
    rig.location = _direction(dice)
    rig.keyframe_insert("location", frame=FRAMES[1])
    kind = dice.choice(("none", "none", "even", "uneven", "mirrored"))
    factor = dice.uniform(0.5, 2.0)
    rig.scale = {
        "none": (1, 1, 1),
        "even": (factor,) * 3,
        "uneven": (factor, 1.3, 0.8),
        "mirrored": (-factor, factor, factor),
    }[kind]
    amount = dice.choice(("none", "none", "even", "uneven"))
    grown = {"none": (1, 1, 1), "even": (factor,) * 3, "uneven": (1.2, 0.8, factor)}[amount]
    key_channel(rig.pose.bones["parent"], "scale", {FRAMES[0]: (1, 1, 1), FRAMES[1]: grown})
    bpy.context.view_layer.update()
    return amount != "uneven"


def _key_turns(bone, dice):
    """The bone's own rotation, keyed at both ends of the range, at most a turn of some radians."""
    path = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(bone.rotation_mode, "rotation_euler")
    for frame in FRAMES:
        values = [dice.uniform(-0.8, 0.8) for _ in range(3)]
        setattr(bone, path, values if path == "rotation_euler" else [1.0, *values])
        bone.keyframe_insert(path, frame=frame)


def _direction(dice):
    vector = Vector([dice.gauss(0, 1) for _ in range(3)])
    return vector.normalized() if vector.length > 1e-3 else Vector((1, 0, 0))
