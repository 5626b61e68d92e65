"""Keys of somebody else's that were replaced, kept on the armature so that clearing puts them back."""

from __future__ import annotations

import base64
import binascii
import io
import json
import zipfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from ...array_types import Array, Mask
from ..blender_types import CurveBag, FCurve, Object
from ..evaluated import write_animated_values
from ..versions import curve_bag, ensure_curve_bag, new_fcurve
from .clearing import remove_baked_keys, remove_curve, remove_held_keys
from .tables import (
    KEY_GENERATED,
    NEAR_FRAME,
    WIDTHS,
    KeyTable,
    are_within,
    blank_keys,
    joined_keys,
    read_keys,
    replace_keys,
    some_keys,
)
from .writing import ChannelKeys

Channel = tuple[str, int]
"""Data path and index."""

HANDLING = ("handle_left", "handle_right", "handle_left_type", "handle_right_type")
"""What holding a curve beside replaced keys changes in the keys next to them."""


@dataclass(frozen=True, slots=True)
class _Noted:
    """Keys that were replaced, by channel."""

    action: str = ""
    keys: dict[Channel, KeyTable] = field(default_factory=dict)
    beside: dict[Channel, KeyTable] = field(default_factory=dict)
    """The keys next to them, as they were."""


def note_replaced(armature: Object, bag: CurveBag, channels: Iterable[Sequence[ChannelKeys]]) -> None:
    """Keep the keys that the pieces of channels are about to replace, but for baked ones; those noted before stay noted."""
    action = armature.animation_data.action.name
    noted = _noted(armature)
    found, beside = (dict(noted.keys), dict(noted.beside)) if noted.action == action else ({}, {})
    for pieces in channels:
        fcurve = bag.fcurves.find(pieces[0].path, index=pieces[0].index)
        channel = pieces[0].path, pieces[0].index
        table = some_keys(read_keys(fcurve), slice(None)) if fcurve is not None else blank_keys(0)
        table = some_keys(table, table["type"][:, 0] != KEY_GENERATED)
        inside, nearest = _touched(table["co"][:, 0], pieces)
        for known, which in ((found, inside), (beside, nearest)):
            own = some_keys(table, which)
            known[channel] = _united(known[channel], own) if channel in known else own
    armature.twobone.replaced_keys = _packed(_Noted(action, found, beside))


def _touched(frames: Array, pieces: Sequence[ChannelKeys]) -> tuple[Mask, Mask]:
    """Which keys at `frames` `(K,)` are within a piece, and which are next to where it is held, a frame beside it."""
    inside, nearest = np.zeros((2, len(frames)), dtype=bool)
    for piece in pieces:
        start, end = piece.frames[0] - NEAR_FRAME, piece.frames[-1] + NEAR_FRAME
        inside |= (frames >= start) & (frames <= end)
        first, last = np.searchsorted(frames, start - 1.0), np.searchsorted(frames, end + 1.0)
        nearest[max(first - 1, 0) : last + 1] = True
    return inside, nearest & ~inside


def replaced_paths(armature: Object) -> set[str]:
    """Data paths of all channels with keys that were replaced in the present action."""
    data = armature.animation_data
    noted = _noted(armature)
    is_present = data is not None and data.action is not None and data.action.name == noted.action
    return {path for path, _ in noted.keys} if is_present else set()


def put_back(armature: Object, bag: CurveBag, paths: Collection[str], start: float, end: float) -> None:
    """Put the keys back that were replaced on the data paths from `start` to `end`, where none are now."""
    if not set(paths) & replaced_paths(armature):
        return
    remove_held_keys(bag, paths, start, end)
    noted = _noted(armature)
    left = {}
    for (path, index), table in noted.keys.items():
        wanted = are_within(table["co"][:, 0], start, end) & (path in paths)
        if wanted.any():
            _restore(bag, path, index, some_keys(table, wanted))
        if path in paths and wanted.all():
            _put_back_handles(bag.fcurves.find(path, index=index), noted.beside[path, index])
        else:
            left[path, index] = some_keys(table, ~wanted)
    beside = {channel: noted.beside[channel] for channel in left}
    armature.twobone.replaced_keys = _packed(_Noted(noted.action, left, beside)) if left else ""


@contextmanager
def taken_back(armature: Object, paths: Collection[str], start: float, end: float) -> Iterator[None]:
    """Keys on the data paths from `start` to `end` are as before they were replaced; if the block ends early, as they were."""
    noted = armature.twobone.replaced_keys
    baked = {
        (fcurve.data_path, fcurve.array_index): (fcurve.group.name if fcurve.group else "", read_keys(fcurve))
        for fcurve in _fcurves(armature, paths)
    }
    bag, is_done = ensure_curve_bag(armature), False
    try:
        remove_baked_keys(bag, paths, start, end)
        put_back(armature, bag, paths, start, end)
        yield
        is_done = True
    finally:
        if not is_done:
            for fcurve in _fcurves(armature, paths):
                if (fcurve.data_path, fcurve.array_index) not in baked:
                    remove_curve(bag, fcurve)
            for (path, index), (group, table) in baked.items():
                replace_keys(bag.fcurves.find(path, index=index) or new_fcurve(bag, path, index, group), table)
            armature.twobone.replaced_keys = noted
            write_animated_values()


def _fcurves(armature: Object, paths: Collection[str]) -> list[FCurve]:
    bag = curve_bag(armature)
    return [fcurve for fcurve in bag.fcurves if fcurve.data_path in paths] if bag else []


def _restore(bag: CurveBag, path: str, index: int, table: KeyTable) -> None:
    group = path.split('"')[1] if '"' in path else ""
    fcurve = bag.fcurves.find(path, index=index) or new_fcurve(bag, path, index, group)
    replace_keys(fcurve, _united(read_keys(fcurve), table))


def _put_back_handles(fcurve: FCurve | None, table: KeyTable) -> None:
    """Give the keys of a curve that are where those of the table were the handles that these had."""
    if fcurve is None:
        return
    now = read_keys(fcurve)
    rows, same = np.nonzero((np.abs(now["co"][:, None] - table["co"]) <= (NEAR_FRAME, 0.0)).all(axis=2))
    for name in HANDLING:
        now[name][rows] = table[name][same]
        fcurve.keyframe_points.foreach_set(name, now[name].ravel())


def _united(first: KeyTable, second: KeyTable) -> KeyTable:
    """The keys of both, in order; where both have one, that of the first."""
    known = first["co"][:, 0]
    is_new = np.abs(second["co"][:, :1] - known).min(axis=1, initial=np.inf) > NEAR_FRAME
    merged = joined_keys(first, some_keys(second, is_new))
    return some_keys(merged, np.argsort(merged["co"][:, 0], kind="stable"))


def _packed(noted: _Noted) -> str:
    file = io.BytesIO()
    arrays = {"names": np.array(json.dumps([noted.action, list(noted.keys)]))}
    for number, channel in enumerate(noted.keys):
        arrays |= {f"{number}_{name}": values for name, values in noted.keys[channel].items()}
        arrays |= {f"{number}_beside_{name}": values for name, values in noted.beside[channel].items()}
    np.savez_compressed(file, **arrays)
    return base64.b85encode(file.getvalue()).decode()


def _noted(armature: Object) -> _Noted:
    """What was noted; nothing where that is nothing, or nothing legible."""
    text = armature.twobone.replaced_keys
    if not text:
        return _Noted()
    try:
        with np.load(io.BytesIO(base64.b85decode(text)), allow_pickle=False) as file:
            action, names = json.loads(str(file["names"]))
            channels = [(path, index) for path, index in names]
            keys, beside = (
                {channel: {name: file[f"{number}_{kind}{name}"] for name in WIDTHS} for number, channel in enumerate(channels)}
                for kind in ("", "beside_")
            )
    except (ValueError, KeyError, binascii.Error, zipfile.BadZipFile):
        return _Noted()
    return _Noted(action, keys, beside)
