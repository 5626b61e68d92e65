"""Baked keys out of F-curves again: those of the type that marks them, nothing else."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..blender_types import CurveBag, FCurve, Object
from .own_scales import give_back_own_scale
from .tables import KEY_GENERATED, are_stretch, are_within, read_keys, replace_keys, some_keys


def remove_baked_keys(bag: CurveBag, paths: Iterable[str], start: float, end: float) -> int:
    """Remove baked keys from `start` to `end` on all curves at the data paths, and curves and groups left empty.

    Returns how many keys were removed.
    """
    wanted = set(paths)
    removed = 0
    for fcurve in [fcurve for fcurve in bag.fcurves if fcurve.data_path in wanted]:
        removed += _remove_from(fcurve, start, end)
        if not fcurve.keyframe_points and not fcurve.sampled_points:
            remove_curve(bag, fcurve)
    return removed


def count_baked_keys(bag: CurveBag, paths: Iterable[str], start: float = -np.inf, end: float = np.inf) -> int:
    """How many baked keys the curves at the data paths have from `start` to `end`."""
    wanted = set(paths)
    tables = (read_keys(fcurve) for fcurve in bag.fcurves if fcurve.data_path in wanted and fcurve.keyframe_points)
    return sum(
        int(np.count_nonzero((table["type"][:, 0] == KEY_GENERATED) & are_within(table["co"][:, 0], start, end)))
        for table in tables
    )


def remove_stretch(armature: Object, bag: CurveBag, scale_paths: Iterable[str], start: float, end: float) -> int:
    """Remove baked scales from `start` to `end`; a bone whose scale is not animated any more gets its own scale back.

    Returns how many keys were removed.
    """
    removed = 0
    for path in scale_paths:
        had_curves = any(fcurve.data_path == path for fcurve in bag.fcurves)
        removed += remove_baked_keys(bag, [path], start, end)
        if had_curves and not any(fcurve.data_path == path for fcurve in bag.fcurves):
            give_back_own_scale(armature, path)
    return removed


def has_baked_keys(fcurve: FCurve, start: float, end: float) -> bool:
    """Whether all keys of a curve between `start` and `end` are baked, and there are some."""
    table = read_keys(fcurve)
    inside = are_within(table["co"][:, 0], start, end)
    return bool(inside.any() and np.all(table["type"][inside, 0] == KEY_GENERATED))


def is_stretched(fcurve: FCurve, start: float, end: float) -> bool:
    """Whether all keys of a scale's curve between `start` and `end` are a bake's stretch, and there are some."""
    table = read_keys(fcurve)
    inside = are_within(table["co"][:, 0], start, end)
    return bool(inside.any() and np.all(are_stretch(table)[inside]))


def remove_held_keys(bag: CurveBag, paths: Iterable[str], start: float, end: float) -> None:
    """Remove the baked keys of curves at the data paths that hold what was there in the frames before `start` and after `end`.

    A key with another baked one in the frame beyond it belongs to another bake. Curves left empty go as well.
    """
    wanted = set(paths)
    for fcurve in [fcurve for fcurve in bag.fcurves if fcurve.data_path in wanted and fcurve.keyframe_points]:
        table = read_keys(fcurve)
        baked = table["co"][table["type"][:, 0] == KEY_GENERATED, 0]
        for first, last, beyond in ((start - 1.0, start, start - 2.0), (end, end + 1.0, end + 2.0)):
            near, further = are_within(baked, first, last), are_within(baked, min(beyond, first), max(beyond, last))
            if np.count_nonzero(near) == np.count_nonzero(further):
                _remove_from(fcurve, first, last)
        if not fcurve.keyframe_points:
            remove_curve(bag, fcurve)


def _remove_from(fcurve: FCurve, start: float, end: float) -> int:
    table = read_keys(fcurve)
    gone = are_within(table["co"][:, 0], start, end) & (table["type"][:, 0] == KEY_GENERATED)
    if not gone.any():
        return 0
    replace_keys(fcurve, some_keys(table, ~gone))
    return int(gone.sum())


def remove_curve(bag: CurveBag, fcurve: FCurve) -> None:
    """Remove a curve, and its group if that was its last one."""
    name = fcurve.group.name if fcurve.group else ""
    bag.fcurves.remove(fcurve)
    # Some versions of Blender remove a group with its last curve by themselves.
    group = bag.groups.get(name)
    if group is not None and not group.channels:
        bag.groups.remove(group)
