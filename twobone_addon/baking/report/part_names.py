"""What people call the part of the body that a chain's tip moves."""

from __future__ import annotations

import re

from ...scene.blender_types import Object
from ...scene.rig.chain_finding import ChainNames
from ...scene.rig.rest_reading import starts_at_tail
from ...scene.rig.rigify_reading import is_rigify

BEHIND_THE_SCENES = re.compile(r"^(?:ORG|MCH|DEF)-|_fk(?=\.|$)")
"""What Rigify adds to the name that a bone had before."""


def part_name(armature: Object, names: ChainNames) -> str:
    """The bone that begins at the tip, such as a foot; without one, the bone that ends there."""
    carrier = armature.pose.bones[names.tip]
    starting = [child.name for child in carrier.children if starts_at_tail(child)] if names.tip_at_tail else []
    name = starting[0] if len(starting) == 1 else names.tip
    return BEHIND_THE_SCENES.sub("", name) if is_rigify(armature) else name
