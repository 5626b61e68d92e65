"""The plan of one limb to convert from IK to FK."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...core.array_types import Array
from ...core.arrays import magnitude
from ...core.curves.frames import merge_frames
from ...core.rig.bones import RestBone
from ...errors import TwoBoneError
from ...pipeline.motion.plan_motion import motion_quantities
from ...pipeline.plan.chain_plan import ChainPlan
from ...said import Sentence
from ...scene.bones import IkLimb, ik_constraint, rotation_path, scale_path
from ...scene.sampling.quantities import Quantity, Samples


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
class FurtherBone:
    """A bone below the end that is keyed as well, such as a toe."""

    path: tuple[RestBone, ...]
    """Bones from one that is keyed before it down to itself."""
    below: int
    """Index in `LimbPlan.shown` of that one."""


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
    further: tuple[FurtherBone, ...]
    """Bones below the end that are keyed as well."""
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
    overridden: tuple[IkEnd, ...] = ()
    """Influences of other constraints that turn the same bones, over which the IK has the last word."""
    from_shown: tuple[Array, ...] = ()
    """`(4, 4)` pose of each keyed bone in the space of the bone that shows it; empty where they have the same pose."""
    strip_frames: Array = field(default_factory=lambda: np.zeros(0))
    """Frames between whole ones at which the scene's frames fall where strips play the action."""

    @property
    def name(self) -> Sentence:
        """Name of the limb in messages."""
        if self.ik:
            return ik_constraint(self.ik.constraint, self.ik.bone)
        return Sentence('Limb "{bone}"', {"bone": self.shown[0]})

    @property
    def longest_link(self) -> float:
        """Length at rest of the longest link: points this far beside the bones show what is seen of their rotation."""
        return float(magnitude(np.diff(self.chain.rest.rest_joints(), axis=0)).max())

    @property
    def seen_frames(self) -> Array:
        """Frames that are measured: those that may get keys, and those between them that strips of the action play."""
        return merge_frames(self.chain.report_frames, self.strip_frames)

    def scale_paths(self) -> list[str]:
        """Data paths of the turning bones' scales."""
        return [scale_path(self.chain.rest.bones[index]) for index in self.chain.rest.turning]

    def keyed_paths(self) -> set[str]:
        """Data paths that may be keyed: rotations and scales, rotations below the end, and the properties that switch the IK."""
        below = (rotation_path(bone.path[-1]) for bone in self.further)
        return {*self.chain.rotation_paths(), *self.scale_paths(), *below, *(end.path for end in self.ends)}

    def quantities(self) -> list[Quantity]:
        """Quantities to sample before solving."""
        paths = [bone.path[1:] for bone in self.further]
        further = [Quantity("CHANNELS", self.chain.names.armature, bone.name) for path in paths for bone in path]
        return [*motion_quantities(self.chain), *self.poses(), *further]

    def poses(self) -> list[Quantity]:
        """Poses of all bones of `shown`."""
        return [Quantity("POSE", self.chain.names.armature, bone) for bone in self.shown]

    def posed(self, samples: Samples) -> Array:
        """Poses `(B, F, 4, 4)`, armature space, that the keyed bones must have for the bones of `shown` to be where they are."""
        poses = np.stack([samples.every(pose) for pose in self.poses()])
        return poses @ np.stack(self.from_shown)[:, None] if self.from_shown else poses
