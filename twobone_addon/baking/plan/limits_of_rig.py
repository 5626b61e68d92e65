"""Joint limits of a chain, taken from its rig."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...array_types import Array
from ...errors import ChainError
from ...rig.bones import RestChain
from ...rig.planes.hinge_limits import joint_limits_in_plane
from ...rig.planes.limb_normals import resting_hinge
from ...rig.planes.limb_planes import rest_normal
from ...scene.blender_types import Object
from ...scene.rig.chain_finding import chain_from_names
from ...scene.rig.limits_reading import turn_limits
from ...scene.rig.rest_reading import read_rest_chain
from ...settings import LIMB_PLANES
from .mirroring import normal_at_rest


def limits_of_rig(armature: Object, values: dict[str, Any]) -> dict[str, Any]:
    """The settings of a chain's joint limits as its bones are limited; `values` are the chain's settings.

    Of two joints `upper_min` and so on, of `ALL` joints `limits`. Raises `ChainError` where nothing limits the bones
    about the hinge of the chain's plane.
    """
    names = chain_from_names(armature, values["upper"], values["lower"], values["tip"], values["tip_end"])
    chain = read_rest_chain(armature, names, all_joints=values["joints"] == "ALL")
    normal = _normal_at_rest(armature, chain, values)
    turns = np.array([turn_limits(armature.pose.bones[chain.bones[index].name]) for index in chain.turning])
    limits = joint_limits_in_plane(chain, normal, turns)
    if np.all(limits == (-np.pi, np.pi)):
        raise ChainError(
            f'No joint limits found from "{names.upper}" to "{names.lower}" around the bending axis. '
            "Add Limit Rotation constraints in Local Space to them, or turn on their IK limits."
        )
    if len(limits) > 2:  # noqa: PLR2004 - more joints than upper and lower bone have settings for
        return {"use_limits": True, "limits": tuple((float(low), float(high)) for low, high in limits)}
    (upper_min, upper_max), (lower_min, lower_max) = limits.tolist()
    return {
        "use_limits": True,
        "limits": (),
        "upper_min": upper_min,
        "upper_max": upper_max,
        "lower_min": lower_min,
        "lower_max": lower_max,
    }


def _normal_at_rest(armature: Object, chain: RestChain, values: dict[str, Any]) -> Array:
    """Normal `(3,)` of the chain's plane at rest, armature space."""
    if values["plane"] == "POSE":
        return chain.upper.rest[:3, :3] @ resting_hinge(chain)
    return rest_normal(chain) if values["plane"] in LIMB_PLANES else normal_at_rest(armature, values)
