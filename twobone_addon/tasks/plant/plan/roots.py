"""Find the root that carries the legs and may be moved: a bone that is named or found, or else the armature's object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....core.array_types import Array
from ....core.rig.bones import RestBone
from ....errors import ChainError
from ....pipeline.plan.planning import constrained
from ....said import Sentence, note
from ....scene.blender_types import Channel, Object, PoseBone
from ....scene.bones import bones_below, location_path, read_rest_bone
from ....scene.keys.guarding import refuse_unwritable
from ....scene.keys.reading import read_keyed
from ....scene.keys.tables import Keyed
from ....scene.rig.chain_finding import is_seen
from ....scene.rig.constraints import is_constrained
from ....scene.sampling.quantities import Quantity
from ....settings.feet import RootSettings

MOST_OF_THE_BODY = 0.75
"""Smallest number of deforming bones below the root, relative to the most below any candidate.

Rigs have bones above the legs that carry only the pelvis, such as Rigify's `tweak_spine`; moved alone they tear the body apart.
In a rig with a few more deforming controls directly below its origin, the hips still carry more than this share."""


@dataclass(frozen=True, slots=True)
class RootPlan:
    """The bone that carries all legs, or else their object; or a foot that the root does not carry, which goes along."""

    armature: str
    bone: RestBone | None
    """`None` means the armature's object."""
    parent: Quantity | None
    path: str
    """Data path of the location."""
    keyed: dict[Channel, Keyed]
    """Current keys of each location channel, by data path and index."""
    parent_inverse: Array | None = None
    """`(4, 4)` parent inverse matrix; for objects only."""
    delta: Array | None = None
    """`(3,)` delta location; for objects only."""
    notes: tuple[Sentence, ...] = ()
    """Notes for the report if the root is moved."""

    @property
    def name(self) -> str:
        """Name of the bone, or of the object."""
        return self.armature if self.bone is None else self.bone.name

    @property
    def channels(self) -> Quantity:
        """The quantity that gives its location: the channels of a bone, the world matrix of an object."""
        return Quantity("WORLD", self.armature) if self.bone is None else Quantity("CHANNELS", self.armature, self.bone.name)


def plan_root(
    armature: Object, settings: RootSettings, uppers: Sequence[str], within: tuple[float, float], *, needed: bool
) -> tuple[RootPlan | None, tuple[Sentence, ...]]:
    """The named root, or else a bone above all `uppers` that can be moved, or the object. If there is none, `None` with notes.

    Raises a `ChainError` if the named root is unsuitable, or if a `needed` root is not found.
    """
    bones = armature.pose.bones
    above = [list(bones[upper].parent_recursive) for upper in uppers]
    common = [bone for bone in above[0] if all(bone in others for others in above)]
    free = [bone for bone in common if not bone.bone.use_connect and not is_constrained(bone)]
    if settings.root == armature.name and settings.root not in bones:
        free = []
    if not free and settings.root in {"", armature.name} and _may_move(armature):
        return _object_root(armature, settings, within), ()
    if settings.root:
        bone = _named_root(armature, settings.root, common)
    elif not free:
        if needed:
            raise ChainError(
                'Found no bone of armature "{armature}" that carries all legs and can be moved. Name the root.',
                armature=armature.name,
            )
        lost = note(
            'Found no bone of armature "{armature}" that carries all legs and can be moved. Name the root; the root was not '
            "moved.",
            armature=armature.name,
        )
        return None, (lost,)
    else:
        bone = _found_root(armature, free, within)
    return moved_bone(bone, settings, within), ()


def moved_bone(bone: PoseBone, settings: RootSettings, within: tuple[float, float]) -> RootPlan:
    """A bone whose location is keyed to move it through the world; raises a `WriteError` where it cannot be."""
    armature, rest = bone.id_data, read_rest_bone(bone)
    path = location_path(rest)
    refuse_unwritable(armature, [path], settings.destination, is_motion=True)
    parent = Quantity("POSE", armature.name, bone.parent.name) if bone.parent else None
    keyed = {Channel(path, axis): read_keyed(armature, path, axis, *within) for axis in range(3)}
    return RootPlan(armature.name, rest, parent, path, keyed, notes=tuple(_notes(bone)))


def _may_move(armature: Object) -> bool:
    """Whether an object's location channels determine its position."""
    held = any(not constraint.mute for constraint in armature.constraints)
    return not held and (armature.parent is None or armature.parent_type == "OBJECT")


def _object_root(armature: Object, settings: RootSettings, within: tuple[float, float]) -> RootPlan:
    path = "location"
    refuse_unwritable(armature, [path], settings.destination, is_motion=True)
    parent = None if armature.parent is None else Quantity("WORLD", armature.parent.name)
    keyed = {Channel(path, axis): read_keyed(armature, path, axis, *within) for axis in range(3)}
    inverse, delta = np.array(armature.matrix_parent_inverse), np.array(armature.delta_location)
    return RootPlan(armature.name, None, parent, path, keyed, parent_inverse=inverse, delta=delta)


def _found_root(armature: Object, free: list[PoseBone], within: tuple[float, float]) -> PoseBone:
    """The nearest bone above the legs whose location is keyed already, else the nearest that carries most of the body.

    Hidden bones, and bones with all location channels locked, are candidates only if there are no others.
    """
    shown = [bone for bone in free if is_seen(bone)] or free
    loose = [bone for bone in shown if not all(bone.lock_location)] or shown

    def is_keyed(bone: PoseBone) -> bool:
        path = location_path(read_rest_bone(bone))
        return any(read_keyed(armature, path, axis, *within).table is not None for axis in range(3))

    keyed = next((bone for bone in loose if is_keyed(bone)), None)
    if keyed is not None:
        return keyed
    carried = [sum(below.use_deform for below in bones_below(bone.bone)) for bone in loose]
    return next(bone for bone, count in zip(loose, carried, strict=True) if count >= MOST_OF_THE_BODY * max(carried))


def _named_root(armature: Object, name: str, common: list[PoseBone]) -> PoseBone:
    bone = armature.pose.bones.get(name)
    if bone is None:
        raise ChainError(
            'Root "{root}" is not in armature "{armature}". Choose the bone that carries the legs.',
            root=name,
            armature=armature.name,
        )
    if bone.bone.use_connect:
        raise ChainError('Root "{root}" is connected to its parent, so it cannot be moved. Choose another bone.', root=name)
    if bone not in common:
        raise ChainError('Root "{root}" is not a parent of all legs. Choose a bone above all of them.', root=name)
    return bone


def _notes(bone: PoseBone) -> list[Sentence]:
    """Notes on constraints that override the bone's keys, and on locks that the keys ignore."""
    notes = constrained(bone)
    locked = [letter for letter, lock in zip("XYZ", bone.lock_location, strict=True) if lock]
    if locked:
        notes.append(
            note(
                'Bone "{bone}" has its location locked along {axes}, but was keyed anyway.',
                bone=bone.name,
                axes=", ".join(locked),
            )
        )
    return notes
