"""The scale that a bone has of its own where a bake keys its scale: kept on the armature, and given back with the last key.

A channel that is keyed shows its curve's value; what it held before is lost unless somebody keeps it.
"""

from __future__ import annotations

from ...array_types import Array
from ..blender_types import CurveBag, Object

WHOLE = (1.0, 1.0, 1.0)


def own_scale(armature: Object, path: str) -> tuple[float, ...]:
    """The scale that the bone had before a bake keyed the data path; 1 where nothing else is known."""
    kept = armature.twobone.own_scales.get(path)
    return WHOLE if kept is None else tuple(kept.scale)


def keep_own_scales(armature: Object, bag: CurveBag, paths: set[str]) -> None:
    """Keep the scales at data paths that are about to be keyed and have no curve in the bag yet."""
    kept = armature.twobone.own_scales
    for path in sorted(paths - {fcurve.data_path for fcurve in bag.fcurves}):
        _forget(armature, path)
        scale: Array = armature.path_resolve(path)
        if tuple(scale) != WHOLE:
            entry = kept.add()
            entry.name, entry.scale = path, scale


def give_back_own_scale(armature: Object, path: str) -> None:
    """Set the scale that the bone had before it was keyed."""
    armature.path_resolve(path)[:] = own_scale(armature, path)
    _forget(armature, path)


def _forget(armature: Object, path: str) -> None:
    place = armature.twobone.own_scales.find(path)
    if place >= 0:
        armature.twobone.own_scales.remove(place)
