"""Controls of a rig: which of their channels may be keyed, and what they hold."""

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
    """As in sentences: `Target`, `Pole`, `Base`."""
    armature: str
    bone: RestBone
    parent: str
    """Name of its parent; empty without one."""
    carried: bool
    constraints: tuple[str, ...]
    """Those that act on it."""
    locked: tuple[bool, bool, bool]
    """Which of its location channels are locked."""

    @property
    def node(self) -> Node:
        """Its names."""
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
        """Where it is, armature space."""
        return Quantity("POSE", *self.node)

    @property
    def world(self) -> Quantity:
        """Where its armature is."""
        return Quantity("WORLD", self.armature)

    @property
    def channels(self) -> Quantity:
        """What it holds."""
        return Quantity("CHANNELS", *self.node)

    def quantities(self) -> list[Quantity]:
        """What to know of it at every frame."""
        return [self.pose, self.world, *([Quantity("POSE", self.armature, self.parent)] if self.parent else [])]

    def parent_pose(self, samples: Samples) -> Array | None:
        """Poses `(F, 4, 4)` of its parent, armature space."""
        return samples.every(Quantity("POSE", self.armature, self.parent)) if self.parent else None

    def changed(self, samples: Samples, held: BoneChannels, change_world: Array) -> BoneChannels:
        """Channels that bring it from where it visibly is to where `change_world` `(F, 4, 4)` brings that."""
        posed, world = samples.every(self.pose), samples.every(self.world)
        wanted = np.linalg.inv(world) @ change_world @ world @ posed
        parent = self.parent_pose(samples)
        location, rotation = changed_channels(self.bone, parent, held, posed, wanted, carried=self.carried)
        return BoneChannels(location, rotation, held.scale)

    def present_location(self) -> Array:
        """What its location channels hold now, `(3,)`."""
        return np.array(self._posed().location)

    def present_rotation(self) -> tuple[float, ...]:
        """What its rotation channels hold now."""
        return rotation_values(self._posed())

    def present_scale(self) -> Array:
        """What its scale channels hold now, `(3,)`."""
        return np.array(self._posed().scale)

    def _posed(self) -> Object:
        return object_named(self.armature).pose.bones[self.bone.name]


def read_control(role: str, armature: str, bone: str) -> Control:
    """A control as the rig has it; raises `ObjectError` where it is not there, or keys on its location would not move it."""
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
    """Whether an animator may rotate a bone: it is visible, and not all of its rotation is locked."""
    posed = armature.pose.bones[bone]
    return not (is_hidden(posed) or all(posed.lock_rotation) or any(is_acting(each) for each in posed.constraints))


def refuse_locked(control: Control, location: Array, near: float) -> None:
    """Raise `ObjectError` where locations `(F, 3)` are not where locked channels hold the control."""
    away = np.abs(location - control.present_location()).max(axis=0)
    stuck = [letter for letter, lock, way in zip("XYZ", control.locked, away, strict=True) if lock and way > near]
    if stuck:
        raise ObjectError(
            '{role} bone "{bone}" has its location locked in {axes}, but would have to move there by up to {distance}. Unlock '
            "it, or choose another bone.",
            role=Sentence(control.role),
            bone=control.bone.name,
            axes=", ".join(stuck),
            distance=digits(away.max()),
        )


def refuse_unwritable_control(control: Control, paths: list[str], destination: str) -> None:
    """Raise `WriteError` where a control could not take keys, or they would not be seen."""
    refuse_unwritable(object_named(control.armature), paths, destination)
