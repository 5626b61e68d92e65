"""One chain to bake: what planning finds, and what sampling, solving and keying need to know of it."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.array_types import Array
from ...core.rig.bones import RestBone, RestChain
from ...core.rig.limb_normals import Hinges
from ...core.rig.posing import scale_carriers
from ...said import Sentence
from ...scene.bones import ChainNames, rotation_path, scale_path
from ...scene.keys.tables import Keyed
from ...scene.sampling.quantities import Quantity
from ...settings import BakeSettings


@dataclass(frozen=True, slots=True)
class SourceLimb:
    """Another character's limb, whose motion a chain of other proportions follows."""

    root: Quantity
    """Where its root joint is, in the world."""
    scale: float
    """How many times as far from the chain's root joint its target is as the source is from its own."""
    turn: Array
    """`(3, 3)` from the orientation of the chain's end bone at rest to that of the target, both in the world."""


@dataclass(frozen=True, slots=True)
class ChainPlan:
    """One chain to bake, found and checked; nothing has been changed yet."""

    settings: BakeSettings
    names: ChainNames
    rest: RestChain
    frames: Array
    """`(F,)` all that are sampled and solved."""
    report_rows: Array
    """`(K,)` which of them the report is about: those of the full rate, without the moments in between."""
    kept_frames: Array
    """Frames that always get a key when keys are reduced, for the target's sake."""
    reads_scene: bool
    """Sampling needs the user's own scene."""
    parent: Quantity | None
    """Pose of the chain's parent bone."""
    constrained: tuple[int, ...]
    """Which bones of the chain constraints move, by their index in `rest.bones`."""
    stretched_before: dict[int, tuple[float, ...]]
    """Own scales of the chain's bones, by index, that an earlier bake stretched."""
    end_bone: RestBone | None
    """The bone at the tip, where it is rotated."""
    end_parent: int
    """Index in `rest.bones` of the end bone's parent."""
    keyed: dict[tuple[str, int], Keyed]
    """How each channel that may be written is keyed now, by data path and index."""
    repeats: bool
    """The target, or one of the bones that turn, is made to repeat."""
    animated_settings: dict[str, Quantity]
    """Settings of the stored chain that are read per frame, by name."""
    notes: tuple[Sentence, ...]
    """What a person should know before or after the bake."""
    source: SourceLimb | None = None
    """The limb from which target and pole are taken over; `None` where they are followed where they are."""
    hinges: Hinges | None = None
    """What other frames have told about the limb's bend, at these `frames`; `None` where nobody has looked at others."""

    @property
    def report_frames(self) -> Array:
        """`(K,)` the frames that the report is about."""
        return self.frames[self.report_rows]

    @property
    def armature_world(self) -> Quantity:
        """The armature object."""
        return Quantity("WORLD", self.names.armature)

    @property
    def target_world(self) -> Quantity:
        """What the tip follows, of a chain that has a target."""
        return Quantity("WORLD", self.settings.target, self.settings.target_bone)

    @property
    def aims(self) -> list[Quantity]:
        """What must be known to find the tip's goal; see `motion.plan_motion.target_matrices`."""
        return [self.target_world, *self.carried_over]

    @property
    def carried_over(self) -> list[Quantity]:
        """The root joints of the source and of the chain, in the world, where one is taken over to the other."""
        return [self.source.root, Quantity("WORLD", self.names.armature, self.rest.upper.name)] if self.source else []

    @property
    def pole_world(self) -> Quantity | None:
        """What the middle joint points at."""
        return Quantity("WORLD", self.settings.pole, self.settings.pole_bone) if self.settings.plane == "POLE" else None

    @property
    def plane_world(self) -> Quantity | None:
        """What spans the plane."""
        return Quantity("WORLD", self.settings.plane_object) if self.settings.plane == "OBJECT" else None

    @property
    def channels(self) -> list[Quantity]:
        """The channels of the chain's bones."""
        return [Quantity("CHANNELS", self.names.armature, bone.name) for bone in self.rest.bones]

    @property
    def poses(self) -> list[Quantity]:
        """The posed bones of the chain."""
        return [self.pose(index) for index in range(len(self.rest.bones))]

    @property
    def end_pose(self) -> Quantity | None:
        """The posed end bone."""
        return Quantity("POSE", self.names.armature, self.end_bone.name) if self.end_bone else None

    @property
    def end_channels(self) -> Quantity | None:
        """The end bone's channels."""
        return Quantity("CHANNELS", self.names.armature, self.end_bone.name) if self.end_bone else None

    def pose(self, index: int) -> Quantity:
        """One posed bone of the chain."""
        return Quantity("POSE", self.names.armature, self.rest.bones[index].name)

    def keyed_paths(self) -> list[str]:
        """Data paths of all channels that the bake writes."""
        return self.rotation_paths() + (self.scale_paths() if self.settings.reach == "STRETCH" else [])

    def rotation_paths(self) -> list[str]:
        """Data paths of the rotations of all bones that turn, the end bone included."""
        turned = [self.rest.bones[index] for index in self.rest.turning] + ([self.end_bone] if self.end_bone else [])
        return [rotation_path(bone) for bone in turned]

    def scale_paths(self) -> list[str]:
        """Data paths of the scales that stretching writes."""
        return [scale_path(self.rest.bones[index]) for index in scale_carriers(self.rest)]

    def stretched_paths(self) -> list[str]:
        """Data paths of the scales that an earlier bake stretched, which the next one takes back."""
        return [scale_path(self.rest.bones[index]) for index in self.stretched_before]
