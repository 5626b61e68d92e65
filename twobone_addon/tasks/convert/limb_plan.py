"""The plan of one limb to convert from IK to FK."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.rig.bones import RestBone
from ...errors import TwoBoneError
from ...pipeline.motion.plan_motion import motion_quantities
from ...pipeline.plan.chain_plan import ChainPlan
from ...said import Sentence
from ...scene.bones import IkLimb, ik_constraint, rotation_path, scale_path
from ...scene.sampling.quantities import Quantity


@dataclass(frozen=True, slots=True)
class IkEnd:
    """A property that switches an IK off: the influence of its constraint, or a switch of the rig."""

    path: str
    """Data path."""
    value: float
    """Its value where the IK is off."""
    present: float
    """Its present value."""
    group: str
    """Name of the bone that it belongs to."""
    ik: IkLimb | None
    """The constraint; `None` for a switch."""


@dataclass(frozen=True, slots=True)
class LimbPlan:
    """One limb to convert, found and checked."""

    chain: ChainPlan
    """The chain that gets the keys."""
    shown: tuple[str, ...]
    """Bones whose pose is preserved: those that show the upper, the lower and the tip's bone, then those of `further`."""
    ik: IkLimb | None
    """The constraint that makes the pose; `None` where a rig's switch chooses IK."""
    ends: tuple[IkEnd, ...]
    """Properties that switch its IK off: of `ik` first, then of other constraints on the same two bones; empty if it stays on."""
    keyed_off: bool
    """Whether these are keyed over the range, instead of muting the constraints."""
    further: tuple[tuple[RestBone, ...], ...]
    """Bones below the end that are keyed as well, each as the path from the preceding bone to itself."""
    free_location: tuple[int, ...]
    """Indices of the chain's bones that no constraint but IK moves, so that their location channels stay as they are."""
    scales_refused: TwoBoneError | None
    """Why scales of the turning bones cannot be keyed, if they cannot; raised only where they must be."""
    goes_on: tuple[bool, bool]
    """Whether there is animation before and after the range that must be preserved."""
    influence_refused: TwoBoneError | None
    """Why influences of the constraints cannot be keyed, if they cannot; raised only where they must be."""
    was_off: bool = False
    """Whether the IK has no influence, so that the converted pose is the one without it."""

    @property
    def name(self) -> Sentence:
        """Name of the limb in messages."""
        if self.ik:
            return ik_constraint(self.ik.constraint, self.ik.bone)
        return Sentence('Limb "{bone}"', {"bone": self.shown[0]})

    def scale_paths(self) -> list[str]:
        """Data paths of the turning bones' scales."""
        return [scale_path(self.chain.rest.bones[index]) for index in self.chain.rest.turning]

    def keyed_paths(self) -> set[str]:
        """Data paths that may be keyed: rotations and scales, rotations below the end, and the properties that switch the IK."""
        below = (rotation_path(path[-1]) for path in self.further)
        return {*self.chain.rotation_paths(), *self.scale_paths(), *below, *(end.path for end in self.ends)}

    def shown_pose(self, number: int) -> Quantity:
        """Pose of one bone of `shown`."""
        return Quantity("POSE", self.chain.names.armature, self.shown[number])

    def quantities(self) -> list[Quantity]:
        """Quantities to sample before solving."""
        further = [Quantity("CHANNELS", self.chain.names.armature, bone.name) for path in self.further for bone in path[1:]]
        return [*motion_quantities(self.chain), *self.poses(), *further]

    def poses(self) -> list[Quantity]:
        """Poses of all bones of `shown`."""
        return [self.shown_pose(number) for number in range(len(self.shown))]
