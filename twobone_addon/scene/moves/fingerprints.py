"""Whether motion has changed: a short text of all that moves some objects and bones, whatever frame it is."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ..blender_types import Constraint, FCurve, Object, PoseBone
from ..keys.fingerprints import Digest, animated_paths, plain
from ..lookup import bone_owner, objects_by_name, owner_of
from ..paths import rotation_channel
from .dependencies import DependencyFinder, Node
from .stillness import CHANNELS

UNMOVING = ("hide", "show_", "color", "display_", "is_visible", "twobone")
"""Beginnings of names of properties that move nothing, or whose say in a bake is looked at elsewhere."""


def motion_digest(starts: Iterable[Node], settings: Iterable[tuple[Object, str]] = (), known: KnownMotion | None = None) -> str:
    """A text that changes with the motion of objects and bones, and of all that they hang from.

    It knows keys, strips, drivers with the properties they read, constraints, and where things without keys are.
    settings : properties of objects, by their data paths, whose animation counts as well
    known : what was found out for other digests, if nothing has changed since
    """
    known = known or KnownMotion()
    finder = known.finder
    by_object: dict[str, list[str]] = {}
    for name, bone in sorted(finder.above(list(starts)).nodes):
        by_object.setdefault(name, []).append(bone)
    motion = _Motion(known)
    for name, bones in by_object.items():
        motion.add_object(finder.objects[name], [bone for bone in bones if bone])
    for thing, path in settings:
        motion.add_property(thing, path)
    return motion.digest.text()


class KnownMotion:
    """What several digests share: they look at each datablock's animated paths, and at each bone, once."""

    def __init__(self) -> None:
        self.finder = DependencyFinder(objects_by_name())
        self.bones: dict[Node, str] = {}
        """Digests of bones without their keys and drivers."""
        self._animated: dict[Object, set[str]] = {}

    def paths(self, datablock: Object) -> set[str]:
        """Data paths that are animated."""
        if datablock not in self._animated:
            self._animated[datablock] = animated_paths(datablock)
        return self._animated[datablock]


class _Motion:
    """Looks at each property that a driver reads once."""

    def __init__(self, known: KnownMotion) -> None:
        self.digest = Digest()
        self._known = known
        self._finder = known.finder
        self._seen: set[tuple[str, str]] = set()

    def add_object(self, thing: Object, names: list[str]) -> None:
        """Add an object, and those of its bones that are named."""
        bones = [thing.pose.bones[name] for name in names if thing.pose and name in thing.pose.bones]
        owners = {"", *map(bone_owner, bones)}
        self.digest.add(thing.name, thing.parent and thing.parent.name, thing.parent_type, thing.parent_bone)
        self.digest.add(plain(thing.matrix_parent_inverse))
        self.digest.add_animation(thing, lambda fcurve: owner_of(fcurve.data_path) in owners and _moves(fcurve))
        if thing.type != "ARMATURE" and thing.data is not None and hasattr(thing.data, "animation_data"):
            self.digest.add_animation(thing.data, _moves)
        self._add_channels(self.digest, thing, thing, "")
        for constraint in thing.constraints:
            self._add_constraint(self.digest, thing, constraint)
        for owner in sorted(owners):
            for fcurve in self._finder.drivers(thing, owner):
                self._add_driver(fcurve)
        for bone in bones:
            self._add_bone(thing, bone)

    def add_property(self, owner: Object, path: str) -> None:
        """Add what decides about a property: what animates it, else its value."""
        if (owner.name, path) in self._seen:
            return
        self._seen.add((owner.name, path))
        self.digest.add(path)
        animated = {each for each in self._known.paths(owner) if path == each or path.startswith((f"{each}[", f"{each}."))}
        if not animated:
            self.digest.add(_value(owner, path) if _holds_still(path) else None)
            return
        self.digest.add_animation(owner, lambda fcurve: fcurve.data_path in animated)
        for fcurve in owner.animation_data.drivers:
            if fcurve.data_path in animated:
                self._add_driver(fcurve)

    def _add_bone(self, armature: Object, bone: PoseBone) -> None:
        bones, node = self._known.bones, (armature.name, bone.name)
        if node not in bones:
            bones[node] = self._bone_digest(armature, bone)
        self.digest.add(bones[node])

    def _bone_digest(self, armature: Object, bone: PoseBone) -> str:
        digest, rest = Digest(), bone.bone
        digest.add(bone.name, plain(rest.matrix_local), rest.inherit_scale, rest.use_inherit_rotation)
        self._add_channels(digest, armature, bone, f"{bone.path_from_id()}.")
        for constraint in (*bone.constraints, *self._finder.turning(armature, bone.name)):
            self._add_constraint(digest, armature, constraint)
        return digest.text()

    def _add_channels(self, digest: Digest, datablock: Object, moved: Object, prefix: str) -> None:
        """Add the channels that nothing animates, for these stay as somebody has left them."""
        rotation = rotation_channel(moved.rotation_mode)
        digest.add(moved.rotation_mode)
        for name in ("location", rotation, "scale"):
            if prefix + name not in self._known.paths(datablock):
                digest.add(name, plain(getattr(moved, name)))

    def _add_constraint(self, digest: Digest, datablock: Object, constraint: Constraint) -> None:
        path = f"{constraint.path_from_id()}."
        animated = {each.removeprefix(path) for each in self._known.paths(datablock) if each.startswith(path)}
        digest.add_settings(constraint, without=animated)

    def _add_driver(self, fcurve: FCurve) -> None:
        self.digest.add_driver(fcurve)
        for variable in fcurve.driver.variables:
            for target in variable.targets:
                if variable.type == "SINGLE_PROP" and target.id is not None and target.data_path:
                    self.add_property(target.id, target.data_path)


def _moves(fcurve: FCurve) -> bool:
    return not fcurve.data_path.rpartition(".")[2].startswith(UNMOVING) and not fcurve.data_path.startswith(UNMOVING)


def _holds_still(path: str) -> bool:
    """Whether a property that nothing animates has the same value at all frames, unlike a matrix or the scene's frame."""
    return path.endswith('"]') or path.rpartition(".")[2].partition("[")[0] in CHANNELS


def _value(owner: bpy.types.ID, path: str) -> object:
    """What a property holds; `None` where there is none at this path."""
    try:
        return plain(owner.path_resolve(path))
    except ValueError:
        return None
