"""What to start from: a chain found from the selection, with the choices that its rest pose suggests."""

from __future__ import annotations

from ..rig.planes import nearest_letters
from ..scene.blender_types import Object
from ..scene.chain_finding import automatic_tip, chain_from_selection
from ..scene.rest_reading import read_rest_chain


def fresh_chain(armature: Object) -> dict[str, str]:
    """Settings of a new chain for the selected bones: bones, tip, and the plane and side of the chain's bend at rest.

    The tip is left empty (automatic) unless a third bone is selected. Raises a `TwoBoneError` where the selection
    means no chain.
    """
    names = chain_from_selection(armature)
    automatic = automatic_tip(armature.pose.bones[names.lower], "AUTO")
    plane, side = nearest_letters(read_rest_chain(armature, names, all_joints=False).rest_joints())
    return {
        "upper": names.upper,
        "lower": names.lower,
        "tip": "" if automatic == (names.tip, names.tip_at_tail) else names.tip,
        "plane": plane,
        "plane_space": "ARMATURE",
        "bend": "POSITIVE" if side > 0 else "NEGATIVE",
    }
