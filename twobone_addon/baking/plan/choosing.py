"""What to start from: a chain found from the selection, with the choices that suit its rig."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...scene.blender_types import Object, PoseBone
from ...scene.rig.chain_finding import automatic_tip, chain_from_selection, limb_meant
from ...scene.rig.control_limbs import ControlLimbs
from ...scene.rig.selection import selected_bones
from .first_plane import first_plane


def fresh_chain(armature: Object) -> dict[str, str]:
    """Settings of a new chain for the selected bones: bones, tip, and its plane, see `first_plane`.

    The tip is left empty (automatic) unless a third bone is selected. Raises a `TwoBoneError` where the selection
    means no chain.
    """
    names = chain_from_selection(armature)
    automatic = automatic_tip(armature.pose.bones[names.lower], "AUTO")
    return {
        "upper": names.upper,
        "lower": names.lower,
        "tip": "" if automatic == (names.tip, names.tip_at_tail) else names.tip,
        **first_plane(armature, names),
    }


def limb_finder(armature: Object) -> Callable[[PoseBone], tuple[str, str] | None]:
    """What tells upper and lower bone of the limb that a single bone means; it looks through the armature once."""
    return partial(limb_meant, limbs=ControlLimbs(armature))


def bones_of_selected_limbs(armature: Object) -> frozenset[str]:
    """The selected bones, and all bones of the limbs that they control or stand for."""
    limbs = ControlLimbs(armature)
    selected = selected_bones(armature)
    found = (limbs.limb_of(bone) for bone in selected)
    return frozenset({bone.name for bone in selected}.union(*(limb.bones for limb in found if limb is not None)))
