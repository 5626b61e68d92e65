"""A chain's motion given to what it follows: loose objects, or the controls of its rig."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ObjectError, TwoBoneError
from ..scene.actions.playing import own_paths, staged
from ..scene.blender_types import Object, Scene
from ..scene.lookup import find_armature
from ..scene.walk.stepping import Steps, at_once
from ..settings import BakeSettings
from .actions.choosing import ACTIVE, chosen_of_all, own_span, refuse_strips
from .actions.passes import in_words, with_range
from .controls.baking import bake_controls_steps
from .fk_to_target.baking import bake_targets_steps
from .report.records import BakeReport, ChainReport, Refused
from .stages import SkipCheckError


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
    chains: dict[int, ChainReport] = {
        number: chain for numbers, report in parts for number, chain in zip(numbers, report.chains, strict=True)
    }
    seconds = {stage: sum(report.seconds.get(stage, 0.0) for _, report in parts) for stage in parts[0][1].seconds}
    return BakeReport([chains[number] for number in sorted(chains)], seconds, parts[0][1].evaluation)


def give_actions_steps(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None, actions: str) -> Steps[BakeReport]:
    """The same in several actions, each over its own range, see `actions.choosing`; onto controls, which they key themselves.

    An action in which it cannot be done is named. Stopped on its way, the actions that are through keep their keys.
    """
    if actions == ACTIVE:
        return (yield from give_motion_steps(scene, wanted, active))
    by_armature = _by_armature(wanted, active, actions)
    reports: list[BakeReport] = []
    refused: list[Refused] = []
    errors: list[TwoBoneError] = []
    for armature, settings in by_armature.items():
        chosen = chosen_of_all([armature], actions)
        controls = {bone for each in settings for bone in (each.target_bone, each.pole_bone) if bone}
        with staged(scene, armature, [own for _, own in chosen]) as stage:
            for _, own in chosen:
                stage.play(own.action, own.slot)
                try:
                    reports.append((yield from give_motion_steps(scene, [with_range(each, own_span(own)) for each in settings])))
                except TwoBoneError as error:
                    errors.append(error)
                    refused.append(Refused(armature.name, own.name, str(error)))
                except SkipCheckError:
                    if not reports:
                        raise
                    break
                stage.written |= {path for bone in controls for path in own_paths(bone)}
                stage.renewed[own.action] = armature.animation_data.action
    if not reports:
        raise errors[0]
    chains = [chain for report in reports for chain in report.chains]
    chains[0].notes.extend(in_words(refused, len(reports) + len(refused)))
    return BakeReport(chains, reports[0].seconds, reports[0].evaluation, refused)


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
