"""Keys of all chains, put where their settings say."""

from __future__ import annotations

from collections.abc import Sequence

from ...scene.blender_types import Object, Scene
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
        put_chains(keyed)


def put_chains(keyed: Sequence[KeyedChain]) -> None:
    """The same where somebody else looks after edits that are not keyed. All chains of an armature share one new action."""
    renewed: set[str] = set()
    for chain in keyed:
        if chain.stays:
            continue
        settings, armature = chain.solved.plan.settings, object_named(chain.solved.plan.names.armature)
        shares = settings.destination == "NEW_ACTION" and armature.name in renewed
        _put(chain, armature, "ACTION" if shares else settings.destination)
        if settings.destination == "NEW_ACTION":
            renewed.add(armature.name)


def _put(chain: KeyedChain, armature: Object, destination: str) -> None:
    plan = chain.solved.plan
    start, end = float(plan.frames[0]), float(plan.frames[-1])
    name = plan.settings.stored or plan.names.upper
    scales = {key.path for key in chain.keys if key.path.endswith(".scale")}
    with open_destination(armature, destination, name, start, end) as bag:
        remove_stretch(armature, bag, plan.stretched_paths(), start, end)
        if destination != "NLA":
            keep_own_scales(armature, bag, scales)
        write_keys(bag, chain.keys, start, end)
