"""One chain to bake: the result of planning, as sampling, solving and keying need it."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.array_types import Array, KeyFrames, Mask, SampledFrames
from ...core.rig.bones import RestBone, RestChain
from ...core.rig.limb_normals import Hinges
from ...core.rig.posing import scale_carriers
from ...said import Sentence
from ...scene.blender_types import Channel
from ...scene.bones import ChainNames, location_path, rotation_path, scale_path
from ...scene.keys.tables import Keyed
from ...scene.sampling.quantities import Quantity
from ...settings import BakeSettings

ELSEWHERE = -1
"""Stands for the index of a bone's parent that is not of the chain."""


@dataclass(frozen=True, slots=True)
class SourceLimb:
    """Another character's limb, whose motion a chain of other proportions follows."""

    root: Quantity
    """World matrix of the bone at its root joint."""
    scale: float
    """Distance of the goal from the chain's root joint, divided by that of the target from the source's root joint."""
    turn: Array
    """`(3, 3)` rest orientation of the chain's end bone relative to that of the target bone turned by `heading`, in the world."""
    heading: Array
    """`(3, 3)` rotation about the world's Z axis from the way that the source faces to the way that the armature faces."""


@dataclass(frozen=True, slots=True)
class FootAlong:
    """A foot that the limb's end only meets, whose location is keyed along."""

    bone: RestBone
    channels: Quantity
    above: Quantity | None
    """Pose of its parent; `None` without one."""


@dataclass(frozen=True, slots=True)
class ChainPlan:
    """One chain to bake, found and checked; nothing has been changed yet."""

    settings: BakeSettings
    names: ChainNames
    rest: RestChain
    frames: SampledFrames
    """`(F,)`"""
    report_rows: Array
    """`(K,)` rows of `frames` that get keys unless keys are reduced, and that the report is about."""
    kept_frames: Array
    """Frames that always get a key when keys are reduced, because the target has keys there."""
    reads_scene: bool
    """Whether sampling needs the user's own scene."""
    parent: Quantity | None
    """Pose of the chain's parent bone."""
    constrained: tuple[int, ...]
    """Indices in `rest.bones` of the bones that constraints move."""
    stretched_before: dict[int, tuple[float, ...]]
    """Scales before stretching, by index in `rest.bones`, of the bones that an earlier bake stretched."""
    end_bone: RestBone | None
    """The bone at the tip, if it is rotated."""
    end_parent: int
    """Index in `rest.bones` of the end bone's parent; `ELSEWHERE` for a foot that is keyed along."""
    keyed: dict[Channel, Keyed]
    """Present keys of each channel that may be written, by data path and array index."""
    repeats: bool
    """Whether the animation of the target, or of a bone that turns, is set to repeat."""
    animated_settings: dict[str, Quantity]
    """Settings of the stored chain that are read per frame, by name."""
    notes: tuple[Sentence, ...]
    """Notes for the user before or after the bake."""
    source: SourceLimb | None = None
    """The limb relative to which target and pole are followed; `None` if they are followed directly."""
    hinges: Hinges | None = None
    """Hinge axes at `frames`, found with the help of other frames; `None` if no others were sampled."""
    is_cut: bool = False
    """Whether several takes follow each other in the range, which is then no loop unless the settings say so."""
    along: tuple[FootAlong, ...] = ()
    """Feet keyed along. One that is the end bone comes first."""
    held: Mask | None = None
    """`(K,)` keys that hold until the next one, because the motion does; `None` for none, see `stages.with_steps`."""

    @property
    def report_frames(self) -> KeyFrames:
        """`(K,)` frames of the keys, unless these are reduced, and of the report."""
        return KeyFrames(self.frames[self.report_rows])

    @property
    def within(self) -> tuple[float, float]:
        """First and last frame that gets a key: the range whose keys are replaced. Samples may lie beside it."""
        return float(self.frames[self.report_rows[0]]), float(self.frames[self.report_rows[-1]])

    @property
    def base(self) -> list[Quantity]:
        """What carries the chain: its armature, and the bone that its first one hangs from."""
        return [self.armature_world, *([] if self.parent is None else [self.parent])]

    @property
    def armature_world(self) -> Quantity:
        """World matrix of the armature object."""
        return Quantity("WORLD", self.names.armature)

    @property
    def target_world(self) -> Quantity:
        """World matrix of what the tip follows, for a chain that has a target."""
        return Quantity("WORLD", self.settings.target, self.settings.target_bone)

    @property
    def aims(self) -> list[Quantity]:
        """Quantities needed to find the tip's goal; see `motion.plan_motion.target_matrices`."""
        return [self.target_world, *self.carried_over]

    @property
    def carried_over(self) -> list[Quantity]:
        """World matrices of the root bones of source limb and chain; empty without a source limb."""
        return [self.source.root, Quantity("WORLD", self.names.armature, self.rest.upper.name)] if self.source else []

    @property
    def pole_world(self) -> Quantity | None:
        """World matrix of the pole, which the middle joint points at; `None` without a pole."""
        return Quantity("WORLD", self.settings.pole, self.settings.pole_bone) if self.settings.plane == "POLE" else None

    @property
    def plane_world(self) -> Quantity | None:
        """World matrix of the plane object; `None` without one."""
        return Quantity("WORLD", self.settings.plane_object) if self.settings.plane == "OBJECT" else None

    @property
    def channels(self) -> list[Quantity]:
        """The channels of the chain's bones."""
        return [Quantity("CHANNELS", self.names.armature, bone.name) for bone in self.rest.bones]

    @property
    def poses(self) -> list[Quantity]:
        """The poses of the chain's bones."""
        return [self.pose(index) for index in range(len(self.rest.bones))]

    @property
    def end_pose(self) -> Quantity | None:
        """The pose of the end bone, if it is rotated."""
        return Quantity("POSE", self.names.armature, self.end_bone.name) if self.end_bone else None

    @property
    def end_channels(self) -> Quantity | None:
        """The end bone's channels, if it is rotated."""
        return Quantity("CHANNELS", self.names.armature, self.end_bone.name) if self.end_bone else None

    def pose(self, index: int) -> Quantity:
        """The pose of one bone of the chain."""
        return Quantity("POSE", self.names.armature, self.rest.bones[index].name)

    def keyed_paths(self) -> list[str]:
        """Data paths of all channels that the bake writes."""
        scales = self.scale_paths() if self.settings.reach == "STRETCH" else []
        return [*self.rotation_paths(), *self.along_paths(), *scales]

    def rotation_paths(self) -> list[str]:
        """Data paths of the rotations of all bones that turn, the end bone included."""
        turned = [self.rest.bones[index] for index in self.rest.turning] + ([self.end_bone] if self.end_bone else [])
        return [rotation_path(bone) for bone in turned]

    @property
    def feet_along(self) -> list[RestBone]:
        """The feet that are keyed along."""
        return [foot.bone for foot in self.along]

    def along_paths(self) -> list[str]:
        """Data paths of the locations of feet that are keyed along."""
        return [location_path(foot) for foot in self.feet_along]

    def scale_paths(self) -> list[str]:
        """Data paths of the scales that stretching writes."""
        return [scale_path(self.rest.bones[index]) for index in scale_carriers(self.rest)]

    def stretched_paths(self) -> list[str]:
        """Data paths of the scales that an earlier bake stretched, which the next bake takes back."""
        return [scale_path(self.rest.bones[index]) for index in self.stretched_before]


def target_node(settings: BakeSettings) -> tuple[str, str] | None:
    """What the tip follows, by the names of object and bone; `None` without a target."""
    return (settings.target, settings.target_bone) if settings.target else None


def followed_by(settings: BakeSettings) -> list[tuple[str, str, str]]:
    """Everything the chain follows: role, object name and bone name."""
    followed = [("Target", settings.target, settings.target_bone)] if settings.target else []
    if settings.target_root_bone:
        followed.append(("Target root", settings.target, settings.target_root_bone))
    if settings.plane == "POLE":
        followed.append(("Pole", settings.pole, settings.pole_bone))
    if settings.plane == "OBJECT":
        followed.append(("Plane object", settings.plane_object, ""))
    return followed
