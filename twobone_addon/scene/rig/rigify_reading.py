"""Limbs of a rig that Rigify generated: the FK controls that pose them, and the switch between IK and FK.

Each bone of such a limb (`ORG-thigh.L` ...) copies its FK control and, on top of that, the IK, with an influence that a
property of the limb drives. So the drivers tell which controls belong together, whatever their names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import bpy

from ..blender_types import Object, PoseBone

SWITCH = "IK_FK"
"""Name of the switch property: 0 shows IK, 1 shows FK."""

DRIVEN = re.compile(r'pose\.bones\["(?P<bone>.+)"\]\.constraints\["(?P<constraint>.+)"\]\.influence')
DRIVING = re.compile(rf'pose\.bones\["(?P<bone>.+)"\]\["{SWITCH}"\]')

SIDES = 2
"""Number of bones that a limb's bone copies: FK and IK."""

FEWEST = 3
"""Minimum number of bones of a limb: upper, lower and end."""


@dataclass(frozen=True, slots=True)
class RigifyLimb:
    """One limb, its bones from root to end."""

    switch_bone: str
    shown: tuple[str, ...]
    """Bones that show the limb's pose, whether by IK or FK."""
    controls: tuple[str, ...]
    """The FK control of each shown bone."""

    @property
    def switch_path(self) -> str:
        """Data path of the property that switches from IK (0) to FK (1)."""
        return f'pose.bones["{bpy.utils.escape_identifier(self.switch_bone)}"]["{SWITCH}"]'


def is_rigify(armature: Object) -> bool:
    """Whether Rigify generated the armature."""
    return "rig_id" in armature.data


def rigify_limbs(armature: Object) -> list[RigifyLimb]:
    """The limbs of the armature that have both IK and FK controls."""
    pairs: dict[str, list[tuple[PoseBone, PoseBone]]] = {}
    for driver in armature.animation_data.drivers if armature.animation_data else ():
        driven = DRIVEN.fullmatch(driver.data_path)
        switch = _switch_of(driver)
        bone = armature.pose.bones.get(bpy.utils.unescape_identifier(driven["bone"])) if driven else None
        control = _copied(armature, bone, driven["constraint"]) if bone is not None and driven else None
        if switch and bone is not None and control is not None:
            pairs.setdefault(switch, []).append((bone, control))
    limbs = []
    for switch, limb_pairs in pairs.items():
        ordered = sorted(limb_pairs, key=lambda pair: len(pair[0].parent_recursive))
        shown, controls = ([bone.name for bone in column] for column in zip(*ordered, strict=True))
        if len(shown) >= FEWEST and armature.pose.bones[controls[1]].parent.name == controls[0]:
            limbs.append(RigifyLimb(switch, tuple(shown), tuple(controls)))
    return limbs


def ik_control(armature: Object, shown: str) -> PoseBone | None:
    """The bone that a limb's bone copies on IK: the one it copies last; `None` without one in this armature."""
    copying = [constraint for constraint in armature.pose.bones[shown].constraints if constraint.type == "COPY_TRANSFORMS"]
    if len(copying) < SIDES or copying[-1].target != armature:
        return None
    return armature.pose.bones.get(copying[-1].subtarget)


def _switch_of(driver: object) -> str:
    """Name of the bone whose IK/FK property a driver reads; empty where it reads none."""
    for variable in driver.driver.variables:
        match = DRIVING.fullmatch(variable.targets[0].data_path)
        if match:
            return bpy.utils.unescape_identifier(match["bone"])
    return ""


def _copied(armature: Object, bone: PoseBone, driven: str) -> PoseBone | None:
    """The bone that a bone copies by a constraint before the driven one; `None` without one in this armature."""
    # FK is copied first, and IK on top of it, with the influence that is driven.
    for constraint in bone.constraints:
        if constraint.name == bpy.utils.unescape_identifier(driven):
            return None
        if constraint.type == "COPY_TRANSFORMS" and constraint.target == armature:
            return armature.pose.bones.get(constraint.subtarget)
    return None
