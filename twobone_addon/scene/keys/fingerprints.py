"""Whether animation has changed: a short digest of the keys, or without keys of the places, of objects and bones."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

import numpy as np

from ...scene.lookup import bone_owner, owner_of
from ..blender_types import FCurve, Object
from ..versions import curve_bag

if TYPE_CHECKING:
    from hashlib import _Hash

LENGTH = 8
"""Bytes of a digest."""

NUMBERS = (("co", 2), ("handle_left", 2), ("handle_right", 2))


def animation_digest(things: Iterable[tuple[Object, Collection[str]]]) -> str:
    """A text that changes with the motion of objects, and of the bones named with each.

    It knows keys of the present action, and where things without keys are; not drivers, nor what constraints do.
    """
    digest = hashlib.blake2b(digest_size=LENGTH)
    for thing, bones in things:
        _add_object(digest, thing, bones)
    return digest.hexdigest()


def text_digest(text: str) -> str:
    """The same of any text."""
    return hashlib.blake2b(text.encode(), digest_size=LENGTH).hexdigest()


def _add_object(digest: _Hash, thing: Object, names: Collection[str]) -> None:
    bones = {bone_owner(thing.pose.bones[name]): thing.pose.bones[name] for name in names}
    bag, moved = curve_bag(thing), set()
    for fcurve in bag.fcurves if bag else ():
        owner = owner_of(fcurve.data_path)
        if (owner in bones or not owner) and _moves(fcurve):
            moved.add(owner)
            _add_curve(digest, fcurve)
    if "" not in moved:
        digest.update(np.array(thing.matrix_basis, dtype=np.float32).tobytes())
    for owner, bone in bones.items():
        if owner not in moved:
            digest.update(np.array(bone.matrix_basis, dtype=np.float32).tobytes())


def _moves(fcurve: FCurve) -> bool:
    name = fcurve.data_path.rpartition(".")[2]
    return "location" in name or "rotation" in name or "scale" in name


def _add_curve(digest: _Hash, fcurve: FCurve) -> None:
    keys = fcurve.keyframe_points
    digest.update(f"{fcurve.data_path}[{fcurve.array_index}]{fcurve.mute}".encode())
    for name, width in NUMBERS:
        values = np.empty(len(keys) * width, dtype=np.float32)
        keys.foreach_get(name, values)
        digest.update(values.tobytes())
    kinds = np.empty(len(keys), dtype=np.int32)
    keys.foreach_get("interpolation", kinds)
    digest.update(kinds.tobytes())
