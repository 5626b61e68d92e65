"""What versions before 4.0 noted of the keys that their runs wrote and replaced, as the records of today."""

from __future__ import annotations

import base64
import binascii
import io
import json
import math
import struct
import zipfile
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...records import replace
from ..blender_types import Channel, CurveBag, FCurve, Object
from ..restoring import present_values
from .replaced import (
    FOUND,
    NOTHING_WRITTEN,
    WITH_FEET,
    Kept,
    Layer,
    as_earlier,
    at_frames,
    joined,
    limb_name,
    rows_at,
    written_keys,
)
from .tables import KEY_GENERATED, KEY_PLAIN, NO_KEYS, WIDTHS, read_keys, some_keys

ILLEGIBLE = (
    ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError, EOFError, OSError, RecursionError,
    NotImplementedError, binascii.Error, struct.error, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""Errors from reading records that something else has overwritten; these count as empty, and the next run replaces them.
`MemoryError` is none: with little memory left, legible records would count as empty, and what they hold would be lost."""


def _noted_by_2_0(owner: Object, bag: CurveBag) -> dict[Channel, Kept]:
    """Records for one action of what Plant Feet replaced in files of 2.0.0, which stored them on the armature."""
    text = owner.twobone.replaced_keys if owner.id_type == "OBJECT" else ""
    if not text:
        return {}
    try:
        with np.load(io.BytesIO(base64.b85decode(text)), allow_pickle=False) as file:
            action, names = json.loads(str(file["names"]))
            if action != bag.id_data.name:
                return {}
            records = {}
            for number, (path, index) in enumerate(names):
                for name in [f"{number}_{kind}{name}" for kind in ("", "beside_") for name in WIDTHS]:
                    with file.zip.open(f"{name}.npy") as member:
                        np.lib.format.read_magic(member)
                        shape, _, dtype = np.lib.format.read_array_header_1_0(member)
                    if math.prod(shape) * dtype.itemsize > file.zip.getinfo(f"{name}.npy").file_size:
                        raise ValueError(path)  # Before memory is taken for what is not there.
                keys, beside = ({name: file[f"{number}_{kind}{name}"] for name in WIDTHS} for kind in ("", "beside_"))
                for table in (keys, beside):
                    if any(table[name].shape != (len(table["co"]), width) for name, width in WIDTHS.items()):
                        raise ValueError(path)
                records[Channel(path, index)] = Kept("plant", ("plant",), "", None, (Layer((), keys, beside),), NOTHING_WRITTEN)
            return records
    except ILLEGIBLE:
        return {}


def known_by_types(bag: CurveBag, channel: Channel, kept: Kept) -> Kept:
    """A record from before 4.0, when types of keys told which of them runs had written."""
    fcurve = bag.fcurves.find(channel.path, index=channel.array_index)
    table = NO_KEYS if fcurve is None else read_keys(fcurve)
    is_known = at_frames(table["co"][:, 0], kept.written.frames)
    unknown = written_keys(some_keys(table, (table["type"][:, 0] == KEY_GENERATED) & ~is_known))
    written = replace(joined(kept.written, as_earlier(unknown)), by_hand=None)
    if {FOUND, WITH_FEET}.intersection(kept.tasks):
        rows, is_there = rows_at(table["co"][:, 0], written.frames)
        written = replace(written, by_hand=is_there & (table["type"][rows, 0] == KEY_PLAIN) if len(table["co"]) else None)
    layers = [
        replace(layer, written=written_keys(some_keys(layer.keys, layer.keys["type"][:, 0] == KEY_GENERATED)))
        for layer in kept.layers[1:]
    ]
    return replace(kept, layers=(kept.layers[0], *layers), written=written)


def add_notes(channels: dict[Channel, Kept], bag: CurveBag, owner: Object) -> None:
    """Add what versions before 4.0 noted on an object: replaced keys, and reports and contacts of stored chains."""
    for channel, kept in _noted_by_2_0(owner, bag).items():
        channels.setdefault(channel, known_by_types(bag, channel, kept))
    has_records = bool(channels)
    for chain in owner.twobone.chains:
        limb = limb_name(owner.name, chain.upper)
        bone = owner.pose.bones.get(chain.tip or chain.lower) if is_of_older_version(chain) else None
        while bone is not None:
            prefixes = tuple(f"{bone.path_from_id()}.{channel}" for channel in ("rotation", "scale"))
            add_marked(channels, "", limb, [fcurve for fcurve in bag.fcurves if fcurve.data_path.startswith(prefixes)], owner)
            bone = bone.parent if bone.name != chain.upper else None
        contact = bag.fcurves.find(chain.path_from_id("contact")) if chain.found_contacts and not has_records else None
        add_marked(channels, FOUND, limb, [contact] if contact is not None else [], owner)


def add_marked(
    channels: dict[Channel, Kept], task: str, limb: str, curves: Iterable[FCurve], owner: Object | None = None
) -> None:
    """Add records of curves that have none, whose keys of the type that runs give were written by a task, `""` for unknown.

    An unknown one's next run starts from its keys, as what was there before is not known.
    """
    for fcurve in curves:
        table, channel = read_keys(fcurve), Channel.of(fcurve)
        marked = some_keys(table, table["type"][:, 0] == KEY_GENERATED)
        if channel in channels or not len(marked["co"]):
            continue
        value = next((edit.value for edit in present_values(owner, [channel])), None) if owner is not None else None
        if owner is not None and channel.path.endswith(".scale"):
            value = own_scale(owner, channel.path)[channel.array_index]
        spans = ((float(marked["co"][0, 0]), float(marked["co"][-1, 0])),)
        channels[channel] = Kept(task, (task,), limb, value, (Layer(spans, NO_KEYS, NO_KEYS),), written_keys(marked))


def is_of_older_version(chain: Any) -> bool:
    """Whether a stored chain has notes of a version before 4.0, which reports without saying theirs."""
    return bool(chain.report) and '"version"' not in chain.report


def own_scale(armature: Object, path: str) -> tuple[float, ...]:
    """Scale of a bone before a bake of 2.0.0 keyed the data path; 1 where it is not known."""
    kept = armature.twobone.own_scales.get(path)
    return (1.0, 1.0, 1.0) if kept is None else tuple(kept.scale)
