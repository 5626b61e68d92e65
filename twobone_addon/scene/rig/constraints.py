"""Constraints: which of them pose a bone, which bones an IK constraint turns, and IK constraints as chains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from ...errors import ChainError
from ..blender_types import Constraint, Object, PoseBone
from ..bones import ChainNames, TwoBoneIk, constraint_path, ik_constraint
from ..graph.rig_graph import inverse_kinematics, turning
from ..keys.reading import is_keyed_to, moving_curves
from ..lookup import read_once, refuse_namesake
from ..versions import curve_bag
from ..writer import assign

LINKS = 2
"""Number of links of a limb."""

Carried = tuple[PoseBone, Constraint]
"""A bone and a constraint that it carries."""


ATTRIBUTE = "two_bone"
"""Attribute in which the helper of a limb that Blender poses for us holds the rotations of its bones."""


def is_live(constraint: Constraint) -> bool:
    """Whether a constraint poses its bone as Live does: from nodes that solve the limb as Bake would."""
    return constraint.type == "GEOMETRY_ATTRIBUTE" and constraint.attribute_name == ATTRIBUTE


def is_acting(constraint: Constraint) -> bool:
    """Whether a constraint has any effect now."""
    return not constraint.mute and constraint.influence > 0.0


def is_constrained(bone: PoseBone) -> bool:
    """Whether constraints of its own, or IK from further down, may pose a bone differently from its channels."""
    return any(not constraint.mute for constraint in (*bone.constraints, *turning(bone)))


def acts_on(bone: PoseBone) -> bool:
    """Whether constraints of its own, or IK from further down, pose a bone now."""
    return any(is_acting(constraint) for constraint in (*bone.constraints, *turning(bone)))


def entries_of(constraint: Constraint) -> Sequence[Any]:
    """What has target and subtarget of a constraint: itself, or, of an Armature constraint, its entries."""
    return constraint.targets if constraint.type == "ARMATURE" else [constraint]


def reads_anything(constraint: Constraint) -> bool:
    """Whether a constraint takes anything from elsewhere: an object, an action, a cache. Limits take nothing."""
    if constraint.type == "ARMATURE":
        return any(entry.target is not None for entry in constraint.targets)
    pointers = (name for name, kind in constraint.bl_rna.properties.items() if kind.type == "POINTER" and name != "rna_type")
    return any(isinstance(getattr(constraint, name), bpy.types.ID) for name in pointers)


def reads_bone(constraint: Constraint, armature: Object, bone: str) -> bool:
    """Whether a bone of an armature is the target of a constraint, or one of several."""
    entries = entries_of(constraint)
    # Limits, for one, have no target.
    return any(getattr(entry, "target", None) == armature and getattr(entry, "subtarget", "") == bone for entry in entries)


def turned_bones(constraint: Constraint, carrier: PoseBone) -> list[PoseBone]:
    """The bones that an IK constraint on `carrier` turns, last one first."""
    above = [carrier, *carrier.parent_recursive]
    # Without `use_tail`, IK begins one bone further up.
    turned = above if constraint.use_tail else above[1:]
    return turned[: constraint.chain_count or len(turned)]


def acting_ik(armature: Object, bone: str = "") -> list[Carried]:
    """The IK constraints of one bone, or of all, that are neither muted nor keyed off, each with its bone."""
    carriers = [armature.pose.bones[bone]] if bone else armature.pose.bones
    bag = curve_bag(armature)
    carried = [(carrier, ik) for carrier in carriers for ik in carrier.constraints if ik.type == "IK" and not ik.mute]
    return [
        (carrier, ik)
        for carrier, ik in carried
        if not is_keyed_to(bag, f"{constraint_path(carrier.name, ik.name)}.influence", 0.0)
    ]


def grouped_ik(armature: Object, carried: list[Carried]) -> list[list[Carried]]:
    """The IK constraints `carried`, grouped by the bones they turn, each group with the armature's other IK on the same bones.

    Those come first, then those with an effect now: of several on one bone Blender obeys the first that has any.
    """
    groups: dict[tuple[str, ...], list[Carried]] = {}
    for carrier, ik in acting_ik(armature):
        groups.setdefault(_turned_names(carrier, ik), []).append((carrier, ik))
    turned = dict.fromkeys(_turned_names(*pair) for pair in carried)

    def rank(pair: Carried) -> tuple[bool, bool]:
        return pair not in carried, pair[1].target is None or pair[1].influence <= 0.0

    return [sorted(groups[names], key=rank) for names in turned]


def _turned_names(carrier: PoseBone, ik: Constraint) -> tuple[str, ...]:
    return tuple(bone.name for bone in turned_bones(ik, carrier))


def has_other_constraints(bone: PoseBone) -> bool:
    """Whether constraints of a bone's own, other than IK, may pose it."""
    return any(not constraint.mute and constraint.type != "IK" for constraint in bone.constraints)


def read_ik(carrier: PoseBone, constraint: Constraint) -> TwoBoneIk:
    """The chain of an IK constraint; raises `ChainError` unless it has two links and a target."""
    armature = carrier.id_data
    who = ik_constraint(constraint.name, carrier.name)
    turned = turned_bones(constraint, carrier)
    if len(turned) != LINKS:
        raise ChainError(
            "{constraint} has a chain of {count}, but only two-bone IK can be converted exactly. Set its Chain Length to 2, or "
            "use Blender's Bake Action with Visual Keying.",
            constraint=who,
            count=len(turned),
        )
    if constraint.target is None:
        raise ChainError("{constraint} has no target. Give it one, or remove it.", constraint=who)
    refuse_namesake(constraint.target)
    lower, upper = turned
    names = ChainNames(armature.name, upper.name, lower.name, carrier.name, tip_at_tail=constraint.use_tail)
    target_bone = constraint.subtarget if constraint.target.type == "ARMATURE" else ""
    limb = TwoBoneIk(names, carrier.name, constraint.name, constraint.target.name, target_bone)
    if moving_curves(armature, f"{limb.path}.mute"):
        raise ChainError("{constraint} is muted by animation or a driver. Remove that first.", constraint=who)
    return limb


TURNING_ONLY = {"COPY_ROTATION", "LIMIT_ROTATION", "DAMPED_TRACK", "TRACK_TO", "LOCKED_TRACK", "TRANSFORM", "ACTION"}
"""Constraints that turn a bone, which IK does after them; what else some of them do is proved to stay, or refused."""


def overridden_constraints(armature: Object, names: ChainNames) -> list[TwoBoneIk]:
    """The acting constraints, other than IK of both, that turn the bones of a limb before its IK does."""
    overridden = []
    for name in (names.upper, names.lower):
        bone = armature.pose.bones[name]
        for constraint in bone.constraints:
            is_lesser_ik = constraint.type == "IK" and 0 < len(turned_bones(constraint, bone)) < LINKS
            if is_acting(constraint) and (is_lesser_ik or constraint.type in TURNING_ONLY):
                overridden.append(TwoBoneIk(names, name, constraint.name, "", ""))
    return overridden


def is_turned_by_others(armature: Object, names: ChainNames) -> bool:
    """Whether constraints besides two-bone IK of its own pose any bone of a limb."""
    bones = [armature.pose.bones[name] for name in (names.upper, names.lower)]
    turning = read_once(inverse_kinematics, armature)
    iks = [constraint for bone in bones for constraint in turning.get(bone.name, []) if is_acting(constraint)]
    # Two-bone IK of the limb's own turns both bones, and no others.
    whole = [constraint for constraint in iks if sum(constraint in turning.get(bone.name, []) for bone in bones) == LINKS]
    longer = [constraint for constraint in iks if sum(constraint in turning_bone for turning_bone in turning.values()) != LINKS]
    others = any(is_acting(constraint) and constraint.type != "IK" for bone in bones for constraint in bone.constraints)
    return others or bool(longer) or len(whole) != len(iks)


def mute_path(limb: TwoBoneIk) -> str:
    """Data path of the constraint's mute."""
    return bpy.data.objects[limb.names.armature].pose.bones[limb.bone].constraints[limb.constraint].path_from_id("mute")


def mute(limb: TwoBoneIk) -> None:
    """Mute the constraint."""
    assign(bpy.data.objects[limb.names.armature].pose.bones[limb.bone].constraints[limb.constraint], "mute", value=True)
