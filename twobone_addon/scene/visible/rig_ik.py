"""A rig's own IK: the constraint that a control steers, and the bones that visibly follow it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...core.array_types import Array
from ...core.rig.bones import RestBone
from ..blender_types import Constraint, Object, PoseBone
from ..bones import ChainNames, constraint_path, read_rest_bone
from ..graph.rig_graph import Node, RigGraph
from ..rig.constraints import LINKS, is_acting, reads_bone, turned_bones
from ..versions import is_hidden

BESIDE = 0.02
"""Distance between the joints of two chains at rest, relative to the limb's length, within which they are one limb."""

COPYING = {"COPY_TRANSFORMS", "COPY_ROTATION", "COPY_LOCATION", "ARMATURE", "CHILD_OF"}
"""Constraints by which a bone copies another one."""


@dataclass(frozen=True, slots=True)
class RigIk:
    """An IK constraint over two links, with its effector, target and pole."""

    armature: str
    bone: str
    """Bone that carries the constraint."""
    constraint: str
    upper: RestBone
    lower: RestBone
    effector: Array
    """`(3,)` point that is brought to the target, in the lower bone's own space."""
    target: Node
    pole: Node | None
    """Pole target, which the constraint points the middle joint at; `None` without one."""
    stretches: bool
    """Whether it may change the bones' lengths."""

    @property
    def path(self) -> str:
        """Data path of the constraint."""
        return constraint_path(self.bone, self.constraint)


class RigReader:
    """Reads an armature's IK of the limb of a chain."""

    def __init__(self, armature: Object, names: ChainNames) -> None:
        """Take the armature and the chain that says which limb is meant."""
        self._armature = armature
        self._names = names
        self._finder = RigGraph()

    def depends(self, node: Node, on: Node) -> bool:
        """Whether an object or bone depends on another one, or is the same."""
        return on in self._finder.above([node]).nodes

    def steered_by(self, control: Node | None) -> RigIk | None:
        """The IK of the limb whose target depends on the control, or any IK of the limb; `None` where there is none."""
        controls = [
            (carrier, constraint)
            for carrier, constraint in self._limb_constraints()
            if control is None or self.depends(_target_of(constraint), control)
        ]
        # If there are several, such as one with and one without pole, the one that acts counts.
        controls.sort(key=lambda pair: (not is_acting(pair[1]), pair[1].pole_target is None))
        return self._read(*controls[0]) if controls else None

    def shown(self, bone: str, control: Node) -> str:
        """Name of the bone that shows a chain's bone on IK: itself, or a copy that depends on the control; else empty."""
        if self.depends((self._armature.name, bone), control):
            return bone
        for pose_bone in self._armature.pose.bones:
            copying = (constraint for constraint in pose_bone.constraints if constraint.type in COPYING)
            copies = any(reads_bone(constraint, self._armature, bone) for constraint in copying)
            if copies and self.depends((self._armature.name, pose_bone.name), control):
                return pose_bone.name
        return ""

    def main_control(self, ik: RigIk) -> str:
        """Name of the bone that an animator moves to move only this IK's target: the one nearest to it at rest.

        Empty where there is none, such as where the target is an object.
        """
        if ik.target[0] != self._armature.name or not ik.target[1]:
            return ""
        others = [node for node in self._other_targets() if not self.depends(node, ik.target)]
        above, base = (self._armature.pose.bones[name] for name in (self._names.upper, ik.upper.name))
        parents = [(self._armature.name, above.parent.name)] if above.parent else []
        limbs = {(self._armature.name, bone.name) for bone in (base, *base.parent_recursive)}
        carrying = limbs | self._finder.above([*others, *parents]).nodes
        target = self._armature.pose.bones[ik.target[1]]
        free = [
            bone
            for bone in (target, *target.parent_recursive)
            if (self._armature.name, bone.name) not in carrying
            and not (all(bone.lock_location) or is_hidden(bone) or (bone.parent is not None and bone.bone.use_connect))
        ]
        # Rounded, as single precision tells apart what is in one place. Of several there, the highest in the hierarchy carries
        # the others, such as a foot roll.
        nearest = min(
            reversed(free), key=lambda bone: round((bone.bone.head_local - target.bone.head_local).length, 5), default=None
        )
        return nearest.name if nearest else ""

    def may_follow_ik(self) -> bool:
        """Whether a limb that follows its chain now has IK with a control that it could follow instead."""
        ik = self.steered_by(None)
        if ik is None or not self.main_control(ik):
            return False
        constraint = self._armature.pose.bones[ik.bone].constraints[ik.constraint]
        if ik.lower.name == self._names.lower:
            return not is_acting(constraint)
        return self.shown(self._names.lower, ik.target) != ""

    def _other_targets(self) -> set[Node]:
        """Targets of other limbs' IK; a paw has more than one IK over its two bones."""
        constraints = (constraint for carrier in self._armature.pose.bones for constraint in carrier.constraints)
        targets = {
            _target_of(constraint) for constraint in constraints if constraint.type == "IK" and constraint.target is not None
        }
        return targets - {_target_of(constraint) for _, constraint in self._limb_constraints()}

    def _limb_constraints(self) -> Iterator[tuple[PoseBone, Constraint]]:
        bones = self._armature.data.bones
        root, mid = bones[self._names.upper].head_local, bones[self._names.lower].head_local
        near = BESIDE * ((mid - root).length + bones[self._names.lower].length)
        for carrier in self._armature.pose.bones:
            for constraint in carrier.constraints:
                if constraint.type != "IK" or constraint.target is None:
                    continue
                turned = turned_bones(constraint, carrier)
                if len(turned) != LINKS:
                    continue
                ends = turned[1].bone.head_local - root, turned[0].bone.head_local - mid
                if all(offset.length <= near for offset in ends):
                    yield carrier, constraint

    def _read(self, carrier: PoseBone, constraint: Constraint) -> RigIk:
        lower, upper = turned_bones(constraint, carrier)
        rest = read_rest_bone(lower)
        end = carrier.bone.tail_local if constraint.use_tail else carrier.bone.head_local
        bones = (upper, lower)
        pole = constraint.pole_target
        return RigIk(
            armature=self._armature.name,
            bone=carrier.name,
            constraint=constraint.name,
            upper=read_rest_bone(upper),
            lower=rest,
            effector=(np.linalg.inv(rest.rest) @ [*end, 1.0])[:3],
            target=_target_of(constraint),
            pole=None if pole is None else (pole.name, constraint.pole_subtarget if pole.type == "ARMATURE" else ""),
            stretches=constraint.use_stretch and any(bone.ik_stretch > 0.0 for bone in bones),
        )


def _target_of(constraint: Constraint) -> Node:
    target = constraint.target
    return target.name, constraint.subtarget if target.type == "ARMATURE" else ""
