"""Whether a report still tells what is there: what it was about, in short, to be compared with what is there now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace

from ...scene.blender_types import Object, Scene
from ...scene.keys.fingerprints import animation_digest, text_digest
from ...scene.lookup import find_armature, objects_by_name
from ...scene.rig.chain_finding import ChainNames, bones_between
from ...settings import BakeSettings
from ..plan.finding import chain_names
from ..plan.frame_choice import frame_range
from ..plan.planning import ChainPlan
from .records import Fingerprint

WITHOUT_A_SAY = {"asked", "stored", "verify", "evaluation"}
"""Fields of the settings that do not change what is baked."""


def fingerprint_of(scene: Scene, plan: ChainPlan) -> Fingerprint:
    """The fingerprint of a chain that is being baked."""
    names = plan.names
    return fingerprint(scene, replace(plan.settings, armature=names.armature, upper=names.upper, lower=names.lower))


def fingerprint(scene: Scene, settings: BakeSettings) -> Fingerprint:
    """The fingerprint of a chain as it is now, with these settings; raises a `TwoBoneError` where the chain is not there."""
    return Fingerprint(settings_digest(scene, settings), chain_digest(settings))


def settings_digest(scene: Scene, settings: BakeSettings) -> str:
    """Of the settings and the range they mean."""
    fields = {name: value for name, value in asdict(settings).items() if name not in WITHOUT_A_SAY}
    return text_digest(repr((sorted(fields.items()), frame_range(scene, settings))))


def chain_digest(settings: BakeSettings) -> str:
    """Of the animation, see `Fingerprint`."""
    armature = find_armature(settings.armature, None)
    return animation_digest(_moving(armature, chain_names(armature, settings), settings))


def _moving(armature: Object, names: ChainNames, settings: BakeSettings) -> Iterator[tuple[Object, list[str]]]:
    """Objects, each with those of its bones, whose motion decides whether the tip is on its target."""
    chain = bones_between(armature, names.upper, names.tip)
    yield armature, [bone.name for bone in (*chain, *armature.pose.bones[names.upper].parent_recursive)]
    yield from _parents(armature)
    followed = ((settings.target, settings.target_bone), (settings.pole, settings.pole_bone), (settings.plane_object, ""))
    for name, bone in followed:
        thing = objects_by_name().get(name) if name else None
        if thing is not None:
            yield thing, [bone] if thing.type == "ARMATURE" and bone in thing.pose.bones else []
            yield from _parents(thing)


def _parents(thing: Object) -> Iterator[tuple[Object, list[str]]]:
    while thing.parent is not None:
        yield thing.parent, [thing.parent_bone] if thing.parent_type == "BONE" and thing.parent_bone else []
        thing = thing.parent
