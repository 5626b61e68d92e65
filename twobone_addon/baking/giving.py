"""A chain's motion given to what it follows: loose objects, or the controls of its rig."""

from __future__ import annotations

from collections.abc import Sequence

from ..scene.blender_types import Object, Scene
from ..scene.walk.stepping import Steps, at_once
from ..settings import BakeSettings
from .controls.baking import bake_controls_steps
from .fk_to_target.baking import bake_targets_steps
from .report.records import BakeReport, ChainReport


def give_motion(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None = None) -> BakeReport:
    """The same as `give_motion_steps`, at once."""
    return at_once(give_motion_steps(scene, wanted, active))


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
