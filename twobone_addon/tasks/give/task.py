"""Bake Target from Chain: transfer a chain's motion to its target and pole, objects or controls of its rig."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from ...core.curves.frames import frame_grid
from ...errors import ObjectError
from ...pipeline.beginning import Beginning
from ...pipeline.clips import bake_report
from ...pipeline.motion.sampling import sample
from ...pipeline.plan.completing import StoredChain, names_of, stored_settings
from ...pipeline.plan.planning import ChainPlan
from ...pipeline.report.reports import BakeReport, ReportEntry
from ...pipeline.run import run
from ...pipeline.task import Done, Look, Outcome, Span, Task, with_range
from ...scene.blender_types import Object, Scene
from ...scene.keys.writing import put
from ...scene.lookup import object_named
from ...scene.new_objects import remove_object
from ...scene.sampling.quantities import Quantity
from ...scene.sampling.stepping import Steps
from ...scene.visible.visible_bone import shown_bone
from ...settings import BakeSettings
from ...settings.tasks import TABLES, GiveSettings
from .baking import Guided, GuideProof, guide_changes, guide_report, measured_guides, planned_guides, solved_guides, with_rotation
from .controls.baking import SolvedControls, control_reports, measured, planned_controls, solved_controls, steered_keys
from .controls.control_keys import SteeredKeys, control_changes
from .controls.goals import Seen
from .controls.plans import ControlPlan
from .guides import missing_guides


@dataclass(frozen=True, slots=True)
class GivePlan:
    """Chains whose motion is baked onto objects, and chains whose motion is baked onto controls."""

    scene: Scene
    active: Object | None
    onto_objects: Sequence[BakeSettings]
    """Settings as requested; missing guides are made when the run begins."""
    controls: Sequence[ControlPlan]
    order: Sequence[int]
    """Position of each chain among all requested ones: first of `onto_objects`, then of `controls`."""


@dataclass(frozen=True, slots=True)
class _Begun:
    """Plans of the chains baked onto objects, and these objects, which all exist now."""

    plans: Sequence[ChainPlan]
    things: Sequence[Sequence[Object]]
    beginning: Beginning


@dataclass(frozen=True, slots=True)
class Given:
    """The solution: keys of objects and controls."""

    guided: Sequence[Guided]
    solved: Sequence[SolvedControls]
    steered: Sequence[SteeredKeys]
    evaluation: str | dict[str, str]


GivenProof = tuple[Sequence[GuideProof | None], Sequence[Seen | None]]


class Give(Task[GiveSettings, GivePlan, Given, GivenProof]):
    """Key the targets and poles of chains so that following them reproduces the present motion: the reverse of Bake.

    Controls act through the rig's own IK, which only Blender can evaluate: their keys are found by trial in copies of the
    actions, before anything is written.
    """

    NAME = "bake_target"
    TABLE = TABLES["give"]

    def by_armature(self, settings: GiveSettings, active: Object | None) -> Mapping[Object, GiveSettings]:
        """Settings of each armature's chains; raises `ObjectError` where a target does not play the armature's actions."""
        found = super().by_armature(settings, active)
        for armature, own in found.items():
            for chain in own.chains:
                if not chain.target_bone or chain.target != armature.name:
                    raise ObjectError(
                        'Target "{target}" is not a bone of armature "{armature}", so it does not play its actions. Choose a '
                        "control of the rig, or the active action only.",
                        target=chain.target,
                        armature=armature.name,
                    )
        return found

    def plan(self, scene: Scene, settings: GiveSettings, active: Object | None, span: Span | None) -> GivePlan:
        """Plan the controls of chains that follow bones; chains that follow objects are planned in `begun`."""
        wanted = [with_rotation(chain) if settings.rotate else chain for chain in settings.chains]
        wanted = [chain if span is None else with_range(chain, span) for chain in wanted]
        onto_bones = [number for number, chain in enumerate(wanted) if chain.target_bone]
        onto_objects = [number for number, chain in enumerate(wanted) if not chain.target_bone]
        controls = planned_controls(scene, [wanted[number] for number in onto_bones], active)
        return GivePlan(scene, active, [wanted[number] for number in onto_objects], controls, [*onto_objects, *onto_bones])

    @contextmanager
    def begun(self, scene: Scene, plan: GivePlan, beginning: Beginning) -> Iterator[_Begun]:
        """Make missing targets and poles, and plan the chains baked onto objects."""
        with missing_guides(scene, plan.onto_objects, plan.active) as filled:
            plans, things = planned_guides(scene, filled, plan.active) if filled else ([], [])
            yield _Begun(plans, things, beginning)

    def solve(self, plan: GivePlan, begun: _Begun, look: Look) -> Steps[Given]:
        """Find all keys, those of controls by trial."""
        guided, evaluation = [], ""
        if begun.plans:
            guided, evaluation = yield from solved_guides(begun.plans, begun.things, look)
        if not plan.controls:
            return Given(guided, [], [], evaluation)
        solved, control_evaluation = yield from solved_controls(plan.controls, look)
        steered = yield from steered_keys(plan.scene, solved)
        return Given(guided, solved, steered, evaluation or control_evaluation)

    def paths(self, plan: GivePlan, solution: Given) -> set[tuple[Object, str]]:
        """Keyed data paths of objects and controls: location, rotation and scale."""
        objects = {(guide.thing, key.path) for chain in solution.guided for guide in chain.guides for key in guide.keys}
        controls = [(name, key.path) for each in solution.steered for name, keys in each.keys.items() for key in keys]
        return objects | {(object_named(name), path) for name, path in controls}

    def write(self, scene: Scene, plan: GivePlan, solution: Given, begun: _Begun) -> Given:
        """Write all keys."""
        put([*guide_changes(solution.guided, self.NAME), *control_changes(solution.steered, self.NAME)], begun.beginning.earlier)
        return solution

    def prove(self, plan: GivePlan, solution: Given, look: Look) -> Steps[GivenProof]:
        """Measure where the objects are, and what the rig's IK does with its keyed controls."""
        guides = yield from measured_guides(solution.guided, look)
        return guides, (yield from measured(plan.scene, solution.steered))

    def judge(self, scene: Scene, done: Done[GivePlan, Given, GivenProof]) -> list[ReportEntry]:
        """One entry for each chain, in the requested order."""
        given = done.solution
        guides, seen = done.proof or ([None] * len(given.guided), [None] * len(given.solved))
        entries: list[ReportEntry] = [guide_report(*each) for each in zip(given.guided, guides, strict=True)]
        entries += control_reports(given.solved, given.steered, seen)
        return [entry for _, entry in sorted(zip(done.plan.order, entries, strict=True), key=lambda pair: pair[0])]

    def report(self, outcome: Outcome[GivePlan, Given, GivenProof]) -> BakeReport:
        """Report of all chains in all actions."""
        return bake_report(outcome)


GIVE = Give()


STILL = 1e-6
"""Movement, relative to the armature's size and distance from the world origin, below which a bone is still: single precision."""

PLAIN = {
    "frame_range": "SCENE", "step": 1.0, "keys": "FRAMES", "destination": "ACTION", "end_rotation": "NONE",
    "key_before": False, "key_after": False, "target_root_bone": "", "verify": False,
}  # fmt: skip
"""Key settings for new targets and poles, in place of the stored chain's: a key on every frame of the scene's range."""


def give_motion(scene: Scene, chains: Sequence[StoredChain]) -> None:
    """Key the new targets of stored chains whose limbs move, over the scene's range; raises a `TwoBoneError`.

    A limb whose visible bones follow something else gets no keys: its target stays where these bones are now.
    """
    moving = [stored_settings(chain.id_data, chain, PLAIN) for chain in chains if _moves(scene, chain)]
    if moving:
        run(scene, GIVE, GiveSettings(chains=tuple(replace(each, plane="POSE", reference="POSE") for each in moving)))


def give_pole_motion(scene: Scene, chain: StoredChain) -> None:
    """Key the new pole of a stored chain if its limb moves; the target keeps its own motion."""
    if not _moves(scene, chain):
        return
    settings = replace(stored_settings(chain.id_data, chain, PLAIN), target="", target_bone="", stored="")
    (entry,) = run(scene, GIVE, GiveSettings(chains=(settings,))).entries
    remove_object(object_named(entry.chain.target))


def _moves(scene: Scene, chain: StoredChain) -> bool:
    armature, names = chain.id_data, names_of(chain)
    shown = shown_bone(armature, names)
    if shown is not None and not shown.follows:
        return False
    frames = frame_grid(float(scene.frame_start), float(scene.frame_end), 1.0)
    wanted = [Quantity("WORLD", armature.name, bone) for bone in dict.fromkeys((names.upper, names.lower, names.tip))]
    values = sample(scene, wanted, frames).values
    size = max(np.abs(matrices[:, :3, 3]).max() for matrices in values.values()) + max(armature.dimensions)
    return any(np.ptp(matrices, axis=0).max() > STILL * max(size, 1.0) for matrices in values.values())
