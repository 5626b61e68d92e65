"""Keys of all chains, put where their settings say."""

from __future__ import annotations

from collections.abc import Sequence

from ...scene.blender_types import Scene
from ...scene.keys.clearing import remove_stretch
from ...scene.keys.destinations import open_destination
from ...scene.keys.own_scales import keep_own_scales
from ...scene.keys.writing import write_keys
from ...scene.lookup import object_named
from ...scene.walk.restoring import edits_kept
from .keying import KeyedChain


def write_chains(scene: Scene, keyed: Sequence[KeyedChain]) -> None:
    """Put the keys of all chains where their settings say; edits that are not keyed stay."""
    names = dict.fromkeys(chain.solved.plan.names.armature for chain in keyed)
    armatures = {name: object_named(name) for name in names}
    written = {(armatures[chain.solved.plan.names.armature], key.path) for chain in keyed for key in chain.keys}
    with edits_kept(scene, list(armatures.values()), written):
        for chain in keyed:
            if chain.stays:
                continue
            plan, settings = chain.solved.plan, chain.solved.plan.settings
            start, end = float(plan.frames[0]), float(plan.frames[-1])
            name, armature = settings.stored or plan.names.upper, armatures[plan.names.armature]
            scales = {key.path for key in chain.keys if key.path.endswith(".scale")}
            with open_destination(armature, settings.destination, name, start, end) as bag:
                remove_stretch(armature, bag, plan.scale_paths(), start, end)
                if settings.destination != "NLA":
                    keep_own_scales(armature, bag, scales)
                write_keys(bag, chain.keys, start, end)
