"""From settings to a plan: which bones, which frames, what to sample. Everything that can be refused is refused here."""

from __future__ import annotations

from dataclasses import dataclass

from ..array_types import Array
from ..errors import ChainError, DependencyError
from ..rig.bones import RestBone, RestChain
from ..rig.planes import nearest_letters
from ..rig.scaling import bone_that_stops_stretch, scale_carriers
from ..scene.blender_types import Object, Scene
from ..scene.chain_finding import ChainNames, chain_from_names, chain_from_selection
from ..scene.clearing import has_baked_keys
from ..scene.constraints import is_acting, is_constrained
from ..scene.dependencies import Dependencies, dependencies
from ..scene.guarding import refuse_unwritable
from ..scene.keys_reading import is_animated
from ..scene.lookup import find_armature, find_object, objects_by_name, rotation_path, scale_path
from ..scene.rest_reading import read_rest_bone, read_rest_chain, starts_at_tail
from ..scene.sampling import Quantity
from ..scene.versions import curve_bag
from ..settings import BakeSettings
from .frame_choice import choose_frames

ANIMATABLE = ("influence", "bend")
"""Settings of a stored chain that are read per frame where they are animated."""


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
    reads_scene: bool
    """Sampling needs the user's own scene."""
    parent: Quantity | None
    """Pose of the bone that the chain hangs from."""
    constrained: tuple[int, ...]
    """Which bones of the chain constraints move, by their index in `rest.bones`."""
    stretched_before: tuple[int, ...]
    """Which bones of the chain have scales that an earlier bake stretched; their own scale is 1."""
    end_bone: RestBone | None
    """The bone at the tip, where it is to be turned."""
    end_parent: int
    """Index in `rest.bones` of the bone that the end bone hangs from."""
    animated_settings: dict[str, Quantity]
    """Settings of the stored chain that are read per frame, by name."""
    notes: tuple[str, ...]
    """What a person should know before or after the bake."""

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
        """What the tip follows."""
        return Quantity("WORLD", self.settings.target, self.settings.target_bone)

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


def plan_chain(
    scene: Scene, settings: BakeSettings, active: Object | None, *, writes: bool = True, follows: bool = True
) -> ChainPlan:
    """Find and check everything that a bake with these settings needs; raises a `TwoBoneError` where it is not there.

    Without `writes` the chain is only looked at, and need not be able to take keys. Without `follows` its target is only
    there to be named: somebody else says where the tip is to be.
    """
    armature = find_armature(settings.armature, active)
    names = chain_names(armature, settings)
    target = find_object("Target", settings.target, settings.target_bone)
    rest = read_rest_chain(armature, names, all_joints=settings.joints == "ALL")
    _refuse_broken_stretch(settings, rest)
    _refuse_other_limits(settings, rest)
    end_bone, end_parent = end_bone_of(armature, settings, names, rest)
    parent = armature.pose.bones[names.upper].parent
    followed = _followed(settings, follows=follows)
    chosen = choose_frames(scene, settings, target, armature, [bone.name for bone in rest.bones])
    plan = ChainPlan(
        settings=settings,
        names=names,
        rest=rest,
        frames=chosen.sampled,
        report_rows=chosen.reported,
        reads_scene=_reads_scene(armature, followed, names, rest),
        parent=Quantity("POSE", armature.name, parent.name) if parent else None,
        constrained=tuple(i for i, bone in enumerate(rest.bones) if is_constrained(armature.pose.bones[bone.name])),
        stretched_before=_stretched_before(armature, rest, chosen.sampled),
        end_bone=end_bone,
        end_parent=end_parent,
        animated_settings=_animated_settings(armature, settings),
        notes=(*_notes(armature, rest), *_lost(followed)),
    )
    if writes:
        refuse_unwritable(armature, plan.keyed_paths(), settings.destination)
    return plan


def _followed(settings: BakeSettings, *, follows: bool) -> list[tuple[str, str, str]]:
    """What the chain depends on: its role, and the names of object and bone."""
    followed = [("Target", settings.target, settings.target_bone)] if follows else []
    if settings.plane == "POLE":
        followed.append(("Pole", settings.pole, settings.pole_bone))
    if settings.plane == "OBJECT":
        followed.append(("Plane object", settings.plane_object, ""))
    return followed


def _lost(followed: list[tuple[str, str, str]]) -> list[str]:
    """A stored chain keeps what it points to in the file, also when a person has deleted it from every scene."""
    return [
        f'{role} "{name}" is in no scene; it was followed all the same.'
        for role, name, bone in followed
        if not find_object(role, name, bone).users_scene
    ]


def _reads_scene(armature: Object, followed: list[tuple[str, str, str]], names: ChainNames, rest: RestChain) -> bool:
    """Check what the chain follows, and tell whether any of it depends on the scene itself."""
    reads_scene = dependencies(objects_by_name(), [(armature.name, names.tip)]).reads_scene
    for role, name, bone in followed:
        found = find_object(role, name, bone)
        above = dependencies(objects_by_name(), [(found.name, bone)])
        _refuse_feedback(role, above, names, rest, found)
        reads_scene = reads_scene or above.reads_scene
    return reads_scene


def _refuse_broken_stretch(settings: BakeSettings, rest: RestChain) -> None:
    stops = bone_that_stops_stretch(rest) if settings.reach == "STRETCH" else None
    if stops is not None:
        raise ChainError(
            f'Bone "{stops.name}" between the joints does not inherit scale, so the chain cannot stretch evenly. '
            "Set its Inherit Scale to Full, or choose another reach."
        )


def _refuse_other_limits(settings: BakeSettings, rest: RestChain) -> None:
    """Joint limits of another number of joints were made for other bones."""
    if settings.use_limits and settings.joints == "ALL" and len(settings.limits) not in {0, len(rest.turning)}:
        raise ChainError(
            f'The chain from "{rest.upper.name}" to "{rest.lower.name}" has {len(rest.turning)} joints, but limits for '
            f"{len(settings.limits)}. Read the limits again, or remove them."
        )


def end_bone_of(armature: Object, settings: BakeSettings, names: ChainNames, rest: RestChain) -> tuple[RestBone | None, int]:
    """The bone whose head is the tip, and where in the chain its parent is."""
    if settings.end_rotation == "NONE":
        return None, 0
    carrier = armature.pose.bones[names.tip]
    if not names.tip_at_tail:
        return rest.bones[-1], len(rest.bones) - 2
    at_tip = [child for child in carrier.children if starts_at_tail(child)]
    if len(at_tip) != 1:
        found = f"{len(at_tip)} bones start" if at_tip else "no bone starts"
        raise ChainError(
            f'At the tip of "{carrier.name}" {found}, so there is no end bone to turn. '
            "Name the end bone as the tip, or let the end follow."
        )
    return read_rest_bone(at_tip[0]), len(rest.bones) - 1


def _stretched_before(armature: Object, rest: RestChain, frames: Array) -> tuple[int, ...]:
    bag = curve_bag(armature)
    found = []
    for index in scale_carriers(rest):
        fcurve = bag.fcurves.find(scale_path(rest.bones[index]), index=0) if bag else None
        if fcurve is not None and has_baked_keys(fcurve, float(frames[0]), float(frames[-1])):
            found.append(index)
    return tuple(found)


def _animated_settings(armature: Object, settings: BakeSettings) -> dict[str, Quantity]:
    index = armature.twobone.chains.find(settings.stored) if settings.stored else -1
    if index < 0:
        return {}
    paths = {name: f"twobone.chains[{index}].{name}" for name in ANIMATABLE}
    return {name: Quantity("VALUE", armature.name, path=path) for name, path in paths.items() if is_animated(armature, path)}


def _notes(armature: Object, rest: RestChain) -> tuple[str, ...]:
    notes = []
    for index in rest.turning:
        bone = armature.pose.bones[rest.bones[index].name]
        active = [constraint.name for constraint in bone.constraints if is_acting(constraint)]
        if active:
            notes.append(f'Bone "{bone.name}" has constraints that act on top of the keys: {", ".join(active)}.')
        locked = [letter for letter, lock in zip("XYZ", bone.lock_rotation, strict=True) if lock]
        if locked:
            notes.append(f'Bone "{bone.name}" has its rotation locked about {", ".join(locked)}; it was keyed all the same.')
    return tuple(notes)


def fresh_choices(armature: Object, settings: BakeSettings) -> dict[str, str]:
    """Plane and bend for a chain for which nobody has chosen them: those of its own bend at rest, in its own space."""
    rest = read_rest_chain(armature, chain_names(armature, settings), all_joints=settings.joints == "ALL")
    plane, side = nearest_letters(rest.rest_joints())
    return {"plane": plane, "plane_space": "ARMATURE", "bend": "POSITIVE" if side > 0 else "NEGATIVE"}


def chain_names(armature: Object, settings: BakeSettings) -> ChainNames:
    """The chain that the settings name, or the selected bones mean; raises a `TwoBoneError` where there is none."""
    if settings.upper and settings.lower:
        return chain_from_names(armature, settings.upper, settings.lower, settings.tip, settings.tip_end)
    if settings.upper or settings.lower:
        given, missing = ("upper", "lower") if settings.upper else ("lower", "upper")
        raise ChainError(f"Only the {given} bone is named. Name the {missing} bone as well, or neither.")
    return chain_from_selection(armature, settings.tip, settings.tip_end)


def _refuse_feedback(role: str, above: Dependencies, names: ChainNames, rest: RestChain, found: Object) -> None:
    if found.name == names.armature and not any(owner == names.armature and bone for owner, bone in above.nodes):
        raise DependencyError(
            f'The armature "{names.armature}" cannot be its own {role.lower()}. Choose another object, or one of its bones.'
        )
    chain = {bone.name for bone in rest.bones}
    for owner, bone in sorted(above.nodes):
        if owner == names.armature and bone in chain:
            raise DependencyError(
                f'{role} "{found.name}" hangs from bone "{bone}" of the chain that is to follow it. '
                "Choose an object that does not move with the chain."
            )
