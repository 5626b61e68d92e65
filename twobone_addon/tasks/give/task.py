"""Bake Target from Chain: transfer a chain's motion to its target and pole, objects or controls of its rig."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...core.array_types import KeyFrames
from ...core.curves.frames import frame_grid
from ...errors import ObjectError
from ...pipeline.chosen_actions import own_span
from ...pipeline.gate import refuse_unseen
from ...pipeline.plan.completing import names_of
from ...pipeline.plan.found_chain import chain_names
from ...pipeline.plan.frame_choice import frame_range
from ...pipeline.plan.naming import named
from ...pipeline.plan.stored import StoredChain, stored_settings
from ...pipeline.report.reports import ChainReport, bake_report
from ...pipeline.run import run
from ...pipeline.story import Make, Sample, StartOver, Story, Task, Write, answered, by_armature, with_range
from ...records import replace
from ...scene.actions import OwnAction
from ...scene.blender_types import Object, Scene
from ...scene.graph.motion_span import Span, motion_span, within_motion
from ...scene.keys.writing import Change, write
from ...scene.lookup import find_armature, object_named
from ...scene.new_objects import remove_object
from ...scene.sampling.quantities import Quantity
from ...scene.visible.visible_bone import Shown, shown_elsewhere
from ...settings import BakeSettings
from ...settings.tasks import TABLES, GiveSettings
from .baking import (
    GiveReport,
    GuideProof,
    guide_changes,
    guide_report,
    measured_guides,
    planned_guides,
    solved_guides,
    with_rotation,
)
from .controls.baking import control_reports, measured, planned_controls, solved_controls, steered_keys
from .controls.control_keys import control_changes
from .controls.steering import Seen
from .guides import STILL, missing_guides, seen_motion


@dataclass(frozen=True, slots=True)
class Given:
    """The reports of one action's targets, and how the motion was sampled."""

    entries: Sequence[ChainReport]
    evaluation: str | dict[str, str]


def bake_target(scene: Scene, settings: GiveSettings, active: Object | None, chosen: OwnAction | None) -> Story[Given]:
    """Key the targets and poles of chains so that following them reproduces the present motion: the reverse of Bake.

    Controls act through the rig's own IK, which only Blender can evaluate: their keys are found by trial in copies of the
    actions, before anything is written.
    """
    chains = [with_rotation(chain) if settings.rotate else chain for chain in settings.chains]
    chains = [with_range(chain, own_span(chosen)) for chain in chains]
    onto_bones = [number for number, chain in enumerate(chains) if chain.target_bone]
    onto_objects = [number for number, chain in enumerate(chains) if not chain.target_bone]
    for chain in (chains[number] for number in onto_objects):
        with named(chain):
            armature = find_armature(chain.armature, active)
            refuse_unseen(scene, armature, [chain_names(armature, chain)], frame_range(scene, chain))
    controls = planned_controls(scene, [chains[number] for number in onto_bones], active)
    yield StartOver(())
    filled = yield Make(missing_guides(scene, [chains[number] for number in onto_objects], active))
    guided, solved, steered, evaluation = [], [], [], ""
    if filled:
        guided, evaluation = yield from solved_guides(*planned_guides(scene, filled, active))
    if controls:
        solved, of_controls = yield from solved_controls(controls)
        steered = yield from steered_keys(scene, solved)
        evaluation = evaluation or of_controls

    def report(guides: Sequence[GuideProof | None] = (), seen: Sequence[Seen | None] = ()) -> Given:
        proved = zip(guided, guides or [None] * len(guided), strict=True)
        entries: list[ChainReport] = [guide_report(*parts) for parts in proved]
        entries += control_reports(solved, steered, seen or [None] * len(solved))
        # In the order in which the chains were given.
        asked = sorted(zip([*onto_objects, *onto_bones], entries, strict=True), key=lambda pair: pair[0])
        return Given([entry for _, entry in asked], evaluation)

    yield Write([*guide_changes(guided, GIVE.name), *control_changes(steered, GIVE.name)], report)
    guides = yield from measured_guides(guided)
    return report(guides, (yield from measured(scene, steered)))


def _by_armature(settings: GiveSettings, active: Object | None) -> Mapping[Object, GiveSettings]:
    """Settings of each armature's chains; raises `ObjectError` where a target does not play the armature's actions."""
    by_object = by_armature(settings, active)
    for armature, chains in by_object.items():
        for chain in chains.chains:
            if not chain.target_bone or chain.target != armature.name:
                with named(chain):
                    raise ObjectError(
                        'Target "{target}" is not a bone of armature "{armature}", so it does not play its actions. Choose a '
                        "control of the rig, or the active action only.",
                        target=chain.target,
                        armature=armature.name,
                    )
    return by_object


GIVE = Task(
    "bake_target",
    TABLES["give"],
    bake_target,
    GiveReport,
    by_armature=_by_armature,
    joined=partial(bake_report, record=GiveReport),
)


PLAIN = {
    "frame_range": "SCENE", "step": 1.0, "keys": "FRAMES", "destination": "ACTION", "end_rotation": "NONE",
    "key_before": False, "key_after": False, "target_root_bone": "", "verify": False,
}  # fmt: skip
"""Key settings for new targets and poles, in place of the stored chain's: a key on every frame, see `_span`."""


def target_keys(scene: Scene, chains: Sequence[StoredChain]) -> Story[list[Change]]:
    """Keys of the new targets of stored chains whose limbs move, from the first to the last key of what moves them.

    At most the scene's range, and all of it where more than plain keys moves a limb. Raises a `TwoBoneError`.

    Where the visible bones follow something else, such as the rig's IK, the target gets the motion of these.
    """
    moving, changes = [], []
    for chain in chains:
        elsewhere = shown_elsewhere(chain.id_data, names_of(chain))
        if elsewhere is not None:
            frames = KeyFrames(frame_grid(*_span(scene, chain, elsewhere), 1.0))
            changes += yield from seen_motion(chain, elsewhere, frames, GIVE.name)
        elif (yield from _moves(scene, chain)):
            settings = stored_settings(chain.id_data, chain, PLAIN)
            moving.append(replace(_over_its_motion(scene, chain, settings), plane="POSE", reference="POSE"))
    if moving:
        guided, _ = yield from solved_guides(*planned_guides(scene, moving, None))
        changes += guide_changes(guided, GIVE.name)
    return changes


def give_motion(scene: Scene, chain: StoredChain) -> None:
    """Key the new target of a stored chain if its limb moves; raises a `TwoBoneError`."""
    write(scene, answered(scene, target_keys(scene, [chain])))


def _span(scene: Scene, chain: StoredChain, elsewhere: Shown | None = None) -> Span:
    """The frames of the scene over which a chain, or the visible bone that shows another motion, moves."""
    starts = [(chain.id_data.name, names_of(chain).lower)] if elsewhere is None else [(elsewhere.armature, elsewhere.bone)]
    return within_motion(motion_span(starts), (float(scene.frame_start), float(scene.frame_end)))


def _over_its_motion(scene: Scene, chain: StoredChain, settings: BakeSettings) -> BakeSettings:
    first, last = _span(scene, chain)
    return replace(settings, frame_range="CUSTOM", frame_start=first, frame_end=last)


def give_pole_motion(scene: Scene, chain: StoredChain) -> None:
    """Key the new pole of a stored chain if its limb moves; the target keeps its own motion."""
    if shown_elsewhere(chain.id_data, names_of(chain)) is not None or not answered(scene, _moves(scene, chain)):
        return
    plain = _over_its_motion(scene, chain, stored_settings(chain.id_data, chain, PLAIN))
    settings = replace(plain, target="", target_bone="", stored="")
    # Without one of its own the chain gets a target for this run, which goes again: the present one keeps its motion.
    (entry,) = run(scene, GIVE, GiveSettings(chains=(settings,))).chains
    remove_object(object_named(entry.target))


def _moves(scene: Scene, chain: StoredChain) -> Story[bool]:
    armature, names = chain.id_data, names_of(chain)
    quantities = [Quantity("WORLD", armature.name, bone) for bone in dict.fromkeys((names.upper, names.lower, names.tip))]
    samples = yield Sample(quantities, KeyFrames(frame_grid(*_span(scene, chain), 1.0)))
    size = max(np.abs(matrices[:, :3, 3]).max() for matrices in samples.values.values()) + max(armature.dimensions)
    return any(np.ptp(matrices, axis=0).max() > STILL * max(size, 1.0) for matrices in samples.values.values())
