"""Targets and poles that a chain lacks, made for it while its motion is turned into theirs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from ...pipeline.plan.completing import StoredChain
from ...pipeline.plan.finding import chain_names
from ...scene.blender_types import Object, Scene
from ...scene.lookup import find_armature, object_named
from ...scene.new_objects import remove_object
from ...settings import BakeSettings
from .guides import POLE_SHAPE, TARGET_SHAPE, Guide, add_guide, guide_name, pole_guide, target_guide


@contextmanager
def missing_guides(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None) -> Iterator[list[BakeSettings]]:
    """The settings with an empty for each target and pole that they leave out; raises a `TwoBoneError` for wrong bones.

    The empties stay, and become those of the stored chains that the settings come from, if the block ends well.
    """
    made: list[Object] = []
    try:
        settings = [_filled(scene, chain, active, made) for chain in wanted]
        yield settings
        for before, after in zip(wanted, settings, strict=True):
            _store(before, after, active)
        made.clear()
    finally:
        for empty in made:
            remove_object(empty)


def _filled(scene: Scene, settings: BakeSettings, active: Object | None, made: list[Object]) -> BakeSettings:
    lacking = [role for role in _roles(settings) if not getattr(settings, role)]
    if not lacking:
        return settings
    armature = find_armature(settings.armature, active)
    names = chain_names(armature, settings)
    guides: dict[str, tuple[Guide, str]] = {
        "target": (target_guide(armature, names), TARGET_SHAPE),
        "pole": (pole_guide(armature, names, settings.plane, settings.bend), POLE_SHAPE),
    }
    given = {}
    for role in lacking:
        guide, shape = guides[role]
        name = guide_name(role.capitalize(), armature, names)
        made.append(add_guide(scene, armature, guide, name=name, size=guide.size, shape=shape))
        given[role] = made[-1].name
    return replace(settings, **given)


def _roles(settings: BakeSettings) -> tuple[str, ...]:
    return ("target", "pole") if settings.plane == "POLE" else ("target",)


def _store(before: BakeSettings, after: BakeSettings, active: Object | None) -> None:
    """Give the stored chain, if the settings come from one, what was made for it."""
    chains = find_armature(after.armature, active).twobone.chains
    chain: StoredChain = chains.get(after.stored) if after.stored else None
    if chain is None:
        return
    for role in _roles(after):
        if not getattr(before, role):
            setattr(chain, role, object_named(getattr(after, role)))
