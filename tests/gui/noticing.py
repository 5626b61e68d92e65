"""What a person would miss in a file after something was cancelled, refused or undone."""

import bpy
import numpy as np

from tests.tasks.checks.targets import curves_of

KINDS = ("objects", "actions", "collections", "meshes", "scenes")

OF_A_KEY = {"co": 2, "handle_left": 2, "handle_right": 2, "interpolation": 1, "type": 1}
"""What is compared of a key, and how many numbers that is."""


def state():
    """What there is, how it is keyed and posed, limbs, results, frame, mode, selection."""
    layer = bpy.context.view_layer
    found = {
        "names": {kind: sorted(getattr(bpy.data, kind).keys()) for kind in KINDS},
        "frame": bpy.context.scene.frame_current,
        "mode": bpy.context.mode,
        "selected": sorted(thing.name for thing in layer.objects if thing.select_get()),
    }
    for thing in bpy.data.objects:
        found["place", thing.name] = np.round(np.array(thing.matrix_world), 5).tolist()
        for curve in curves_of(thing):
            found["keys", thing.name, curve.data_path, curve.array_index] = tuple(map(bytes, _keys(curve.keyframe_points)))
        if thing.type == "ARMATURE":
            own = thing.twobone
            found["limbs", thing.name] = [
                {name: _told(getattr(chain, name)) for name in chain.bl_rna.properties.keys()}  # noqa: SIM118 - not a dict
                for chain in own.chains
            ]
            found["told", thing.name] = own.active_index, own.planted, own.said
            for bone in thing.pose.bones:
                found["pose", bone.name] = np.round(np.array(bone.matrix_basis), 5).tolist()
                found["constraints", bone.name] = [(each.name, each.mute, each.influence) for each in bone.constraints]
    return found


def differences(before):
    """Names of what is not as it was."""
    now = state()
    return [name for name in {**before, **now} if before.get(name) != now.get(name)]


def _keys(points):
    for name, size in OF_A_KEY.items():
        values = np.empty(size * len(points), dtype=np.float32 if size == 2 else np.int32)
        points.foreach_get(name, values)
        yield values


def _told(value):
    return value if isinstance(value, str | float | int) else repr(value)
