"""Do what a request means: switch limbs that IK poses to FK first where that is asked, then run the task."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from typing import Any

from ..pipeline.gate import who_poses
from ..pipeline.plan.completing import completed
from ..pipeline.plan.found_chain import chain_names
from ..pipeline.plan.frame_choice import frame_range
from ..pipeline.plan.naming import named
from ..pipeline.plan.stored import stored_settings
from ..pipeline.run import SkipCheckError, run_steps
from ..pipeline.story import Task
from ..records import replace
from ..said import INFO, Sentence
from ..scene.blender_types import Context, Object, Scene
from ..scene.lookup import find_armature
from ..scene.sampling.stepping import Steps, Verifying, at_once, part_of_steps
from ..scene.writer import Transaction
from ..settings import BakeSettings
from ..settings.tasks import SwitchSettings
from ..tasks.all_tasks import KEYS_LIMBS, task_named
from .kept import keep
from .meant import Meant, name_back, names_kept_apart


class _RehearsedError(Exception):
    """Ends a dry run, so that the switch is put back as well."""


def carried_out(
    context: Context, requested: Callable[[], Meant], *, task: Task[Any] | None = None, dry_run: bool = False, **how: Any
) -> tuple[Meant, Any]:
    """Find out what is meant while stored chains have names of their own, do it in one go, and keep its report in the file.

    Where nothing is written, the chains have their old names afterwards, and only what a task of its own has done is kept.
    Raises a `TwoBoneError`.
    """
    with names_kept_apart(context.scene) as renamed:
        request = requested()
        report = at_once(done_in_steps(context.scene, request, task=task, dry_run=dry_run, **how))
        is_rehearsed = dry_run or task is not None
        if not is_rehearsed:
            keep(context, request, report)
        if is_rehearsed or not request.is_written(report):
            name_back(renamed)
    return request, report


def done_in_steps(
    scene: Scene, request: Meant, *, dry_run: bool = False, switch_first: bool = False, task: Task[Any] | None = None
) -> Steps[Any]:
    """Run the task of a request and return its report, which tells the skipped chains; raises a `TwoBoneError`.

    switch_first : switch limbs that IK poses to FK before, with their motion; if the task is refused, both are put back
    task : what to run in place of the task of the request's table
    """
    task = task or task_named(request.table.task)
    how = {"actions": request.actions, "dry_run": dry_run}
    if switch_first and request.table.task in KEYS_LIMBS:
        report = yield from _after_switch(scene, task, request, **how)
    else:
        report = yield from run_steps(scene, task, request.settings, request.active, **how)
    return replace(report, skipped=list(request.chains.skipped)) if request.chains.skipped else report


def _after_switch(scene: Scene, task: Task[Any], request: Meant, *, actions: str, dry_run: bool) -> Steps[Any]:
    """Run the task after a switch; the report has the sentence of the switch among its notes."""
    settings, active = request.settings, request.active
    limbs = on_ik(scene, request)
    if not limbs:
        return (yield from run_steps(scene, task, settings, active, actions=actions, dry_run=dry_run))
    report: Any = None
    with suppress(_RehearsedError), Transaction() as both:
        switch = run_steps(scene, task_named("switch"), SwitchSettings(chains=tuple(limbs)), active, actions=actions, outer=both)
        switched = yield from part_of_steps(switch, 0, 2)
        before = Sentence("Before this: {sentence}.", {"sentence": switched.says}, level=INFO)
        steps = run_steps(scene, task, settings, active, actions=actions, dry_run=dry_run, outer=both, notes=[before])
        report = yield from _second_half(steps)
        if dry_run:
            raise _RehearsedError
    return report


def _second_half(steps: Steps[Any]) -> Steps[Any]:
    """Run the steps as the second half of some work; whoever stops it stops them."""
    with closing(steps):
        go_on = partial(next, steps)
        while True:
            try:
                part = go_on()
            except StopIteration as end:
                return end.value
            go_on = partial(next, steps)
            try:
                yield part if isinstance(part, Verifying) else 0.5 + 0.5 * part
            except SkipCheckError as error:
                go_on = partial(steps.throw, error)


def on_ik(scene: Scene, request: Meant) -> list[BakeSettings]:
    """The limbs of a request that IK poses in its range, and that can be switched."""
    limbs = _limbs(scene, request.settings, request.active)
    if "frame_range" not in request.table.heeded:
        limbs = (replace(limb, frame_range="SCENE") for limb in limbs)
    return [limb for limb in limbs if _is_on_ik(scene, limb, request.active)]


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
    with named(limb):
        armature = find_armature(limb.armature, active)
        poser = who_poses(scene, armature, chain_names(armature, limb), frame_range(scene, limb))
    return poser is not None and poser.can_be_switched
