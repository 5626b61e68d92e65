"""A chain's motion given to what it follows: loose objects, or the controls of its rig."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from ..errors import ObjectError
from ..scene.blender_types import Object, Scene
from ..scene.lookup import find_armature
from ..scene.walk.stepping import Steps, at_once
from ..settings import BakeSettings
from .actions.choosing import ACTIVE, chosen_of_all, refuse_strips
from .actions.passes import Pass, Passes, Span, with_range
from .controls.baking import (
    SolvedControls,
    bake_controls_steps,
    control_reports,
    measured,
    planned_controls,
    solved_controls,
    steered_keys,
)
from .controls.writing import SteeredKeys, write_controls
from .fk_to_target.baking import bake_targets_steps
from .report.records import BakeReport, ReportEntry
from .stages import Stopwatch


def give_motion(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None = None, actions: str = ACTIVE) -> BakeReport:
    """The same as `give_actions_steps`, at once."""
    return at_once(give_actions_steps(scene, wanted, active, actions))


def give_motion_steps(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None = None) -> Steps[BakeReport]:
    """Key what the chains follow so that these would do what they do now; raises a `TwoBoneError` before anything is changed."""
    onto_bones = [number for number, settings in enumerate(wanted) if settings.target_bone]
    onto_objects = [number for number in range(len(wanted)) if number not in onto_bones]
    if not onto_bones:
        return (yield from bake_targets_steps(scene, wanted, active))
    if not onto_objects:
        return (yield from bake_controls_steps(scene, wanted, active))
    parts = [
        (onto_objects, (yield from bake_targets_steps(scene, [wanted[number] for number in onto_objects], active))),
        (onto_bones, (yield from bake_controls_steps(scene, [wanted[number] for number in onto_bones], active))),
    ]
    entries: dict[int, ReportEntry] = {
        number: entry for numbers, report in parts for number, entry in zip(numbers, report.entries, strict=True)
    }
    seconds = {stage: sum(report.seconds.get(stage, 0.0) for _, report in parts) for stage in parts[0][1].seconds}
    return BakeReport([entries[number] for number in sorted(entries)], seconds, parts[0][1].evaluation)


def give_actions_steps(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None, actions: str) -> Steps[BakeReport]:
    """The same in several actions, each over its own range, see `actions.choosing`; onto controls, which they key themselves.

    An action in which it cannot be done is named. All are solved before any is written: stopped before that, nothing changes.
    """
    if actions == ACTIVE:
        return (yield from give_motion_steps(scene, wanted, active))
    watch = Stopwatch()
    by_armature = _by_armature(wanted, active, actions)
    works = {armature: _Giving(scene, settings, watch) for armature, settings in by_armature.items()}
    chosen = chosen_of_all(list(works), actions)
    with ExitStack() as stack:
        passes = Passes(scene, [Pass(armature, own, works[armature]) for armature, own in chosen], stack)
        ready = yield from passes.prepared()
        passes.write(ready)
        entries = yield from passes.proved(ready)
    return passes.report(entries, [], watch.seconds, ready[0].prepared.evaluation)


@dataclass(frozen=True, slots=True)
class _Given:
    """The limbs of one armature in one of its actions, before their controls are keyed."""

    solved: list[SolvedControls]
    steered: list[SteeredKeys]
    evaluation: str | dict[str, str]


@dataclass(frozen=True, slots=True)
class _Giving:
    """Gives the motion of one armature's limbs to their controls, action by action: see `actions.passes`."""

    scene: Scene
    settings: list[BakeSettings]
    watch: Stopwatch

    def prepare(self, span: Span | None) -> Steps[_Given]:
        """Find the keys of all controls, on trial."""
        settings = [with_range(each, span) for each in self.settings] if span else self.settings
        with self.watch.stage("read"):
            plans = planned_controls(self.scene, settings)
        with self.watch.stage("sample"):
            solved, evaluation = yield from solved_controls(self.scene, plans)
        with self.watch.stage("solve"):
            return _Given(solved, (yield from steered_keys(self.scene, solved)), evaluation)

    def write(self, prepared: _Given) -> set[str]:
        """Write them."""
        with self.watch.stage("write"):
            write_controls(self.scene, prepared.steered)
        return {key.path for each in prepared.steered for key in each.all_keys}

    def prove(self, prepared: _Given) -> Steps[list[ReportEntry]]:
        """Look at what the rig's IK makes of them."""
        with self.watch.stage("verify"):
            proofs = yield from measured(self.scene, prepared.steered)
        return control_reports(prepared.solved, prepared.steered, proofs)

    def reports(self, prepared: _Given) -> list[ReportEntry]:
        """The same unseen."""
        return control_reports(prepared.solved, prepared.steered, [None] * len(prepared.solved))


def _by_armature(wanted: Sequence[BakeSettings], active: Object | None, actions: str) -> dict[Object, list[BakeSettings]]:
    found: dict[Object, list[BakeSettings]] = {}
    for settings in wanted:
        refuse_strips(actions, settings.destination)
        armature = find_armature(settings.armature, active)
        if not settings.target_bone or settings.target != armature.name:
            raise ObjectError(
                f'Target "{settings.target}" is not a bone of armature "{armature.name}", so it does not play its actions. '
                "Choose a control of the rig, or the active action only."
            )
        found.setdefault(armature, []).append(settings)
    return found
