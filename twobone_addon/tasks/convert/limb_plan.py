"""One limb to convert from IK to FK: what planning finds, and what solving needs to know of it."""

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
    """What switches an IK off: the influence of its constraint, or a switch of the rig."""

    path: str
    """Data path."""
    value: float
    """What it holds where the IK is off."""
    present: float
    """What is there now."""
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
    """Bones whose pose is to stay: of the upper, the lower and the tip's bone, then those of `further`."""
    ik: IkLimb | None
    """The constraint, if it is one that makes the pose."""
    ends: tuple[IkEnd, ...]
    """What switches its IK off, the constraint of `ik` first, then others of the same two bones; empty if it is to go on."""
    keyed_off: bool
    """Whether these are keyed over the range, instead of muting the constraints."""
    further: tuple[tuple[RestBone, ...], ...]
    """Bones below the end that are keyed as well, each as the path from the bone before it to itself."""
    free_location: tuple[int, ...]
    """Bones of the plan's chain, by index, that no constraint moves but IK, so their location is their own."""
    scales_refused: TwoBoneError | None
    """Why the scales of the bones that turn could not be keyed, if they have to be."""
    goes_on: tuple[bool, bool]
    """Whether there is anything before and after the range that is to stay as it is."""
    influence_refused: TwoBoneError | None
    """Why the influence of the constraints could not be keyed, if it has to be."""
    was_off: bool = False
    """Whether the IK has no influence, so that the pose is made without it."""

    @property
    def name(self) -> Sentence:
        """What sentences call the limb."""
        if self.ik:
            return ik_constraint(self.ik.constraint, self.ik.bone)
        return Sentence('Limb "{bone}"', {"bone": self.shown[0]})

    def scale_paths(self) -> list[str]:
        """Data paths of the scales of the bones that turn."""
        return [scale_path(self.chain.rest.bones[index]) for index in self.chain.rest.turning]

    def keyed_paths(self) -> set[str]:
        """Data paths of all that may be keyed: rotations and scales, the bones below the end, and what switches the IK."""
        below = (rotation_path(path[-1]) for path in self.further)
        return {*self.chain.rotation_paths(), *self.scale_paths(), *below, *(end.path for end in self.ends)}

    def shown_pose(self, number: int) -> Quantity:
        """Pose of one of the bones that show the limb."""
        return Quantity("POSE", self.chain.names.armature, self.shown[number])

    def quantities(self) -> list[Quantity]:
        """What to sample before solving."""
        further = [Quantity("CHANNELS", self.chain.names.armature, bone.name) for path in self.further for bone in path[1:]]
        return [*motion_quantities(self.chain), *self.poses(), *further]

    def poses(self) -> list[Quantity]:
        """Poses of all bones that show the limb."""
        return [self.shown_pose(number) for number in range(len(self.shown))]
