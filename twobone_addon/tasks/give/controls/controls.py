"""Controls of a rig: which of their channels may be keyed, and their present values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....core.array_types import Array
from ....core.rig.bones import BoneChannels, RestBone
from ....core.rig.steering import changed_channels
from ....errors import ObjectError
from ....pipeline.report.units import digits
from ....said import Sentence
from ....scene.blender_types import Object
from ....scene.bones import read_rest_bone, rotation_path, scale_path
from ....scene.graph.rig_graph import Node
from ....scene.keys.guarding import refuse_unwritable
from ....scene.lookup import find_object, object_named, rotation_values
from ....scene.rig.constraints import is_acting
from ....scene.sampling.quantities import Quantity, Samples
from ....scene.versions import is_hidden

CARRYING = {"CHILD_OF", "ARMATURE"}
"""Constraints that carry a bone along as a whole, as a parent does."""


@dataclass(frozen=True, slots=True)
class Control:
    """A bone that an animator poses."""

    role: str
    """`Target`, `Pole` or `Base`, as in messages."""
    armature: str
    bone: RestBone
    parent: str
    """Name of its parent; empty without one."""
    carried: bool
    """Whether an acting constraint carries it along as a whole, see `CARRYING`."""
    constraints: tuple[str, ...]
    """Names of the constraints that act on it."""
    locked: tuple[bool, bool, bool]
    """Which of its location channels are locked."""

    @property
    def node(self) -> Node:
        """Names of its armature and bone."""
        return self.armature, self.bone.name

    @property
    def location_path(self) -> str:
        """Data path of its location."""
        return rotation_path(self.bone).rpartition(".")[0] + ".location"

    @property
    def rotation_path(self) -> str:
        """Data path of its rotation."""
        return rotation_path(self.bone)

    @property
    def scale_path(self) -> str:
        """Data path of its scale."""
        return scale_path(self.bone)

    @property
    def pose(self) -> Quantity:
        """Its pose, armature space."""
        return Quantity("POSE", *self.node)

    @property
    def world(self) -> Quantity:
        """World matrix of its armature."""
        return Quantity("WORLD", self.armature)

    @property
    def channels(self) -> Quantity:
        """Values of its channels."""
        return Quantity("CHANNELS", *self.node)

    def quantities(self) -> list[Quantity]:
        """Quantities that `changed` needs at every frame."""
        return [self.pose, self.world, *([Quantity("POSE", self.armature, self.parent)] if self.parent else [])]

    def parent_pose(self, samples: Samples) -> Array | None:
        """Poses `(F, 4, 4)` of its parent, armature space; `None` without parent."""
        return samples.every(Quantity("POSE", self.armature, self.parent)) if self.parent else None

    def changed(self, samples: Samples, held: BoneChannels, change_world: Array) -> BoneChannels:
        """Channels that move it from its evaluated pose by `change_world` `(F, 4, 4)`; `held` are the channels of that pose."""
        posed, world = samples.every(self.pose), samples.every(self.world)
        wanted = np.linalg.inv(world) @ change_world @ world @ posed
        parent = self.parent_pose(samples)
        location, rotation = changed_channels(self.bone, parent, held, posed, wanted, carried=self.carried)
        return BoneChannels(location, rotation, held.scale)

    def present_location(self) -> Array:
        """Present values of its location channels, `(3,)`."""
        return np.array(self._posed().location)

    def present_rotation(self) -> tuple[float, ...]:
        """Present values of its rotation channels."""
        return rotation_values(self._posed())

    def present_scale(self) -> Array:
        """Present values of its scale channels, `(3,)`."""
        return np.array(self._posed().scale)

    def _posed(self) -> Object:
        return object_named(self.armature).pose.bones[self.bone.name]


def read_control(role: str, armature: str, bone: str) -> Control:
    """Read a control from its rig; raises `ObjectError` where it does not exist, or keys on its location would not move it."""
    posed = find_object(role, armature, bone).pose.bones[bone]
    if posed.bone.use_connect and posed.parent is not None:
        raise ObjectError(
            '{role} bone "{bone}" is connected to its parent, so keys would not move it. Disconnect it, or choose another bone.',
            role=Sentence(role),
            bone=bone,
        )
    return Control(
        role=role,
        armature=armature,
        bone=read_rest_bone(posed),
        parent=posed.parent.name if posed.parent else "",
        carried=any(is_acting(each) and each.type in CARRYING for each in posed.constraints),
        constraints=tuple(each.name for each in posed.constraints if is_acting(each)),
        locked=tuple(posed.lock_location),
    )


def can_turn(armature: Object, bone: str) -> bool:
    """Whether an animator may rotate a bone: it is visible, unconstrained, and not all of its rotation is locked."""
    posed = armature.pose.bones[bone]
    return not (is_hidden(posed) or all(posed.lock_rotation) or any(is_acting(each) for each in posed.constraints))


def refuse_locked(control: Control, location: Array, near: float) -> None:
    """Raise `ObjectError` where locations `(F, 3)` differ by more than `near` from the present values of locked channels."""
    differences = np.abs(location - control.present_location()).max(axis=0)
    blocked = [
        letter for letter, lock, difference in zip("XYZ", control.locked, differences, strict=True) if lock and difference > near
    ]
    if blocked:
        raise ObjectError(
            '{role} bone "{bone}" has its location locked in {axes}, but would have to move there by up to {distance}. Unlock '
            "it, or choose another bone.",
            role=Sentence(control.role),
            bone=control.bone.name,
            axes=", ".join(blocked),
            distance=digits(differences.max()),
        )


def refuse_unwritable_control(control: Control, paths: list[str], destination: str) -> None:
    """Raise `WriteError` where a control cannot be keyed, or its keys would have no effect."""
    refuse_unwritable(object_named(control.armature), paths, destination)
