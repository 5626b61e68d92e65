"""Whether a report is up to date: digests of the bake's inputs, to be compared with digests of what is there now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from ...records import replace
from ...scene.blender_types import Scene
from ...scene.graph.motion_digests import KnownMotion, motion_digest, text_digest
from ...scene.keys.reading import is_animated
from ...scene.lookup import find_armature
from ...scene.rig.chain_finding import bones_of
from ...settings import ORIGINS, BakeSettings
from ..plan.found_chain import chain_names
from ..plan.frame_choice import frame_range
from ..plan.planning import ChainPlan
from ..plan.stored import ANIMATABLE
from .reports import Fingerprint

WITHOUT_A_SAY = ORIGINS | {"stored", "verify", "evaluation"}
"""Fields of the settings that do not change what is baked."""


def fingerprints_of(scene: Scene, plans: Sequence[ChainPlan]) -> list[Fingerprint | None]:
    """The fingerprints of chains that have just been baked; `None` where no stored chain keeps the report."""
    known, found = KnownMotion(), list[Fingerprint | None]()
    for plan in plans:
        names = plan.names
        if not find_armature(names.armature, None).twobone.chains:
            found.append(None)
            continue
        settings = replace(plan.settings, armature=names.armature, upper=names.upper, lower=names.lower)
        found.append(Fingerprint(settings_digest(scene, settings), chain_digest(settings, known)))
    return found


def fingerprint(scene: Scene, settings: BakeSettings) -> Fingerprint:
    """The fingerprint of a chain as it is now, with these settings; raises a `TwoBoneError` if there is no such chain."""
    return Fingerprint(settings_digest(scene, settings), chain_digest(settings))


def settings_digest(scene: Scene, settings: BakeSettings) -> str:
    """Digest of the settings and their frame range, without settings animated on the stored chain: those change per frame."""
    left_out = WITHOUT_A_SAY | {name for _, name in _keyed_settings(settings)}
    fields = {name: value for name, value in asdict(settings).items() if name not in left_out}
    return text_digest(repr((sorted(fields.items()), frame_range(scene, settings))))


def chain_digest(settings: BakeSettings, known: KnownMotion | None = None) -> str:
    """Digest of the animation, see `Fingerprint`; several chains may share the cache `known`."""
    armature = find_armature(settings.armature, None)
    own = [(armature, path) for path, _ in _keyed_settings(settings)]
    # Objects and bones whose motion decides whether the tip is on its target.
    moving = [(armature.name, bone.name) for bone in bones_of(armature, chain_names(armature, settings))]
    followed = ((settings.target, settings.target_bone), (settings.pole, settings.pole_bone), (settings.plane_object, ""))
    moving += [(name, bone) for name, bone in followed if name]
    return motion_digest(moving, own, known)


def _keyed_settings(settings: BakeSettings) -> list[tuple[str, str]]:
    """Data path and name of each setting that is animated on the stored chain."""
    armature = find_armature(settings.armature, None)
    chain = armature.twobone.chains.get(settings.stored) if settings.stored else None
    paths = [(chain.path_from_id(name), name) for name in ANIMATABLE] if chain is not None else []
    return [(path, name) for path, name in paths if is_animated(armature, path)]
