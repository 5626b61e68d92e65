"""Make the hinges of a chain single rotation channels, so that a bake writes one curve per joint.

An act of its own, never part of a bake: it changes rotation modes and, if asked, rolls. What is seen stays: poses are
carried over, and rotation keys are converted, with as many more keys as it takes to keep the motion between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...errors import ChainError
from ...rig.bones import RestBone
from ...rig.hinge_axes import ORDERS, Y_AXIS, roll_to_axis, rolled
from ...scene.blender_types import Object, Scene
from ...scene.keys.guarding import refuse_unconvertible
from ...scene.keys.rotation_channels import euler_path, read_rotation_channels, set_rotation_mode
from ...scene.rig.rolling import change_rolls, refuse_unrollable
from ...scene.walk.restoring import edits_kept
from ...settings import BakeSettings
from .hinges import FOUR_CHANNELS, Hinge, chain_hinges, degrees_off
from .mode_conversion import Converted, converted
from .moving_plane import ON_AXIS


@dataclass(frozen=True, slots=True)
class Aligned:
    """What was done to the hinges of one chain."""

    changed: tuple[str, ...]
    """Bones that turn by one channel now, and did not before."""
    left: tuple[str, ...]
    """One sentence for each bone that does not."""


@dataclass(frozen=True, slots=True)
class _Change:
    """What one bone needs."""

    bone: RestBone
    mode: str
    roll: float
    rotation: Converted


def align_hinges(scene: Scene, settings: BakeSettings, active: Object | None = None, *, roll: bool = False) -> Aligned:
    """Set the rotation mode of each bone of a chain that is a hinge, and with `roll` its roll, so that it is one channel.

    The mode is an Euler order that applies the hinge last. Bones that are so already are not touched. Raises a
    `TwoBoneError` before anything is changed: where no bone can be aligned, or where what is seen could not be kept.
    """
    armature, hinges = chain_hinges(settings, active)
    changes, left = [], []
    for hinge in hinges:
        why = _why_not(hinge, roll=roll)
        if why:
            left.append(f'Bone "{hinge.bone.name}" is left unchanged: {why}.')
        else:
            changes.extend(_changes(armature, hinge))
    if len(left) == len(hinges):
        raise ChainError(" ".join(left))
    rolls = {change.bone.name: change.roll for change in changes if change.roll}
    for name in rolls:
        refuse_unrollable(armature, name)
    _apply(scene, armature, changes, rolls)
    return Aligned(tuple(change.bone.name for change in changes), tuple(left))


def _why_not(hinge: Hinge, *, roll: bool) -> str:
    """Why a bone's hinge cannot be one of its axes, as the end of a sentence; empty where it can."""
    if hinge.axis is None:
        return hinge.reason
    if hinge.channel is not None:
        return ""
    if abs(hinge.axis @ Y_AXIS) > ON_AXIS:
        lean = np.degrees(np.arcsin(min(abs(hinge.axis @ Y_AXIS), 1.0)))
        return f"its hinge is {lean:.2g} degrees from being square to it, so no roll makes it one of its axes"
    return "" if roll else f"its hinge is {degrees_off(hinge.axis):.2g} degrees off its nearest axis; allow its roll to change"


def _changes(armature: Object, hinge: Hinge) -> Iterator[_Change]:
    """The change that a bone needs, if it needs one."""
    bone = hinge.bone
    change = 0.0 if hinge.channel is not None or hinge.axis is None else roll_to_axis(hinge.axis)
    channel = _rolled_hinge(hinge, change)
    channels = read_rotation_channels(armature, bone)
    is_euler = bone.rotation_mode not in FOUR_CHANNELS
    applied_last = is_euler and bone.rotation_mode[-1] == "XYZ"[channel]
    if not change and is_euler and (applied_last or not channels.turns_beside(channel)):
        return
    refuse_unconvertible(armature, [channels.path, euler_path(bone)], bone.name)
    mode = bone.rotation_mode if applied_last else ORDERS[channel]
    yield _Change(bone, mode, change, converted(armature, bone, mode, rolled(change)))


def _rolled_hinge(hinge: Hinge, change: float) -> int:
    return int(np.argmax(np.abs(rolled(change).T @ hinge.axis)))


def _apply(scene: Scene, armature: Object, changes: list[_Change], rolls: dict[str, float]) -> None:
    if not changes:
        return
    paths = {(armature, path) for change in changes for path in change.rotation.paths}
    with edits_kept(scene, [armature], paths):
        if rolls:
            change_rolls(armature, rolls)
        for change in changes:
            rotation = change.rotation
            set_rotation_mode(
                armature,
                change.bone.name,
                change.mode,
                value=rotation.value,
                keys=rotation.keys,
                types=rotation.types,
                paths=rotation.paths,
            )
