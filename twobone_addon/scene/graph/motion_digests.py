"""Digests of everything that moves some objects and bones, to tell whether motion has changed, whatever the frame."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from typing import Any

import bpy

from ...core.array_types import Mask
from ..blender_types import AnimData, Constraint, FCurve, Object, PoseBone, Property
from ..bones import rotation_channel
from ..keys.reading import curves_of
from ..keys.tables import key_numbers
from ..lookup import bone_owner, owner_of, resolved
from ..versions import curve_bag, present_fcurves, strip_curves, strips_in
from .rig_graph import Node, RigGraph, holds_still

LENGTH = 8
"""Bytes of a digest."""

KEYED = ("co", "handle_left", "handle_right", "interpolation", "easing")
"""Attributes of a key that affect motion."""

LOOKS = {"name", "select", "active", "show_expanded", "mute_color", "is_valid", "error_location", "error_rotation"}
"""Properties, of any type, that do not affect motion."""

OfCurve = Callable[[FCurve], bool]
"""Whether a curve matters."""


class Digest:
    """Hash of everything that affects motion."""

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=LENGTH)

    def text(self) -> str:
        """The digest of all that was added."""
        return self._hash.hexdigest()

    def add(self, *values: object) -> None:
        """Add plain values, with boundaries between them."""
        self._hash.update(repr(values).encode())

    def add_settings(self, thing: Any, *, without: Collection[str] = ()) -> None:
        """Add all settable properties of something of Blender's; datablocks count by their names."""
        self.add(thing.bl_rna.identifier)
        for name in _settable(thing.bl_rna.identifier):
            if name not in without:
                self.add(name, plain(getattr(thing, name)))

    def add_animation(self, datablock: Object, matters: OfCurve, owners: Collection[str] | None = None) -> None:
        """Add all curves of a datablock that matter, in its action and its strips, and how these are blended.

        owners : what the curves that matter belong to, see `owner_of`; `None` for anything
        """
        data: AnimData | None = datablock.animation_data
        if data is None:
            return
        curves = present_fcurves(datablock) if owners is None else curves_of(curve_bag(datablock), owners)
        for fcurve in curves:
            if matters(fcurve):
                self.add_curve(fcurve)
        if data.action is not None:
            self.add(data.action_influence, data.action_blend_type, data.action_extrapolation)
        if data.use_nla:
            self._add_tracks(data, matters)

    def add_curve(self, fcurve: FCurve) -> None:
        """Add an F-curve, or the curve of a driver, with its keys and modifiers."""
        keys = fcurve.keyframe_points
        self.add(fcurve.data_path, fcurve.array_index, fcurve.mute, fcurve.extrapolation, len(keys), len(fcurve.sampled_points))
        self.add_keys(fcurve, slice(None))
        for modifier in fcurve.modifiers:
            self.add_settings(modifier)

    def add_keys(self, fcurve: FCurve, which: slice | Mask) -> None:
        """Add some keys of an F-curve."""
        for name in KEYED:
            self._hash.update(key_numbers(fcurve, name)[which].tobytes())

    def add_driver(self, fcurve: FCurve) -> None:
        """Add a driver and its variables, without the values that they read."""
        driver = fcurve.driver
        self.add_curve(fcurve)
        self.add(driver.type, driver.expression, driver.use_self)
        for variable in driver.variables:
            self.add(variable.name, variable.type)
            for target in variable.targets:
                self.add_settings(target)

    def _add_tracks(self, data: AnimData, matters: OfCurve) -> None:
        for track in data.nla_tracks:
            strips = list(strips_in(track.strips))
            curves = [[fcurve for fcurve in strip_curves(strip) if matters(fcurve)] for strip in strips]
            if any(curves):
                self.add(track.mute, track.is_solo)
            for strip, of_action in zip(strips, curves, strict=True):
                if of_action:
                    self.add_settings(strip)
                    # A strip has curves of its own, for its influence and its time.
                    for fcurve in (*strip.fcurves, *of_action):
                        self.add_curve(fcurve)


def text_digest(text: str) -> str:
    """The digest of a text."""
    return hashlib.blake2b(text.encode(), digest_size=LENGTH).hexdigest()


def plain(value: Any) -> object:
    """A value of Blender's as plain Python: a number, a text, names of datablocks, a tuple."""
    if isinstance(value, bpy.types.ID):
        return value.name
    if value is None or isinstance(value, bool | int | float | str | set):
        return sorted(value) if isinstance(value, set) else value
    if isinstance(value, bpy.types.bpy_prop_collection):
        kinds = [(item, item.bl_rna.identifier) for item in value]
        return tuple((kind, *(plain(getattr(item, name)) for name in _settable(kind))) for item, kind in kinds)
    try:
        return tuple(map(plain, value))
    except TypeError:
        return type(value).__name__


@lru_cache(maxsize=128)
def _settable(kind: str) -> tuple[str, ...]:
    """Names of a type's settable properties and of its collections."""
    properties = getattr(bpy.types, kind).bl_rna.properties
    return tuple(
        option.identifier
        for option in properties
        if option.identifier not in LOOKS
        and (not option.is_readonly or option.type == "COLLECTION")
        and option.identifier != "rna_type"
    )


UNMOVING = ("hide", "show_", "color", "display_", "is_visible", "twobone")
"""Prefixes of names of properties that move nothing, or whose effect on a bake is checked elsewhere."""


def motion_digest(starts: Iterable[Node], settings: Iterable[Property] = (), known: KnownMotion | None = None) -> str:
    """A text that changes with the motion of objects and bones, and of all that they depend on.

    It covers keys, strips, drivers with the properties they read, constraints, and the values of channels without keys.
    settings : properties of objects, by their data paths, whose animation counts as well
    known : results of other digests, if nothing has changed since
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
    """Results that several digests share: each datablock's animated paths, and each bone, are read only once."""

    def __init__(self) -> None:
        self.finder = RigGraph()
        self.bones: dict[Node, str] = {}
        """Digests of bones without their keys and drivers."""
        self._animated: dict[Object, set[str]] = {}

    def paths(self, datablock: Object) -> set[str]:
        """Data paths that keys, strips or drivers of a datablock animate."""
        if datablock not in self._animated:
            data = datablock.animation_data
            strips = strips_in(strip for track in (data.nla_tracks if data else ()) for strip in track.strips)
            of_strips = (fcurve for strip in strips for fcurve in strip_curves(strip))
            curves = (*present_fcurves(datablock), *(data.drivers if data else ()), *of_strips)
            self._animated[datablock] = {fcurve.data_path for fcurve in curves}
        return self._animated[datablock]


class _Motion:
    """Builds one digest; adds each property that a driver reads only once."""

    def __init__(self, known: KnownMotion) -> None:
        self.digest = Digest()
        self._known = known
        self._finder = known.finder
        self._seen: set[tuple[str, str]] = set()

    def add_object(self, thing: Object, names: list[str]) -> None:
        """Add an object and its bones of these names."""
        bones = [thing.pose.bones[name] for name in names if thing.pose and name in thing.pose.bones]
        owners = {"", *map(bone_owner, bones)}
        self.digest.add(thing.name, thing.parent and thing.parent.name, thing.parent_type, thing.parent_bone)
        self.digest.add(plain(thing.matrix_parent_inverse))
        self.digest.add_animation(thing, lambda fcurve: owner_of(fcurve.data_path) in owners and _moves(fcurve), owners)
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
        """Add what determines a property: its animation, else its value."""
        if (owner.name, path) in self._seen:
            return
        self._seen.add((owner.name, path))
        self.digest.add(path)
        animated = {
            known_path
            for known_path in self._known.paths(owner)
            if path == known_path or path.startswith((f"{known_path}[", f"{known_path}."))
        }
        if not animated:
            self.digest.add(plain(resolved(owner, path)) if holds_still(path) else None)
            return
        self.digest.add_animation(owner, lambda fcurve: fcurve.data_path in animated)
        for fcurve in owner.animation_data.drivers:
            if fcurve.data_path in animated:
                self._add_driver(fcurve)

    def _add_bone(self, armature: Object, bone: PoseBone) -> None:
        bones, node = self._known.bones, (armature.name, bone.name)
        if node not in bones:
            digest, rest = Digest(), bone.bone
            digest.add(bone.name, plain(rest.matrix_local), rest.inherit_scale, rest.use_inherit_rotation)
            self._add_channels(digest, armature, bone, f"{bone.path_from_id()}.")
            for constraint in (*bone.constraints, *self._finder.turned(armature).get(bone.name, [])):
                self._add_constraint(digest, armature, constraint)
            bones[node] = digest.text()
        self.digest.add(bones[node])

    def _add_channels(self, digest: Digest, datablock: Object, moved: Object, prefix: str) -> None:
        """Add the channels that nothing animates: these keep the values that somebody has set."""
        rotation = rotation_channel(moved.rotation_mode)
        digest.add(moved.rotation_mode)
        for name in ("location", rotation, "scale"):
            if prefix + name not in self._known.paths(datablock):
                digest.add(name, plain(getattr(moved, name)))

    def _add_constraint(self, digest: Digest, datablock: Object, constraint: Constraint) -> None:
        path = f"{constraint.path_from_id()}."
        animated = {known_path.removeprefix(path) for known_path in self._known.paths(datablock) if known_path.startswith(path)}
        digest.add_settings(constraint, without=animated)

    def _add_driver(self, fcurve: FCurve) -> None:
        self.digest.add_driver(fcurve)
        for variable in fcurve.driver.variables:
            for target in variable.targets:
                if variable.type == "SINGLE_PROP" and target.id is not None and target.data_path:
                    self.add_property(target.id, target.data_path)


def _moves(fcurve: FCurve) -> bool:
    return not fcurve.data_path.rpartition(".")[2].startswith(UNMOVING) and not fcurve.data_path.startswith(UNMOVING)
