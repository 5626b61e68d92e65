"""Which limbs a conversion from IK to FK is about: constraints over two links, or limbs of a Rigify rig."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from ..errors import ChainError, TwoBoneError
from ..options import Group
from ..rig.bones import RestBone
from ..scene.blender_types import Constraint, Object, PoseBone, Scene
from ..scene.guarding import refuse_unwritable
from ..scene.ik_reading import IkLimb, acting_ik, has_other_constraints, read_ik
from ..scene.lookup import find_armature, object_named, rotation_path
from ..scene.rest_reading import bone_path, read_rest_bone
from ..scene.rigify_reading import RigifyLimb, is_rigify, rigify_limbs
from ..scene.sampling import Quantity
from ..settings import OPTIONS, BakeSettings
from .motion import motion_quantities
from .planning import ChainPlan, plan_chain

SETTINGS = ("armature", *(option.name for option in OPTIONS if option.group is Group.KEYS))
"""Settings of a bake that a conversion has as well; the rest is read from the constraint."""

SWITCHES = ("MUTE", "INFLUENCE")
"""How a constraint ends: muted, or its influence keyed to 0 over the range."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """What is asked of a conversion."""

    keys: BakeSettings
    """The armature, the frames and how they are keyed: of these only `SETTINGS` count."""
    bone: str = ""
    """Bone that carries the IK constraint, or any control of a Rigify limb; empty for all."""
    switch_off: str = SWITCHES[0]
    """One of `SWITCHES`."""
    rigify: bool = False
    """Convert the limbs of a Rigify rig, by their FK controls and their IK/FK switch."""


@dataclass(frozen=True, slots=True)
class LimbPlan:
    """One limb to convert, found and checked."""

    plan: ChainPlan
    """The chain that gets the keys."""
    shown: tuple[str, ...]
    """Bones whose pose is to stay: of the upper, the lower and the tip's bone, then those of `further`."""
    ik: IkLimb | None
    """The constraint, if it is one that makes the pose."""
    switch_path: str
    """What is keyed over the range, beside the rotations; empty for nothing."""
    switch_value: float
    further: tuple[tuple[RestBone, ...], ...] = ()
    """Bones below the end that are keyed as well, each as the path from the bone before it to itself."""

    @property
    def free_location(self) -> list[int]:
        """Bones of the plan's chain, by index, that no constraint moves but IK, so their location is their own."""
        bones = object_named(self.plan.names.armature).pose.bones
        return [i for i, bone in enumerate(self.plan.rest.bones) if not has_other_constraints(bones[bone.name])]

    def shown_pose(self, number: int) -> Quantity:
        """Pose of one of the bones that show the limb."""
        return Quantity("POSE", self.plan.names.armature, self.shown[number])

    def quantities(self) -> list[Quantity]:
        """What to sample before solving."""
        further = [Quantity("CHANNELS", self.plan.names.armature, bone.name) for path in self.further for bone in path[1:]]
        return [*motion_quantities(self.plan), *self.poses(), *further]

    def poses(self) -> list[Quantity]:
        """Poses of all bones that show the limb."""
        return [self.shown_pose(number) for number in range(len(self.shown))]


def plan_limbs(scene: Scene, wanted: Conversion, active: Object | None) -> tuple[list[LimbPlan], list[str]]:
    """The limbs to convert, and sentences about those that are left as they are.

    Raises a `TwoBoneError` where nothing is left to convert, or where a bone was asked for by name and cannot be.
    """
    armature = find_armature(wanted.keys.armature, active)
    if wanted.bone and wanted.bone not in armature.pose.bones:
        raise ChainError(f'Bone "{wanted.bone}" is not in armature "{armature.name}". Choose one of its bones.')
    limbs, left = [], []
    for make in _rigify_plans(scene, armature, wanted) if wanted.rigify else _constraint_plans(scene, armature, wanted):
        try:
            limbs.append(make())
        except TwoBoneError as error:
            if wanted.bone:
                raise
            left.append(error)
    if not limbs:
        raise left[0] if left else _nothing_found(armature, wanted)
    return limbs, [str(error) for error in left]


def _nothing_found(armature: Object, wanted: Conversion) -> ChainError:
    where = f'Bone "{wanted.bone}"' if wanted.bone else f'Armature "{armature.name}"'
    if wanted.rigify:
        return ChainError(
            f"{where} has no limb of Rigify's with IK and FK. Generate the rig with Rigify, or turn the option off."
        )
    return ChainError(f"{where} has no IK constraint that acts. Choose the bone that carries one, or unmute it.")


def _constraint_plans(scene: Scene, armature: Object, wanted: Conversion) -> Iterator[Callable[[], LimbPlan]]:
    if is_rigify(armature):
        raise ChainError(
            f'Armature "{armature.name}" was generated by Rigify, which keeps its IK constraints to itself. '
            "Turn on the Rigify option."
        )
    for carrier, constraint in acting_ik(armature, wanted.bone):
        yield partial(_read_constraint_plan, scene, armature, wanted, carrier, constraint)


def _read_constraint_plan(
    scene: Scene, armature: Object, wanted: Conversion, carrier: PoseBone, constraint: Constraint
) -> LimbPlan:
    return _constraint_plan(scene, armature, wanted, read_ik(carrier, constraint))


def _constraint_plan(scene: Scene, armature: Object, wanted: Conversion, ik: IkLimb) -> LimbPlan:
    names = ik.names
    settings = replace(
        _settings(armature, wanted, names.upper, names.lower, names.tip),
        tip_end="TAIL" if names.tip_at_tail else "HEAD",
        target=ik.target,
        target_bone=ik.target_bone,
    )
    plan = plan_chain(scene, settings, None)
    keyed = f"{ik.path}.influence" if wanted.switch_off == "INFLUENCE" else ""
    if keyed:
        refuse_unwritable(armature, [keyed], wanted.keys.destination)
    return LimbPlan(_noted(plan, armature), (names.upper, names.lower, names.tip), ik, keyed, 0.0)


def _noted(plan: ChainPlan, armature: Object) -> ChainPlan:
    """The plan with notes about constraints that go on acting, which the IK does not."""
    bones = (armature.pose.bones[plan.rest.bones[index].name] for index in plan.rest.turning)
    going_on = [bone.name for bone in bones if has_other_constraints(bone)]
    return replace(plan, notes=tuple(f'Constraints of bone "{name}" act on top of the keys.' for name in going_on))


def _rigify_plans(scene: Scene, armature: Object, wanted: Conversion) -> Iterator[Callable[[], LimbPlan]]:
    for limb in rigify_limbs(armature):
        if not wanted.bone or wanted.bone in {limb.switch_bone, *limb.shown, *limb.controls}:
            yield partial(_rigify_plan, scene, armature, wanted, limb)


def _rigify_plan(scene: Scene, armature: Object, wanted: Conversion, limb: RigifyLimb) -> LimbPlan:
    upper, lower, end = limb.controls[:3]
    settings = replace(
        _settings(armature, wanted, upper, lower, end),
        tip_end="HEAD",
        end_rotation="KEEP",
        # A plan follows something; what the limb really does is sampled from the bones that show it.
        target=armature.name,
        target_bone=limb.switch_bone,
    )
    plan = plan_chain(scene, settings, None)
    bones = armature.pose.bones
    pairs = zip(limb.controls[2:], limb.controls[3:], strict=False)
    further = tuple(tuple(read_rest_bone(bone) for bone in bone_path(bones[above], bones[below])) for above, below in pairs)
    paths = [limb.switch_path, *(rotation_path(path[-1]) for path in further)]
    refuse_unwritable(armature, paths, wanted.keys.destination)
    return LimbPlan(plan, limb.shown, None, limb.switch_path, 1.0, further)


def _settings(armature: Object, wanted: Conversion, upper: str, lower: str, tip: str) -> BakeSettings:
    keys = wanted.keys
    if wanted.rigify or wanted.switch_off == "INFLUENCE":
        # Outside the range IK goes on, and its result depends on the pose it starts from.
        keys = replace(keys, key_before=True, key_after=True)
    return replace(
        keys,
        armature=armature.name,
        upper=upper,
        lower=lower,
        tip=tip,
        plane="REST",
        reference="POSE",
        bend="POSITIVE",
    )
