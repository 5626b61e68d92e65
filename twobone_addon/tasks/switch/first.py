"""Switch limbs to FK, with their motion, in one run with the task that is to key them: for scripts, which press no button."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ...pipeline.chosen_actions import ACTIVE
from ...pipeline.gate import who_poses
from ...pipeline.plan.completing import completed
from ...pipeline.plan.found_chain import chain_names
from ...pipeline.plan.frame_choice import frame_range
from ...pipeline.plan.stored import stored_settings
from ...pipeline.run import run
from ...pipeline.story import Task
from ...records import replace
from ...said import INFO, Sentence
from ...scene.blender_types import Object, Scene
from ...scene.lookup import find_armature
from ...scene.writer import Transaction
from ...settings import BakeSettings
from ...settings.tasks import SwitchSettings
from .task import SWITCH


class _RehearsedError(Exception):
    """Ends a dry run, so that the switch is put back as well."""


def run_after_switch(
    scene: Scene, task: Task[Any], settings: Any, active: Object | None = None, *, actions: str = ACTIVE, dry_run: bool = False
) -> Any:
    """`run` of a task whose limbs are switched to FK first where IK poses them; if the task is refused, both are put back.

    The report is that of the task, with the sentence of the switch among its notes. Raises a `TwoBoneError`.
    """
    limbs = [limb for limb in _limbs(scene, settings, active) if _is_on_ik(scene, limb, active)]
    if not limbs:
        return run(scene, task, settings, active, actions=actions, dry_run=dry_run)
    report: Any = None
    with suppress(_RehearsedError), Transaction() as both:
        switched = run(scene, SWITCH, SwitchSettings(chains=tuple(limbs)), active, actions=actions, outer=both)
        before = Sentence("Before this: {sentence}.", {"sentence": Sentence(switched.sentence())}, level=INFO)
        report = run(scene, task, settings, active, actions=actions, dry_run=dry_run, outer=both, notes=[before])
        if dry_run:
            raise _RehearsedError
    return report


def _limbs(scene: Scene, settings: Any, active: Object | None) -> Iterator[BakeSettings]:
    """The limbs that a task is about: those it names, or all enabled ones of its armature, in its range."""
    if hasattr(settings, "chains"):
        yield from settings.chains
    elif hasattr(settings, "upper"):
        given = {name: getattr(settings, name) for name in ("armature", "upper", "lower", "tip") if getattr(settings, name)}
        yield completed(scene, given, active, settings.chain)
    else:
        armature = find_armature(settings.armature, active)
        within = {name: getattr(settings, name) for name in ("frame_range", "frame_start", "frame_end")}
        for chain in armature.twobone.chains:
            if chain.enabled:
                yield replace(stored_settings(armature, chain, {}), **within)


def _is_on_ik(scene: Scene, limb: BakeSettings, active: Object | None) -> bool:
    armature = find_armature(limb.armature, active)
    poser = who_poses(scene, armature, chain_names(armature, limb), frame_range(scene, limb))
    return poser is not None and poser.can_be_switched
