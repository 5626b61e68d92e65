"""Read objects and bones that F-curves alone move, as records that `core.rig.inheritance` composes.

Every answer is `None` where that cannot be proved: constraints, drivers, strips, simulation, edit mode, parenting that
follows the shape of a mesh or a path. Those are left to Blender's own evaluation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.array_types import Array
from ...core.rig.inheritance import BoneLink, Carrier, ChannelValues, ObjectLink
from ..blender_types import Constraint, Object, PoseBone
from ..bones import read_rest_bone, rotation_channel
from ..lookup import object_named
from .animation_reading import Animation, steers_bones
from .rig_graph import RigGraph

ROTATION_WIDTH = 4
"""Number of values of the widest rotation channels."""

MOST_LIMITS = 3.4e38
"""Limit of a property beyond which it has none: the largest single-precision number."""


class LineageReader:
    """Reads links at given animation times `(F,)`; reads each datablock, and each bone's channels, only once."""

    def __init__(self, times: Array) -> None:
        self.times = times
        self._graph = RigGraph()
        self._constrained_names: dict[str, set[str] | None] = {}
        self._bone_channels: dict[tuple[str, str], ChannelValues | None] = {}

    def parents(self, name: str) -> list[Object]:
        """An object and its ancestors, outermost first."""
        lineage = [object_named(name)]
        while lineage[-1].parent is not None:
            lineage.append(lineage[-1].parent)
        return lineage[::-1]

    def object_link(self, thing: Object) -> ObjectLink | None:
        """One object without its parents."""
        animation = self._graph.animation(thing)
        if thing.rigid_body is not None or thing.soft_body is not None or not _hangs_plainly(thing):
            return None
        if _constrained(thing.constraints, animation, "constraints[") or animation.moves("rotation_mode"):
            return None
        mode = thing.rotation_mode
        channels, deltas = (self._channels(thing, animation, "", mode, prefix=prefix) for prefix in ("", "delta_"))
        if channels is None or deltas is None:
            return None
        return ObjectLink(mode, channels, deltas, np.array(thing.matrix_parent_inverse))

    def carrier(self, thing: Object) -> Carrier | None:
        """The bone an object is parented to; `None` if it has no parent bone, or one that is missing."""
        bone = thing.parent.pose.bones.get(thing.parent_bone) if thing.parent_type == "BONE" else None
        return Carrier(read_rest_bone(bone), bone.bone.use_relative_parent) if bone else None

    def bone_link(self, armature: Object, name: str) -> BoneLink | None:
        """One posed bone without its parents."""
        bone = armature.pose.bones[name]
        constrained = self._constrained_bones(armature)
        if constrained is None or name in constrained:
            return None
        values = self.channels(armature, bone)
        return BoneLink(read_rest_bone(bone), values) if values else None

    def channels(self, armature: Object, bone: PoseBone) -> ChannelValues | None:
        """Values of a bone's own channels, whatever its constraints."""
        node = armature.name, bone.name
        if node not in self._bone_channels:
            animation, path = self._graph.animation(armature), f"{bone.path_from_id()}."
            is_known = not animation.moves(f"{path}rotation_mode")
            self._bone_channels[node] = self._channels(bone, animation, path, bone.rotation_mode) if is_known else None
        return self._bone_channels[node]

    def value(self, thing: Object, path: str) -> Array | None:
        """A number of an object at a data path, `(F,)` or `(1,)`."""
        owner, _, name = path.rpartition(".")
        holder = thing.path_resolve(owner) if owner else thing
        limits = holder.bl_rna.properties.get(name)
        if limits is None or limits.type != "FLOAT":
            return None
        values = self._graph.animation(thing).values(path, np.array([getattr(holder, name)]), self.times)
        if values is None or max(abs(limits.hard_min), abs(limits.hard_max)) > MOST_LIMITS:
            return None if values is None else values[:, 0]
        # A curve may go beyond what a property allows; Blender clamps when it writes the value.
        return np.clip(values[:, 0], limits.hard_min, limits.hard_max)

    def _channels(
        self, owner: Object | PoseBone, animation: Animation, path: str, mode: str, *, prefix: str = ""
    ) -> ChannelValues | None:
        location = self._values(owner, animation, path, f"{prefix}location")
        scale = self._values(owner, animation, path, f"{prefix}scale")
        if prefix and mode == "AXIS_ANGLE":
            # Nothing can set an object's delta rotation by axis and angle: it stays at 0 about Y.
            rotation: Array | None = np.array([[0.0, 0.0, 1.0, 0.0]])
        else:
            rotation = self._values(owner, animation, path, f"{prefix}{rotation_channel(mode)}")
        if location is None or rotation is None or scale is None:
            return None
        return ChannelValues(location, _four(rotation), scale)

    def _values(self, owner: Object | PoseBone, animation: Animation, path: str, name: str) -> Array | None:
        return animation.values(f"{path}{name}", np.array(getattr(owner, name)), self.times)

    def _constrained_bones(self, armature: Object) -> set[str] | None:
        """Names of bones that more than their channels may pose; `None` if that is all of them."""
        if armature.name not in self._constrained_names:
            data, animation, turned = armature.data, self._graph.animation(armature), self._graph.turned(armature)
            is_posed = data.pose_position == "POSE" and not data.is_editmode and not steers_bones(data)
            names = {
                bone.name
                for bone in (armature.pose.bones if is_posed else ())
                if _constrained([*bone.constraints, *turned.get(bone.name, [])], animation, f"{bone.path_from_id()}.constraints[")
            }
            self._constrained_names[armature.name] = names if is_posed else None
        return self._constrained_names[armature.name]


def _hangs_plainly(thing: Object) -> bool:
    if thing.parent is None:
        return True
    if thing.parent_type == "BONE":
        return thing.parent.type == "ARMATURE" and thing.parent_bone in thing.parent.pose.bones
    # A curve may carry its children along its path.
    return thing.parent_type == "OBJECT" and thing.parent.type != "CURVE"


def _constrained(constraints: Sequence[Constraint], animation: Animation, path: str) -> bool:
    """Whether any of the constraints acts, or may act at another frame."""
    if not constraints:
        return False
    return any(not constraint.mute for constraint in constraints) or animation.touches(path)


def _four(rotation: Array) -> Array:
    """Rotation values padded to `(F, 4)`: Euler angles are followed by 0."""
    missing = ROTATION_WIDTH - rotation.shape[-1]
    return np.concatenate([rotation, np.zeros((len(rotation), missing))], axis=-1) if missing else rotation
