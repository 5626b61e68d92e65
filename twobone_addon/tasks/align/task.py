"""Make the hinges of a chain single rotation channels, so that a bake writes one curve per joint.

An act of its own, never part of a bake: it changes rotation modes and, if asked, rolls. The visible motion stays: poses are
carried over, and rotation keys are converted, with as many more keys as it takes to keep the motion between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...core.rig.bones import RestBone
from ...core.rig.hinges import ORDERS, Y_AXIS, roll_to_axis, rolled
from ...errors import ChainError
from ...pipeline.report.reports import WholeReport
from ...pipeline.task import Outcome, Span, Task
from ...said import Sentence, joined, note
from ...scene.blender_types import Object, Scene
from ...scene.keys.guarding import refuse_unconvertible
from ...scene.keys.rotation_channels import euler_path, read_rotation_channels, set_rotation_mode
from ...scene.lookup import object_named
from ...scene.rig.rolling import change_rolls, refuse_unrollable
from ...settings.tasks import TABLES, AlignSettings
from .chain_plane import ON_AXIS
from .hinges import FOUR_CHANNELS, Hinge, chain_hinges, degrees_off
from .mode_conversion import Converted, converted


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignReport(WholeReport):
    """What became of the hinges of chains."""

    KIND: ClassVar[str] = "align"

    armatures: list[str]
    changed: list[str]
    """Bones that now need one channel only, and did not before. `notes` say why others do not."""

    @property
    def is_changed(self) -> bool:
        """Whether any bone is otherwise now."""
        return bool(self.changed)

    @property
    def summary(self) -> Sentence:
        """Which bones were aligned."""
        if not self.changed:
            return Sentence("All hinges are aligned already.")
        return Sentence("Hinges aligned: {bones}.", {"bones": ", ".join(self.changed)})


@dataclass(frozen=True, slots=True)
class Change:
    """What one bone needs."""

    bone: RestBone
    mode: str
    roll: float
    rotation: Converted


@dataclass(frozen=True, slots=True)
class AlignPlan:
    """What the bones of some chains need."""

    changes: Mapping[str, Sequence[Change]]
    """By the armature's name."""
    left: Sequence[Sentence]
    """One sentence for each bone that stays as it is."""


class AlignHinges(Task[AlignSettings, AlignPlan, AlignPlan, None]):
    """Set the rotation mode of each bone of a chain that is a hinge, and if asked its roll, so that it is one channel.

    The mode is an Euler order that applies the hinge last. Bones that are so already are not touched. Refused where no bone
    can be aligned, or where the visible motion could not be kept.
    """

    NAME = "align"
    TABLE = TABLES["align"]
    REPORT = AlignReport

    def plan(self, scene: Scene, settings: AlignSettings, active: Object | None, span: Span | None) -> AlignPlan:
        """What each bone of the chains needs; two chains may share some."""
        changes: dict[str, dict[str, Change]] = {}
        left: dict[Sentence, None] = {}
        is_any_hinge = False
        for chain in settings.chains:
            armature, hinges = chain_hinges(chain, active)
            own = changes.setdefault(armature.name, {})
            for hinge in hinges:
                why = _why_not(hinge, roll=settings.roll)
                if why:
                    left[note('Bone "{bone}" is left unchanged: {reason}.', bone=hinge.bone.name, reason=why)] = None
                    continue
                is_any_hinge = True
                if hinge.bone.name not in own:
                    own |= {change.bone.name: change for change in _changes(armature, hinge)}
                    if own.get(hinge.bone.name) and own[hinge.bone.name].roll:
                        refuse_unrollable(armature, hinge.bone.name)
        if not is_any_hinge:
            raise ChainError(joined(left))
        return AlignPlan({name: list(own.values()) for name, own in changes.items()}, list(left))

    def paths(self, plan: AlignPlan, solution: AlignPlan) -> set[tuple[Object, str]]:
        """The rotations of the bones."""
        found = [(object_named(name), change) for name, changes in plan.changes.items() for change in changes]
        return {(armature, path) for armature, change in found for path in change.rotation.paths}

    def write(self, scene: Scene, plan: AlignPlan, solution: AlignPlan, begun: Any) -> AlignPlan:
        """Rolls first, then modes with their keys."""
        for name, changes in plan.changes.items():
            armature, rolls = object_named(name), {change.bone.name: change.roll for change in changes if change.roll}
            if rolls:
                change_rolls(armature, rolls)
            for change in changes:
                rotation = change.rotation
                set_rotation_mode(
                    armature,
                    change.bone.name,
                    change.mode,
                    value=rotation.value,
                    keys=rotation.keys,
                    types=rotation.types,
                    paths=rotation.paths,
                )
        return plan

    def report(self, outcome: Outcome[AlignPlan, AlignPlan, None]) -> AlignReport:
        """Which bones are otherwise now, and why others are not."""
        plan = outcome.done[0].plan
        changed = [change.bone.name for changes in plan.changes.values() for change in changes]
        return AlignReport(armatures=list(plan.changes), changed=changed, notes=[*plan.left, *outcome.unused])


ALIGN = AlignHinges()


def _why_not(hinge: Hinge, *, roll: bool) -> Sentence | None:
    """Why a bone's hinge cannot be one of its axes, as the end of a sentence; `None` where it can."""
    if hinge.axis is None:
        return hinge.reason
    if hinge.channel is not None:
        return None
    if abs(hinge.axis @ Y_AXIS) > ON_AXIS:
        lean = np.degrees(np.arcsin(min(abs(hinge.axis @ Y_AXIS), 1.0)))
        return Sentence("its hinge is {angle:.2g} degrees off perpendicular; no roll can align it", {"angle": float(lean)})
    angle = {"angle": degrees_off(hinge.axis)}
    return None if roll else Sentence("its hinge is {angle:.2g} degrees off its nearest axis; allow its roll to change", angle)


def _changes(armature: Object, hinge: Hinge) -> Iterator[Change]:
    """The change that a bone needs, if it needs one."""
    bone = hinge.bone
    change = 0.0 if hinge.channel is not None or hinge.axis is None else roll_to_axis(hinge.axis)
    channel = int(np.argmax(np.abs(rolled(change).T @ hinge.axis)))
    channels = read_rotation_channels(armature, bone)
    is_euler = bone.rotation_mode not in FOUR_CHANNELS
    applied_last = is_euler and bone.rotation_mode[-1] == "XYZ"[channel]
    if not change and is_euler and (applied_last or not channels.turns_beside(channel)):
        return
    refuse_unconvertible(armature, [channels.path, euler_path(bone)], bone.name)
    mode = bone.rotation_mode if applied_last else ORDERS[channel]
    yield Change(bone, mode, change, converted(armature, bone, mode, rolled(change)))
