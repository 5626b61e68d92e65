"""Convert rotation keys from one rotation mode to another without visible change."""

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
"""Largest change of a converted rotation between keys, radians: a tenth of a millimetre at a metre."""

SAMPLES_PER_FRAME = 4
"""Samples per frame of the motion that is converted."""

ANYWHERE = Surroundings(None, None)
"""No outside values that the curves must join."""


@dataclass(frozen=True, slots=True)
class Converted:
    """The rotation of one bone in its new mode."""

    paths: tuple[str, str]
    """Data paths of the old and of the new rotation property."""
    value: Array
    """`(3,)` Euler angles of the present pose."""
    keys: list[ChannelKeys]
    """The converted keys; empty where the rotation is not keyed."""
    types: Array
    """`(K,)` key types: those of the keys before, plain for added keys."""


def converted(armature: Object, bone: RestBone, mode: str, turn: Array) -> Converted:
    """Convert a bone's rotation to Euler angles of order `mode`, with the bone's axes rotated by `turn` `(3, 3)`.

    Keys stay at their frames; keys are added where that is needed to preserve the motion between them.
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
    """The rotation channels to convert, and their new mode and axes."""

    bone: RestBone
    mode: str
    turn: Array
    channels: RotationChannels

    @property
    def group(self) -> str:
        """Channel group of the present curves, else the bone's name."""
        return next((fcurve.group.name for fcurve in self.channels.curves.values() if fcurve.group), self.bone.name)

    def curves(self, frames: Array) -> RotationCurves:
        """Values of the new channels at frames `(F,)`."""
        values = np.tile(np.array(self.channels.values, dtype=float), (len(frames), 1))
        for index, fcurve in self.channels.curves.items():
            values[:, index] = [fcurve.evaluate(frame) for frame in frames]
        return _as_eulers(self.bone, self.mode, self.turn, values)


def _as_eulers(bone: RestBone, mode: str, turn: Array, values: Array) -> RotationCurves:
    """Euler channels that give the rotations of `values` `(F, 4)`; a single one where all are about one axis."""
    rotation = turn.T @ channel_rotations(bone.rotation_mode, values) @ turn
    return rotation_curves(mode, rotation=Matrices(rotation), present=np.zeros((len(values), 4)), outside=ANYWHERE)


def _key_by_key(source: _Source, frames: Array, interpolation: str) -> list[ChannelKeys]:
    curves = source.curves(frames)
    return [
        ChannelKeys(euler_path(source.bone), index, source.group, frames, curves.values[:, column], interpolation)
        for column, index in enumerate(curves.indices)
    ]


def _reduced(source: _Source, frames: Array) -> list[ChannelKeys]:
    """Keys at `frames` `(K,)`, and at further frames where these do not preserve the motion."""
    first, last = frames[0], frames[-1]
    candidates = merge_frames(frames, np.arange(np.ceil(first), np.floor(last) + 1.0))
    times = subframe_grid(candidates, SAMPLES_PER_FRAME)
    curves = source.curves(times)
    rotations = _matrices(source.mode, curves, curves.values)

    def drift(tried: Array, indices: Indices) -> Array:
        # The difference of two rotations that are an angle a apart has the Frobenius norm sqrt(8) sin(a / 2).
        difference = _matrices(source.mode, curves, tried) - rotations[indices]
        return np.sqrt(0.5 * np.sum(difference * difference, axis=(-1, -2)))

    found = reduce_keys(times, curves.values, drift, KEPT, key_frames=candidates, required=frames)
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
