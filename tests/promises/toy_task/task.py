"""Lift Limb: the upper bone of a limb moves along its own Z axis, all of its motion by the same distance."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from twobone_addon.core.array_types import Array
from twobone_addon.core.curves.frames import frame_grid
from twobone_addon.errors import ChainError
from twobone_addon.pipeline.beginning import Beginning, Reach
from twobone_addon.pipeline.clips import in_words
from twobone_addon.pipeline.plan.frame_choice import frame_range
from twobone_addon.pipeline.report.reports import Refused, WholeReport
from twobone_addon.pipeline.task import Look, Outcome, Span, Task, with_range
from twobone_addon.said import Sentence
from twobone_addon.scene.blender_types import Object, Scene
from twobone_addon.scene.bones import location_path, read_rest_bone
from twobone_addon.scene.keys.guarding import refuse_stretched_time, refuse_unwritable
from twobone_addon.scene.keys.replaced import limb_name
from twobone_addon.scene.keys.tables import ChannelKeys
from twobone_addon.scene.keys.writing import Change, put
from twobone_addon.scene.lookup import find_armature, object_named
from twobone_addon.scene.sampling.quantities import Quantity
from twobone_addon.scene.sampling.stepping import Steps
from twobone_addon.settings import BakeSettings
from twobone_addon.settings.options import (
    CUSTOM,
    Group,
    Settings,
    actions_option,
    bone_option,
    end_option,
    number_option,
    object_option,
    range_option,
    start_option,
)
from twobone_addon.settings.tasks import Table


@dataclass(frozen=True)
class LiftSettings(Settings):
    """Which bone is lifted, how far, and when."""

    armature: str = object_option(Group.CHAIN, "Armature", "Armature of the bone. Leave empty to use the active object")
    bone: str = bone_option(Group.CHAIN, "Bone", "Upper bone of the limb. Leave empty for the first limb of the list")
    height: float = number_option(Group.REACH, 0.1, "Height", "How far it is lifted", unit="LENGTH")
    actions: str = actions_option()
    frame_range: str = range_option("Frames to lift the limb at", CUSTOM)
    frame_start: float = start_option("First frame of the range")
    frame_end: float = end_option("Last frame of the range")


@dataclass(frozen=True, slots=True, kw_only=True)
class LiftReport(WholeReport):
    """What became of the bone."""

    KIND: ClassVar[str] = "lift"

    bone: str
    lifted: float | None
    """Least distance that Blender's evaluation shows; `None` where nothing was measured."""
    refused: list[Refused]

    @property
    def summary(self) -> Sentence:
        """Which bone it was."""
        return Sentence('Bone "{bone}" is lifted.', {"bone": self.bone})


@dataclass(frozen=True, slots=True)
class LiftPlan:
    """The bone, and the frames `(F,)` at which it is lifted."""

    location: Quantity
    path: str
    frames: Array
    height: float


class Lift(Task[LiftSettings, LiftPlan, Array, Array]):
    """Lift a limb."""

    NAME = "lift"
    TABLE = Table("lift", LiftSettings, "Lift Limb", "Move the upper bone of a limb along its own Z axis")
    REPORT = LiftReport

    def plan(self, scene: Scene, settings: LiftSettings, active: Object | None, span: Span | None) -> LiftPlan:
        """The bone and the frames; all refusals are here."""
        armature = find_armature(settings.armature, active)
        refuse_stretched_time(scene)
        name = settings.bone or next((chain.upper for chain in armature.twobone.chains), "")
        if name not in armature.pose.bones:
            raise ChainError(
                'Bone "{bone}" is not in armature "{armature}". Choose one of its bones.', bone=name, armature=armature.name
            )
        path = location_path(read_rest_bone(armature.pose.bones[name]))
        refuse_unwritable(armature, [path], "ACTION")
        times = {name: getattr(settings, name) for name in ("frame_range", "frame_start", "frame_end")}
        wanted = BakeSettings(armature=armature.name, **times)
        first, last = frame_range(scene, wanted if span is None else with_range(wanted, span))
        return LiftPlan(Quantity("CHANNELS", armature.name, name), path, frame_grid(first, last, 1.0), settings.height)

    def reaches(self, plan: LiftPlan) -> list[Reach]:
        """The bone's location."""
        return [Reach(plan.location.object, {plan.path}, (float(plan.frames[0]), float(plan.frames[-1])))]

    def solve(self, plan: LiftPlan, begun: Any, look: Look) -> Steps[Array]:
        """Locations `(F, 3)`."""
        samples = yield from look([plan.location], plan.frames)
        return samples.every(plan.location)[:, :3] + [0.0, 0.0, plan.height]

    def paths(self, plan: LiftPlan, solution: Array) -> set[tuple[Object, str]]:
        """The bone's location."""
        return {(object_named(plan.location.object), plan.path)}

    def write(self, scene: Scene, plan: LiftPlan, solution: Array, begun: Beginning) -> Array:
        """Key it."""
        keys = [ChannelKeys(plan.path, axis, plan.location.bone, plan.frames, solution[:, axis], "LINEAR") for axis in range(3)]
        within = float(plan.frames[0]), float(plan.frames[-1])
        limb = limb_name(plan.location.object, plan.location.bone)
        put([Change(plan.location.object, keys, within, self.NAME, limb)], begun.earlier)
        return solution

    def prove(self, plan: LiftPlan, solution: Array, look: Look) -> Steps[Array]:
        """Distances `(F,)` between where the bone was and where Blender has it now, as it ought to be lifted."""
        samples = yield from look([plan.location], plan.frames)
        return plan.height + samples.every(plan.location)[:, 2] - solution[:, 2]

    def report(self, outcome: Outcome[LiftPlan, Array, Array]) -> LiftReport:
        """The least that was lifted."""
        proofs = [done.proof for done in outcome.done if done.proof is not None]
        count = len(outcome.done) + len(outcome.refused)
        return LiftReport(
            bone=outcome.done[0].plan.location.bone,
            lifted=float(np.min(np.concatenate(proofs))) if proofs else None,
            refused=list(outcome.refused),
            notes=[*in_words(outcome.refused, count), *outcome.unused],
        )


LIFT = Lift()
