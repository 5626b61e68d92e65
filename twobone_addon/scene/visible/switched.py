"""The bones that a limb's switch moves from one side to the other, and the controls that pose them there.

A visible bone need not be a twin of its control: riggers put a helper with the visible bone's rest pose below a control that
lies as an animator likes it. What is constant is the offset from one to the other, which the rig itself tells at rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from mathutils import Matrix

from ...core.array_types import Array
from ...records import replace
from ..blender_types import Constraint, Object, PoseBone
from ..keys.reading import is_animated
from ..rig.constraints import acts_on, turned_bones
from ..versions import is_hidden
from .rig_ik import COPYING
from .switches import Setting, set_value
from .trials import TrialRig, trial
from .visible_bone import TURNS

ONE_PLACE = 0.01
"""Distance between the heads of two bones at rest, relative to the lower one's length, within which they are one joint."""

SWITCHES_OVER = 0.5
"""Change of an influence from which on a constraint counts as switched."""


LEAST = 1e-12
"""Determinant of a pose that counts as none."""


@dataclass(frozen=True, slots=True)
class SwitchedBone:
    """A bone that a switch moves."""

    shown: str
    control: str
    """Bone that an animator poses to pose it on the wanted side; itself where nothing else does."""
    control_from_shown: Array
    """`(4, 4)` pose of the control in the space of the shown bone."""
    is_copy: bool
    """Whether a constraint copies the control; else the bone itself is posed, once the other side lets it go."""

    @property
    def apart(self) -> float:
        """Distance of the two bones' heads at rest."""
        return float(np.linalg.norm(self.control_from_shown[:3, 3]))


def opposite(settings: Sequence[Setting]) -> list[Setting]:
    """The settings that choose the other side."""
    return [replace(setting, value=1.0 - setting.value) for setting in settings]


def switched_bones(armature: Object, settings: Sequence[Setting], sides: Sequence[str] = ()) -> list[SwitchedBone]:
    """The bones that follow something else with these settings than with the opposite ones, in the order of the rig.

    sides : names of bones that carry a limb, above which no control of what hangs on them is looked for
    """
    if not settings:
        return []
    owners = list(dict.fromkeys(setting.owner for setting in settings))
    with trial(armature, owners) as tried:
        for bone in tried.thing.pose.bones:
            bone.matrix_basis = Matrix.Identity(4)
        other = _influences(tried, opposite(settings))
        wanted = _influences(tried, settings)
        names = _moved_names(armature, {key for key, value in wanted.items() if abs(value - other[key]) > SWITCHES_OVER})
        poses = {bone.name: np.array(bone.matrix) for bone in tried.evaluated(tried.thing).pose.bones}
        found = []
        for bone in armature.pose.bones:
            if bone.name in names:
                source = _source(bone, wanted)
                control = bone if source is None else _control_of(source, sides)
                # An armature without size has no offsets; whoever samples it refuses that.
                has_size = np.isfinite(poses[bone.name]).all() and abs(np.linalg.det(poses[bone.name])) > LEAST
                offset = np.linalg.inv(poses[bone.name]) @ poses[control.name] if has_size else np.eye(4)
                found.append(SwitchedBone(bone.name, control.name, offset, is_copy=source is not None))
    return found


def _influences(tried: TrialRig, settings: Sequence[Setting]) -> dict[tuple[str, str], float]:
    """Evaluated influence of every constraint of the copy's bones with some settings; 0 for muted ones."""
    for setting in settings:
        set_value(tried.copies[setting.owner], setting.path, setting.value)
    tried.layer.update()
    bones = tried.evaluated(tried.thing).pose.bones
    return {(bone.name, each.name): 0.0 if each.mute else each.influence for bone in bones for each in bone.constraints}


def _moved_names(armature: Object, switched: set[tuple[str, str]]) -> set[str]:
    """Names of the bones that these constraints pose: their own, or those that an IK turns."""
    names = set()
    for name, constraint_name in switched:
        bone = armature.pose.bones[name]
        constraint = bone.constraints[constraint_name]
        turned = turned_bones(constraint, bone) if constraint.type == "IK" else []
        names |= {each.name for each in turned} if turned else {name}
    return names


def _source(bone: PoseBone, influences: dict[tuple[str, str], float]) -> PoseBone | None:
    """The bone of the same armature that a bone copies with these influences, the last one that counts."""
    for constraint in reversed(list(bone.constraints)):
        if constraint.type in COPYING and influences[bone.name, constraint.name] > SWITCHES_OVER:
            return _copied(bone, constraint)
    return None


def _copied(bone: PoseBone, constraint: Constraint) -> PoseBone | None:
    entries = constraint.targets if constraint.type == "ARMATURE" else [constraint]
    for entry in entries:
        if entry.target == bone.id_data and entry.subtarget in bone.id_data.pose.bones:
            return bone.id_data.pose.bones[entry.subtarget]
    return None


def _control_of(source: PoseBone, sides: Sequence[str]) -> PoseBone:
    """The bone that an animator turns to turn `source`: itself, or, for a helper, the bone at the same joint above it."""
    bone = source
    while bone.parent is not None and bone.name not in sides and not _is_keyed(bone):
        parent = bone.parent
        is_posed = acts_on(parent) and not _is_keyed(parent)
        if not starts_with(bone, parent) or is_posed or is_hidden(parent) or all(parent.lock_rotation):
            break
        bone = parent
    return bone


def starts_with(bone: PoseBone, other: PoseBone) -> bool:
    """Whether two bones begin at the same joint at rest."""
    return (bone.bone.head_local - other.bone.head_local).length <= ONE_PLACE * bone.bone.length


def _is_keyed(bone: PoseBone) -> bool:
    return any(is_animated(bone.id_data, bone.path_from_id(channel)) for channel in TURNS)
