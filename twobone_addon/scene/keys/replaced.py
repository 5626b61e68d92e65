"""Keys of somebody else's that were replaced, kept on the armature so that clearing puts them back."""

from __future__ import annotations

import base64
import binascii
import io
import json
import zipfile
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from ..blender_types import CurveBag, Object
from ..versions import new_fcurve
from .tables import KEY_GENERATED, NEAR_FRAME, WIDTHS, KeyTable, blank_keys, joined_keys, put_keys, read_keys, some_keys
from .writing import ChannelKeys

Channel = tuple[str, int]
"""Data path and index."""

NOTHING = "", dict[Channel, KeyTable]()


def note_replaced(armature: Object, bag: CurveBag, channels: Iterable[Sequence[ChannelKeys]]) -> None:
    """Keep the keys that the pieces of channels are about to replace, but for baked ones; those noted before stay noted."""
    action = armature.animation_data.action.name
    known, noted = _noted(armature)
    found = dict(noted) if known == action else {}
    for pieces in channels:
        fcurve = bag.fcurves.find(pieces[0].path, index=pieces[0].index)
        channel = pieces[0].path, pieces[0].index
        table = some_keys(read_keys(fcurve), slice(None)) if fcurve is not None else blank_keys(0)
        frames = table["co"][:, 0]
        inside = np.zeros(len(frames), dtype=bool)
        for piece in pieces:
            inside |= (frames >= piece.frames[0] - NEAR_FRAME) & (frames <= piece.frames[-1] + NEAR_FRAME)
        own = some_keys(table, inside & (table["type"][:, 0] != KEY_GENERATED))
        found[channel] = _united(found[channel], own) if channel in found else own
    armature.twobone.replaced_keys = _packed(action, found)


def replaced_paths(armature: Object) -> set[str]:
    """Data paths of all channels with keys that were replaced in the present action."""
    data = armature.animation_data
    action, noted = _noted(armature)
    is_present = data is not None and data.action is not None and data.action.name == action
    return {path for path, _ in noted} if is_present else set()


def put_back(armature: Object, bag: CurveBag, paths: Collection[str], start: float, end: float) -> None:
    """Put the keys back that were replaced on the data paths from `start` to `end`, where none are now."""
    if not set(paths) & replaced_paths(armature):
        return
    action, noted = _noted(armature)
    left = {}
    for (path, index), table in noted.items():
        frames = table["co"][:, 0]
        wanted = (frames >= start - NEAR_FRAME) & (frames <= end + NEAR_FRAME) & (path in paths)
        if wanted.any():
            _restore(bag, path, index, some_keys(table, wanted))
        if not wanted.all():
            left[path, index] = some_keys(table, ~wanted)
    armature.twobone.replaced_keys = _packed(action, left) if left else ""


def _restore(bag: CurveBag, path: str, index: int, table: KeyTable) -> None:
    group = path.split('"')[1] if '"' in path else ""
    fcurve = bag.fcurves.find(path, index=index) or new_fcurve(bag, path, index, group)
    merged = _united(read_keys(fcurve), table)
    fcurve.keyframe_points.clear()
    put_keys(fcurve, merged)
    fcurve.update()
    for name in ("handle_left", "handle_right"):
        fcurve.keyframe_points.foreach_set(name, merged[name].ravel())


def _united(first: KeyTable, second: KeyTable) -> KeyTable:
    """The keys of both, in order; where both have one, that of the first."""
    known = first["co"][:, 0]
    is_new = np.abs(second["co"][:, :1] - known).min(axis=1, initial=np.inf) > NEAR_FRAME
    merged = joined_keys(first, some_keys(second, is_new))
    return some_keys(merged, np.argsort(merged["co"][:, 0], kind="stable"))


def _packed(action: str, channels: dict[Channel, KeyTable]) -> str:
    file = io.BytesIO()
    names = np.array(json.dumps([action, list(channels)]))
    arrays = {f"{number}_{name}": values for number, table in enumerate(channels.values()) for name, values in table.items()}
    np.savez_compressed(file, names=names, **arrays)
    return base64.b85encode(file.getvalue()).decode()


def _noted(armature: Object) -> tuple[str, dict[Channel, KeyTable]]:
    """The action that is meant, and the keys of each channel; nothing where nothing was noted, or nothing legible."""
    text = armature.twobone.replaced_keys
    if not text:
        return NOTHING
    try:
        with np.load(io.BytesIO(base64.b85decode(text)), allow_pickle=False) as file:
            action, channels = json.loads(str(file["names"]))
            tables = [{name: file[f"{number}_{name}"] for name in WIDTHS} for number in range(len(channels))]
    except (ValueError, KeyError, binascii.Error, zipfile.BadZipFile):
        return NOTHING
    return action, {(path, index): table for (path, index), table in zip(channels, tables, strict=True)}
