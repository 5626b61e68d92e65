"""From settings to a plan: which bones, which frames, what to sample. Everything that can be refused is refused here."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ..array_types import Array
from ..curves.frames import frame_grid
from ..errors import ChainError, DependencyError, ObjectError, RangeError
from ..rig.bones import RestChain
from ..rig.planes import nearest_letters
from ..scene.blender_types import Object, Scene
from ..scene.chain_finding import ChainNames, chain_from_names, chain_from_selection
from ..scene.dependencies import Dependencies, dependencies
from ..scene.guarding import refuse_unwritable
from ..scene.keys_reading import key_range
from ..scene.rest_reading import read_rest_chain
from ..scene.sampling import Quantity
from ..settings import BakeSettings

MOST_FRAMES = 1_000_000
"""More frames than this in one bake is taken for a slip of the pen: 11 hours at 25 frames a second."""

ROTATION_PATHS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
"""Channel of each rotation mode; all Euler orders use `rotation_euler`."""


@dataclass(frozen=True, slots=True)
class ChainPlan:
    """One chain to bake, found and checked; nothing has been changed yet."""

    settings: BakeSettings
    names: ChainNames
    rest: RestChain
    frames: Array
    """`(F,)`"""
    reads_scene: bool
    """Sampling needs the user's own scene."""

    @property
    def armature_world(self) -> Quantity:
        """The armature object."""
        return Quantity("WORLD", self.names.armature)

    @property
    def target_world(self) -> Quantity:
        """What the tip follows."""
        return Quantity("WORLD", self.settings.target, self.settings.target_bone)

    def poses(self, parent: str) -> list[Quantity]:
        """The posed bones of the chain and, if there is one, of its parent."""
        names = [bone.name for bone in self.rest.bones]
        return [Quantity("POSE", self.names.armature, name) for name in ([parent, *names] if parent else names)]

    @property
    def channels(self) -> list[Quantity]:
        """The channels of the chain's bones."""
        return [Quantity("CHANNELS", self.names.armature, bone.name) for bone in self.rest.bones]

    @property
    def parent(self) -> Quantity | None:
        """The bone the chain hangs from."""
        bone = bpy.data.objects[self.names.armature].pose.bones[self.names.upper].parent
        return Quantity("POSE", self.names.armature, bone.name) if bone else None

    def rotation_path(self, number: int) -> str:
        """Data path of the rotation channel of a turning bone."""
        bone = self.rest.bones[self.rest.turning[number]]
        channel = ROTATION_PATHS.get(bone.rotation_mode, "rotation_euler")
        return f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"].{channel}'


def plan_chain(scene: Scene, settings: BakeSettings, active: Object | None) -> ChainPlan:
    """Find and check everything that a bake with these settings needs; raises a `TwoBoneError` where it is not there."""
    armature = _armature(settings.armature, active)
    names = _chain(armature, settings)
    target = _target(settings)
    _refuse_rest_position(armature)
    rest = read_rest_chain(armature, names)
    above = dependencies(_objects(), [(target.name, settings.target_bone)])
    _refuse_feedback(above, names, rest, target)
    around = dependencies(_objects(), [(armature.name, names.tip)])
    plan = ChainPlan(
        settings=settings,
        names=names,
        rest=rest,
        frames=bake_frames(scene, settings, target),
        reads_scene=above.reads_scene or around.reads_scene,
    )
    refuse_unwritable(armature, [plan.rotation_path(number) for number in range(len(rest.turning))])
    return plan


def fresh_choices(plan: ChainPlan) -> dict[str, str]:
    """Plane and bend for a chain for which nobody has chosen them: those of its own bend at rest, in its own space."""
    plane, side = nearest_letters(plan.rest.rest_joints())
    return {"plane": plane, "plane_space": "ARMATURE", "bend": "POSITIVE" if side > 0 else "NEGATIVE"}


def bake_frames(scene: Scene, settings: BakeSettings, target: Object) -> Array:
    """Frames `(F,)` that the settings ask for; raises `RangeError` where they cannot be told."""
    start, end = _range(scene, settings, target)
    if (end - start) / settings.step > MOST_FRAMES:
        raise RangeError(
            f"The range from {start:g} to {end:g} has more than {MOST_FRAMES:,} frames at step {settings.step:g}. "
            "Choose a shorter range or a larger step."
        )
    return np.asarray(frame_grid(start, end, settings.step))


def _range(scene: Scene, settings: BakeSettings, target: Object) -> tuple[float, float]:
    if settings.frame_range == "CUSTOM":
        return settings.frame_start, settings.frame_end
    if settings.frame_range == "TARGET":
        found = key_range(target, settings.target_bone)
        if found is None:
            raise RangeError(
                f'Target "{target.name}" has no keys of its own to take the range from. Choose another frame range.'
            )
        return found
    if settings.frame_range == "PREVIEW" and scene.use_preview_range:
        return float(scene.frame_preview_start), float(scene.frame_preview_end)
    return float(scene.frame_start), float(scene.frame_end)


def _objects() -> dict[str, Object]:
    return {thing.name: thing for thing in bpy.data.objects}


def _armature(name: str, active: Object | None) -> Object:
    found = bpy.data.objects.get(name) if name else active
    if found is None:
        missing = f'Armature "{name}" is not in this file' if name else "No armature is active"
        raise ObjectError(f"{missing}. Choose the armature that holds the chain.")
    if found.type != "ARMATURE":
        raise ObjectError(f'Object "{found.name}" is not an armature. Choose the armature that holds the chain.')
    return found


def _chain(armature: Object, settings: BakeSettings) -> ChainNames:
    if settings.upper and settings.lower:
        return chain_from_names(armature, settings.upper, settings.lower, settings.tip, settings.tip_end)
    if settings.upper or settings.lower:
        given, missing = ("upper", "lower") if settings.upper else ("lower", "upper")
        raise ChainError(f"Only the {given} bone is named. Name the {missing} bone as well, or neither.")
    return chain_from_selection(armature, settings.tip, settings.tip_end)


def _target(settings: BakeSettings) -> Object:
    if not settings.target:
        raise ObjectError("No target is chosen. Choose the object that the tip is to follow, such as an empty.")
    target = bpy.data.objects.get(settings.target)
    if target is None:
        raise ObjectError(f'Target "{settings.target}" is not in this file. Choose an object of this file.')
    if settings.target_bone:
        if target.type != "ARMATURE":
            raise ObjectError(f'Target "{target.name}" is not an armature, so it has no bone "{settings.target_bone}".')
        if settings.target_bone not in target.pose.bones:
            raise ObjectError(
                f'Target bone "{settings.target_bone}" is not in armature "{target.name}". Choose one of its bones.'
            )
    return target


def _refuse_rest_position(armature: Object) -> None:
    if armature.data.pose_position == "REST":
        raise ObjectError(
            f'Armature "{armature.name}" shows its rest position. Switch it to Pose Position in its data properties.'
        )


def _refuse_feedback(above: Dependencies, names: ChainNames, rest: RestChain, target: Object) -> None:
    if target.name == names.armature and not any(owner == names.armature and bone for owner, bone in above.nodes):
        raise DependencyError(
            f'The armature "{names.armature}" cannot be its own target. Choose another object, or one of its bones.'
        )
    chain = {bone.name for bone in rest.bones}
    for owner, bone in sorted(above.nodes):
        if owner == names.armature and bone in chain:
            raise DependencyError(
                f'Target "{target.name}" hangs from bone "{bone}" of the chain that is to follow it. '
                "Choose a target that does not move with the chain."
            )
