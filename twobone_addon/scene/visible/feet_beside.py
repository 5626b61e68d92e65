"""Feet that stand beside their limb: parented elsewhere, so that the limb's end only meets them.

Whatever keys such a limb must key the foot's location along, or the foot would stay behind. What follows the limb by a
constraint goes along by itself; to a foot that the limb is to follow, the limb goes.
"""

from __future__ import annotations

from ...records import replace
from ...said import Sentence
from ..blender_types import Object, PoseBone
from ..bones import ChainNames
from ..graph.rig_graph import Node, RigGraph
from ..lookup import read_once
from ..rig.constraints import is_acting
from ..rig.rest_reading import carrier_of, feet_elsewhere, stays_behind

TURNING_ONLY = {
    "COPY_ROTATION", "LIMIT_ROTATION", "DAMPED_TRACK", "TRACK_TO", "LOCKED_TRACK", "COPY_SCALE", "LIMIT_SCALE", "MAINTAIN_VOLUME",
    "STRETCH_TO",
}  # fmt: skip
"""Constraints that leave the head of a bone where its location puts it."""


def feet_beside(armature: Object, names: ChainNames) -> list[PoseBone]:
    """The bones at a limb's end that are parented elsewhere, whether they follow it or not."""
    return read_once(_feet_of, (armature, names))


def _feet_of(limb: tuple[Object, ChainNames]) -> list[PoseBone]:
    armature, names = limb
    is_loose = carrier_of(armature, names) != names.tip
    return [armature.pose.bones[names.tip]] if is_loose else feet_elsewhere(armature, names)


def feet_along(armature: Object, names: ChainNames, target: Node | None = None) -> list[PoseBone]:
    """The feet whose location is keyed along with their limb: those that would stay behind, and can be keyed.

    `target` is what the limb is to follow: a foot that takes that along stays where it is.
    """
    feet = [foot for foot in feet_beside(armature, names) if stays_behind(foot, names) and not is_followed(foot, target)]
    # What is below another one of them goes along with it.
    tops = [foot for foot in feet if not any(other in foot.parent_recursive for other in feet)]
    return [foot for foot in tops if cannot_go_along(foot) is None]


def is_followed(foot: PoseBone, target: Node | None) -> bool:
    """Whether a target is the foot, or depends on it."""
    return target is not None and (foot.id_data.name, foot.name) in RigGraph().above([target]).nodes


def with_foot_along(armature: Object, names: ChainNames) -> ChainNames:
    """The limb with the foot that is keyed along as its tip, where its end only meets that."""
    feet = feet_along(armature, names)
    return replace(names, tip=feet[0].name, tip_at_tail=False) if feet else names


def cannot_go_along(foot: PoseBone) -> Sentence | None:
    """Why a foot's location cannot be keyed along with its limb; `None` if it can."""
    if foot.bone.use_connect and foot.parent:
        return Sentence("it is connected to its parent")
    if any(foot.lock_location):
        return Sentence("its location is locked")
    data, path = foot.id_data.animation_data, foot.path_from_id("location")
    if data is not None and any(driver.data_path == path for driver in data.drivers):
        return Sentence("a driver sets it")
    placing = [constraint for constraint in foot.constraints if constraint.type not in TURNING_ONLY and is_acting(constraint)]
    return Sentence('constraint "{constraint}" acts on it', {"constraint": placing[0].name}) if placing else None
