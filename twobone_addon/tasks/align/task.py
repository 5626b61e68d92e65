"""Align Hinges: make the hinges of a chain single rotation channels, so that a bake writes one curve per joint.

This is never part of a bake, because it changes rotation modes and, on request, rolls. The visible motion is preserved: poses
and rotation keys are converted, with additional keys where the motion between keys needs them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...core.rig.bones import RestBone
from ...core.rig.hinges import ORDERS, Y_AXIS, roll_to_axis, rolled
from ...errors import ChainError
from ...pipeline.report.reports import Report
from ...pipeline.story import Story, Task, Write
from ...said import Sentence, joined, note
from ...scene.actions import OwnAction
from ...scene.blender_types import Object, Scene
from ...scene.keys.guarding import refuse_unconvertible
from ...scene.keys.rotation_channels import euler_path, read_rotation_channels, set_rotation_mode
from ...scene.lookup import object_named
from ...scene.rig.rolling import change_rolls, refuse_unrollable
from ...settings.tasks import TABLES, AlignSettings
from .hinges import FOUR_CHANNELS, ON_AXIS, ConvertedRotation, Hinge, chain_hinges, converted, degrees_off


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignReport(Report):
    """Report of the aligned hinges of chains."""

    armatures: list[str]
    changed: list[str]
    """Bones that now need only one channel, and needed more before. `notes` say why others still need more."""

    @property
    def is_changed(self) -> bool:
        """Whether any bone was changed."""
        return bool(self.changed)

    @property
    def summary(self) -> Sentence:
        """Summary of which bones were aligned."""
        if not self.changed:
            return Sentence("All hinges are aligned already.")
        return Sentence("Hinges aligned: {bones}.", {"bones": ", ".join(self.changed)})


@dataclass(frozen=True, slots=True)
class BoneChange:
    """The changes to one bone."""

    bone: RestBone
    mode: str
    """New rotation mode."""
    roll: float
    """Change of its roll, radians."""
    rotation: ConvertedRotation


def align_hinges(_scene: Scene, settings: AlignSettings, active: Object | None, _own: OwnAction | None) -> Story[AlignReport]:
    """Set the rotation mode, and on request the roll, of each hinge bone of chains, so that the hinge is one channel.

    The mode is an Euler order that applies the hinge last. Bones that are aligned already are not touched. Refused where no
    bone can be aligned, or where the visible motion could not be preserved.
    """
    changes: dict[str, dict[str, BoneChange]] = {}
    left: dict[Sentence, None] = {}
    is_any_hinge = False
    for chain in settings.chains:
        armature, hinges = chain_hinges(chain, active)
        # Two chains may share bones.
        by_bone = changes.setdefault(armature.name, {})
        for hinge in hinges:
            why = _why_not(hinge, roll=settings.roll)
            if why:
                left[note('Bone "{bone}" is left unchanged: {reason}.', bone=hinge.bone.name, reason=why)] = None
                continue
            is_any_hinge = True
            if hinge.bone.name not in by_bone:
                by_bone |= {change.bone.name: change for change in _changes(armature, hinge)}
                if by_bone.get(hinge.bone.name) and by_bone[hinge.bone.name].roll:
                    refuse_unrollable(armature, hinge.bone.name)
    if not is_any_hinge:
        raise ChainError(joined(left))

    changed = [(object_named(name), change) for name, by_bone in changes.items() for change in by_bone.values()]
    paths = [(armature, path) for armature, change in changed for path in change.rotation.paths]
    bones = [change.bone.name for _, change in changed]
    report = AlignReport(armatures=list(changes), changed=bones, notes=list(left))
    yield Write([], lambda: report, lambda: paths, partial(_change_bones, changes))
    return report


def _change_bones(changes: Mapping[str, Mapping[str, BoneChange]]) -> None:
    """Change rolls first, then rotation modes with their keys; `changes` are those of each bone of each armature, by name."""
    for name, by_bone in changes.items():
        armature, rolls = object_named(name), {bone: change.roll for bone, change in by_bone.items() if change.roll}
        if rolls:
            change_rolls(armature, rolls)
        for bone, change in by_bone.items():
            rotation = change.rotation
            own = {"value": rotation.value, "keys": rotation.keys, "types": rotation.types, "paths": rotation.paths}
            set_rotation_mode(armature, bone, change.mode, **own)


def _why_not(hinge: Hinge, *, roll: bool) -> Sentence | None:
    """Why a bone's hinge cannot be made one of its axes, as the end of a sentence; `None` where it can."""
    if hinge.axis is None:
        return hinge.reason
    if hinge.channel is not None:
        return None
    if abs(hinge.axis @ Y_AXIS) > ON_AXIS:
        lean = np.degrees(np.arcsin(min(abs(hinge.axis @ Y_AXIS), 1.0)))
        return Sentence("its hinge is {angle:.2g} degrees off perpendicular; no roll can align it", {"angle": float(lean)})
    angle = {"angle": degrees_off(hinge.axis)}
    return None if roll else Sentence("its hinge is {angle:.2g} degrees off its nearest axis; allow its roll to change", angle)


def _changes(armature: Object, hinge: Hinge) -> Iterator[BoneChange]:
    """Yield the change that a bone needs, if it needs one."""
    bone = hinge.bone
    change = 0.0 if hinge.channel is not None or hinge.axis is None else roll_to_axis(hinge.axis)
    channel = int(np.argmax(np.abs(rolled(change).T @ hinge.axis)))
    channels = read_rotation_channels(armature, bone)
    is_euler = bone.rotation_mode not in FOUR_CHANNELS
    applied_last = is_euler and bone.rotation_mode[-1] == "XYZ"[channel]
    if not change and is_euler and (applied_last or not channels.turns_beside(channel)):
        return
    refuse_unconvertible(armature, [channels.path, euler_path(bone)], bone.name)
    mode = bone.rotation_mode if applied_last else ORDERS[channel]
    yield BoneChange(bone, mode, change, converted(armature, bone, mode, rolled(change)))


ALIGN = Task("align", TABLES["align"], align_hinges, AlignReport)
