"""Joint limits of a chain, taken from its rig."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.array_types import Array
from ...core.rig.hinges import joint_limits_in_plane
from ...core.rig.limb_normals import resting_hinge
from ...core.rig.limb_planes import rest_normal
from ...errors import ChainError
from ...scene.blender_types import Object
from ...scene.rig.rest_reading import turn_limits
from ...settings import LIMB_PLANES, BakeSettings
from .finding import FoundChain, find_chain
from .plane_now import normal_at_rest


def limits_of_rig(settings: BakeSettings, active: Object | None) -> dict[str, Any]:
    """The settings of a chain's joint limits as its bones are limited; `active` is the armature where they name none.

    Of two joints `upper_min` and so on, of `ALL` joints `limits`. Raises `ChainError` where nothing limits the bones
    about the hinge of the chain's plane.
    """
    found = find_chain(settings, active)
    names, rest = found.names, found.rest
    turns = np.array([turn_limits(found.armature.pose.bones[rest.bones[index].name]) for index in rest.turning])
    limits = joint_limits_in_plane(rest, _normal(found, settings), turns)
    if np.all(limits == (-np.pi, np.pi)):
        raise ChainError(
            'No joint limits found from "{upper}" to "{lower}" around the bending axis. Add Limit Rotation constraints in Local '
            "Space to them, or turn on their IK limits.",
            upper=names.upper,
            lower=names.lower,
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


def _normal(found: FoundChain, settings: BakeSettings) -> Array:
    """Normal `(3,)` of the chain's plane at rest, armature space."""
    if settings.plane == "POSE":
        return found.rest.upper.rest[:3, :3] @ resting_hinge(found.rest)
    if settings.plane in LIMB_PLANES:
        return rest_normal(found.rest)
    return normal_at_rest(found.armature, settings, found.names.upper)
