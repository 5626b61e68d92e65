"""Find Limbs: add the arms and legs of a character to its list of chains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...errors import ObjectError
from ...pipeline.task import Outcome, Span, Task
from ...scene.blender_types import Object, Scene
from ...scene.bones import ChainNames
from ...scene.lookup import find_armature, object_named
from ...settings.tasks import TABLES, FindLimbsSettings
from ..give.guides import TARGET_SHAPE, add_guide, guide_name, seen_target_guide
from ..give.task import give_motion
from .finding import FoundLimbs, found_limbs, store_limbs
from .limbs_report import LimbsReport, said_left_out, said_named


@dataclass(frozen=True, slots=True)
class LimbsPlan:
    """The limbs of one armature."""

    armature: str
    found: FoundLimbs
    targets: bool
    """Whether limbs without a target get one."""


class FindLimbs(Task[FindLimbsSettings, LimbsPlan, LimbsPlan, None]):
    """Add a chain for every arm and leg of an armature that has none yet."""

    NAME = "find_limbs"
    TABLE = TABLES["find_limbs"]
    REPORT = LimbsReport

    def plan(self, scene: Scene, settings: FindLimbsSettings, active: Object | None, span: Span | None) -> LimbsPlan:
        """Find the limbs of the named or active armature, or of the scene's only one."""
        armatures = [thing for thing in scene.objects if thing.type == "ARMATURE"]
        if (active is None or active.type != "ARMATURE") and len(armatures) == 1:
            active = armatures[0]
        armature = find_armature(settings.armature, active)
        if not armature.is_editable:
            raise ObjectError(
                'Armature "{armature}" is linked from another file. Make it local or override it first.', armature=armature.name
            )
        return LimbsPlan(armature.name, found_limbs(scene, armature), settings.targets)

    def write(self, scene: Scene, plan: LimbsPlan, solution: LimbsPlan, begun: Any) -> LimbsPlan:
        """Store a chain for each limb, and add an empty at the tip of those without a target."""
        armature = object_named(plan.armature)
        store_limbs(armature, plan.found)
        chains = [armature.twobone.chains[record.chain] for record in plan.found] if plan.targets else []
        without_target = [chain for chain in chains if chain.target is None]
        for chain in without_target:
            tail = chain.tip_end == "TAIL"
            names = ChainNames(armature.name, chain.upper, chain.lower, chain.tip or chain.lower, tail)
            guide, name = seen_target_guide(armature, names), guide_name("Target", armature, names)
            chain.target = add_guide(scene, armature, guide, name=name, size=guide.size, shape=TARGET_SHAPE)
        if without_target:
            give_motion(scene, without_target)
        return plan

    def report(self, outcome: Outcome[LimbsPlan, LimbsPlan, None]) -> LimbsReport:
        """Report of the limbs found, and of what was left out and why."""
        plan = outcome.done[0].plan
        limbs = [record.report(rest_stands=plan.found.limbs_from == "REST") for record in plan.found]
        return LimbsReport(
            armature=plan.armature,
            limbs=limbs,
            left_out=list(plan.found.left_out),
            limbs_from=plan.found.limbs_from,
            rest_is_no_pose=plan.found.rest_is_no_pose,
            sides_differ=plan.found.sides_differ,
            notes=[*said_named(limbs), *said_left_out(plan.found.left_out), *outcome.unused],
        )


FIND_LIMBS = FindLimbs()
