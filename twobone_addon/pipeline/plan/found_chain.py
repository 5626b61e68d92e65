"""Find the chain of settings: its bones, and the bone at its tip. Whether it can take keys is checked elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.rig.bones import RestBone, RestChain
from ...errors import ChainError
from ...records import replace
from ...said import Sentence
from ...scene.blender_types import Object, Scene
from ...scene.bones import ChainNames, read_rest_bone
from ...scene.graph.rig_graph import Node
from ...scene.lookup import find_armature, find_object
from ...scene.rig.chain_finding import chain_from_names, chain_from_selection
from ...scene.rig.rest_reading import carrier_of, read_rest_chain, starts_at_tail
from ...scene.rig.rigify_reading import rigify_limbs
from ...scene.visible.feet_beside import feet_along
from ...settings import OPTION, BakeSettings
from .chain_plan import ELSEWHERE
from .frame_choice import frame_range


@dataclass(frozen=True, slots=True)
class FoundChain:
    """A chain in its armature."""

    armature: Object
    names: ChainNames
    rest: RestChain


def find_chain(settings: BakeSettings, active: Object | None) -> FoundChain:
    """The chain of the settings; `active` is the armature if they name none. Raises a `TwoBoneError` if there is no chain."""
    armature = find_armature(settings.armature, active)
    names = chain_names(armature, settings)
    if settings.end_rotation != "NONE":
        names = with_end(armature, names)
    return chain_found(armature, names, every_joint=settings.joints == "ALL")


def chain_found(armature: Object, names: ChainNames, *, every_joint: bool = False) -> FoundChain:
    """The chain with these bone names."""
    return FoundChain(armature, names, read_rest_chain(armature, names, all_joints=every_joint))


def chain_names(armature: Object, settings: BakeSettings) -> ChainNames:
    """The chain named by the settings, or else by the selected bones; raises a `TwoBoneError` if there is none."""
    if settings.upper and settings.lower:
        return chain_from_names(armature, settings.upper, settings.lower, settings.tip, settings.tip_end)
    if settings.upper or settings.lower:
        given, missing = ("upper", "lower") if settings.upper else ("lower", "upper")
        raise ChainError(
            "Only the {given} bone is named. Name the {missing} bone as well, or neither.",
            given=Sentence(given),
            missing=Sentence(missing),
        )
    return chain_from_selection(armature, settings.tip, settings.tip_end)


def with_end(armature: Object, names: ChainNames) -> ChainNames:
    """The chain extended to the foot or hand control of a Rigify limb, if no tip bone is named.

    The bone that starts at the lower bone's tail in Rigify is a mechanism bone, which does not turn with the foot's own keys.
    """
    if not names.tip_at_tail:
        return names
    limb = (names.upper, names.lower)
    ends = [end for controlled in rigify_limbs(armature) if controlled.controls[:2] == limb for end in controlled.controls[2:]]
    return replace(names, tip=ends[0], tip_at_tail=False) if ends else names


NAMED = (
    ("Target", "target", "target_bone"),
    ("Target", "target", "target_root_bone"),
    ("Pole", "pole", "pole_bone"),
    ("Plane object", "plane_object", ""),
)
"""What a chain may refer to besides its own bones: role in sentences, setting of the object, setting of the bone."""


def refuse_unknown(scene: Scene, settings: BakeSettings) -> None:
    """Raise a `TwoBoneError` for names that do not exist and for an impossible range, whether a task needs them or not."""
    for role, object_option, bone_option in NAMED:
        needs, name = OPTION[object_option].needs, getattr(settings, object_option)
        bone = getattr(settings, bone_option) if bone_option else ""
        is_needed = needs is None or needs.is_met(settings)
        if (name and (is_needed or object_option in settings.asked)) or (bone and is_needed and bone_option in settings.asked):
            find_object(role, name, bone)
    if settings.frame_range == "CUSTOM":
        frame_range(scene, settings)


def end_bone_of(chain: FoundChain, settings: BakeSettings, target: Node | None = None) -> tuple[RestBone | None, int]:
    """The bone whose head is the tip, and the index in the chain of its parent; `None` and 0 if the end is not rotated.

    `target` is what the limb is to follow, see `feet_along`.
    """
    if settings.end_rotation == "NONE":
        return None, 0
    bones = chain.rest.bones
    if carrier_of(chain.armature, chain.names) != chain.names.tip:
        tip = chain.armature.pose.bones[chain.names.tip]
        if tip in feet_along(chain.armature, chain.names, target):
            return read_rest_bone(tip), ELSEWHERE
        raise ChainError(
            'Bone "{bone}" at the tip is parented elsewhere, so the chain cannot turn it. Let the end follow.',
            bone=chain.names.tip,
        )
    # The chain's bones end with the one whose head is the tip.
    if not chain.names.tip_at_tail:
        return bones[-1], len(bones) - 2
    carrier = chain.armature.pose.bones[chain.names.tip]
    at_tip = [child for child in carrier.children if starts_at_tail(child)]
    if len(at_tip) != 1:
        raise ChainError(
            'Bone "{bone}" has {count} bones at its tip, so the end bone is ambiguous. Name the end bone as the '
            "tip, or let the end follow.",
            bone=carrier.name,
            count=len(at_tip),
        )
    return read_rest_bone(at_tip[0]), len(bones) - 1
