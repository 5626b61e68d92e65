"""Rotation keys of one mode turned into those of another, without a visible change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.array_types import Array, Indices
from ...core.curves.frames import NEAR_FRAME, merge_frames, subframe_grid
from ...core.curves.reduction import reduce_keys
from ...core.rig.bones import RestBone
from ...core.rig.channels import Matrices, channel_rotations, from_eulers
from ...pipeline.keys.reducing import reduced_channel
from ...pipeline.pose.curve_values import RotationCurves, Surroundings, rotation_curves
from ...scene.blender_types import Object
from ...scene.keys.rotation_channels import RotationChannels, euler_path, read_rotation_channels
from ...scene.keys.tables import INTERPOLATION, KEY_PLAIN, read_keys
from ...scene.keys.writing import ChannelKeys

KEPT = 1e-4
"""Radians by which a converted rotation may differ from what it was, between keys: a tenth of a millimetre at a metre."""

SAMPLES_PER_FRAME = 4
"""Of the motion that is converted."""

ANYWHERE = Surroundings(None, None)
"""Nothing outside to join."""


@dataclass(frozen=True, slots=True)
class Converted:
    """The rotation of one bone in another mode."""

    paths: tuple[str, str]
    """Data paths of the old and of the new rotation property."""
    value: Array
    """`(3,)` Euler angles of the present pose."""
    keys: list[ChannelKeys]
    """Empty where the rotation is not keyed."""
    types: Array
    """`(K,)` key type of each key: what a key there was before, plain for those added."""


def converted(armature: Object, bone: RestBone, mode: str, turn: Array) -> Converted:
    """The rotation of a bone in Euler angles of order `mode`, with its own axes turned by `turn` `(3, 3)`.

    Keys stand where there were keys, and where it takes more to keep the motion between them.
    """
    channels = read_rotation_channels(armature, bone)
    paths = (channels.path, euler_path(bone))
    present = _as_eulers(bone, mode, turn, np.array([channels.values]))
    still = np.zeros(3)
    still[list(present.indices)] = present.values[0]
    if not any(len(fcurve.keyframe_points) for fcurve in channels.curves.values()):
        return Converted(paths, still, [], np.empty(0, dtype=np.int32))
    tables = [read_keys(fcurve) for fcurve in channels.curves.values()]
    frames = merge_frames(*(table["co"][:, 0] for table in tables))
    stepped = all(np.all(table["interpolation"] == INTERPOLATION["CONSTANT"]) for table in tables)
    source = _Source(bone, mode, turn, channels)
    if stepped or len(frames) == 1:
        keys = _key_by_key(source, frames, "CONSTANT" if stepped else "LINEAR")
    else:
        keys = _reduced(source, frames)
    return Converted(paths, still, keys, _key_types(tables, keys[0].frames))


@dataclass(frozen=True, slots=True)
class _Source:
    """What is converted, and into what."""

    bone: RestBone
    mode: str
    turn: Array
    channels: RotationChannels

    @property
    def group(self) -> str:
        """The group that the present curves are in."""
        return next((fcurve.group.name for fcurve in self.channels.curves.values() if fcurve.group), self.bone.name)

    def curves(self, frames: Array) -> RotationCurves:
        """The new channels at frames `(F,)`."""
        values = np.tile(np.array(self.channels.values, dtype=float), (len(frames), 1))
        for index, fcurve in self.channels.curves.items():
            values[:, index] = [fcurve.evaluate(frame) for frame in frames]
        return _as_eulers(self.bone, self.mode, self.turn, values)


def _as_eulers(bone: RestBone, mode: str, turn: Array, values: Array) -> RotationCurves:
    """The Euler channels that give the rotations of `values` `(F, 4)`; one where they all are about one axis."""
    rotation = turn.T @ channel_rotations(bone.rotation_mode, values) @ turn
    return rotation_curves(mode, rotation=Matrices(rotation), present=np.zeros((len(values), 4)), outside=ANYWHERE)


def _key_by_key(source: _Source, frames: Array, interpolation: str) -> list[ChannelKeys]:
    curves = source.curves(frames)
    return [
        ChannelKeys(euler_path(source.bone), index, source.group, frames, curves.values[:, column], interpolation)
        for column, index in enumerate(curves.indices)
    ]


def _reduced(source: _Source, frames: Array) -> list[ChannelKeys]:
    """Keys at `frames` `(K,)`, and wherever else it takes one."""
    first, last = frames[0], frames[-1]
    whole = merge_frames(frames, np.arange(np.ceil(first), np.floor(last) + 1.0))
    times = subframe_grid(whole, SAMPLES_PER_FRAME)
    curves = source.curves(times)
    own = _matrices(source.mode, curves, curves.values)

    def drift(tried: Array, indices: Indices) -> Array:
        # The difference of two rotations by an angle a has the Frobenius norm sqrt(8) sin(a / 2).
        away = _matrices(source.mode, curves, tried) - own[indices]
        return np.sqrt(0.5 * np.sum(away * away, axis=(-1, -2)))

    found = reduce_keys(times, curves.values, drift, KEPT, key_frames=whole, required=frames)
    path = euler_path(source.bone)
    return [reduced_channel(found, column, path, index, source.group) for column, index in enumerate(curves.indices)]


def _matrices(mode: str, curves: RotationCurves, values: Array) -> Array:
    eulers = np.zeros((len(values), 3))
    eulers[:, list(curves.indices)] = values
    return from_eulers(eulers, mode)


def _key_types(tables: list[dict[str, Array]], frames: Array) -> Array:
    types = np.full(len(frames), KEY_PLAIN, dtype=np.int32)
    for table in tables:
        for frame, kind in zip(table["co"][:, 0], table["type"][:, 0], strict=True):
            types[np.abs(frames - frame) <= NEAR_FRAME] = kind
    return types
