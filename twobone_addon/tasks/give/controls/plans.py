"""Find a rig's IK, controls and visible bones, and check them, before its controls are keyed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....core.array_types import Array
from ....core.rig.bones import BoneChannels, RestBone
from ....core.rig.rotations import nearest_rotation
from ....core.rig.steering import changed_channels
from ....errors import ObjectError
from ....pipeline.plan.found_chain import chain_names
from ....pipeline.plan.planning import ChainPlan, plan_chain
from ....pipeline.report.units import digits
from ....records import replace
from ....said import Sentence
from ....scene.blender_types import Object, PoseBone, Scene
from ....scene.bones import read_rest_bone, rotation_path, scale_path
from ....scene.graph.rig_graph import Node
from ....scene.keys.guarding import refuse_stretched_time, refuse_unwritable, unwritable
from ....scene.keys.reading import is_animated
from ....scene.lookup import find_armature, find_object, object_named
from ....scene.rig.constraints import is_acting
from ....scene.rig.rigify_reading import ik_control, rigify_limbs
from ....scene.sampling.quantities import Quantity, Samples
from ....scene.versions import is_hidden
from ....scene.visible.rig_ik import RigIk, RigReader
from ....scene.visible.switches import Setting, fk_settings, ik_settings, opposite, switched_bones
from ....settings import BakeSettings

CARRYING = {"CHILD_OF", "ARMATURE"}
"""Constraints that carry a bone along as a whole, as a parent does."""


@dataclass(frozen=True, slots=True)
class Control:
    """A bone that an animator poses."""

    role: str
    """`Target`, `Pole` or `Base`, as in messages."""
    armature: str
    bone: RestBone
    parent: str
    """Name of its parent; empty without one."""
    carried: bool
    """Whether an acting constraint carries it along as a whole, see `CARRYING`."""
    constraints: tuple[str, ...]
    """Names of the constraints that act on it."""
    locked: tuple[bool, bool, bool]
    """Which of its location channels are locked."""

    @property
    def node(self) -> Node:
        """Names of its armature and bone."""
        return self.armature, self.bone.name

    @property
    def location_path(self) -> str:
        """Data path of its location."""
        return rotation_path(self.bone).rpartition(".")[0] + ".location"

    @property
    def rotation_path(self) -> str:
        """Data path of its rotation."""
        return rotation_path(self.bone)

    @property
    def scale_path(self) -> str:
        """Data path of its scale."""
        return scale_path(self.bone)

    @property
    def pose(self) -> Quantity:
        """Its pose, armature space."""
        return Quantity("POSE", *self.node)

    @property
    def world(self) -> Quantity:
        """World matrix of its armature."""
        return Quantity("WORLD", self.armature)

    @property
    def channels(self) -> Quantity:
        """Values of its channels."""
        return Quantity("CHANNELS", *self.node)

    def quantities(self) -> list[Quantity]:
        """Quantities that `changed` needs at every frame."""
        return [self.pose, self.world, *([Quantity("POSE", self.armature, self.parent)] if self.parent else [])]

    def parent_pose(self, samples: Samples) -> Array | None:
        """Poses `(F, 4, 4)` of its parent, armature space; `None` without parent."""
        return samples.every(Quantity("POSE", self.armature, self.parent)) if self.parent else None

    def changed(self, samples: Samples, held: BoneChannels, change_world: Array) -> BoneChannels:
        """Channels that move it from its evaluated pose by `change_world` `(F, 4, 4)`; `held` are the channels of that pose."""
        posed, world = samples.every(self.pose), samples.every(self.world)
        changed_pose = np.linalg.inv(world) @ change_world @ world @ posed
        parent = self.parent_pose(samples)
        location, rotation = changed_channels(self.bone, parent, held, posed, changed_pose, carried=self.carried)
        return BoneChannels(location, rotation, held.scale)

    def present_location(self) -> Array:
        """Present values of its location channels, `(3,)`."""
        return np.array(self._posed().location)

    def present_scale(self) -> Array:
        """Present values of its scale channels, `(3,)`."""
        return np.array(self._posed().scale)

    def _posed(self) -> Object:
        return object_named(self.armature).pose.bones[self.bone.name]


def read_control(role: str, armature: str, bone: str) -> Control:
    """Read a control from its rig; raises `ObjectError` where it does not exist, or keys on its location would not move it."""
    posed = find_object(role, armature, bone).pose.bones[bone]
    if posed.bone.use_connect and posed.parent is not None:
        raise ObjectError(
            '{role} bone "{bone}" is connected to its parent, so keys would not move it. Disconnect it, or choose another bone.',
            role=Sentence(role),
            bone=bone,
        )
    return Control(
        role=role,
        armature=armature,
        bone=read_rest_bone(posed),
        parent=posed.parent.name if posed.parent else "",
        carried=any(is_acting(constraint) and constraint.type in CARRYING for constraint in posed.constraints),
        constraints=tuple(constraint.name for constraint in posed.constraints if is_acting(constraint)),
        locked=tuple(posed.lock_location),
    )


def can_turn(armature: Object, bone: str) -> bool:
    """Whether an animator may rotate a bone: it is visible, unconstrained, and not all of its rotation is locked."""
    posed = armature.pose.bones[bone]
    return not (is_hidden(posed) or all(posed.lock_rotation) or any(is_acting(constraint) for constraint in posed.constraints))


def refuse_locked(control: Control, location: Array, near: float) -> None:
    """Raise `ObjectError` where locations `(F, 3)` differ by more than `near` from the present values of locked channels."""
    differences = np.abs(location - control.present_location()).max(axis=0)
    blocked = [
        letter for letter, lock, difference in zip("XYZ", control.locked, differences, strict=True) if lock and difference > near
    ]
    if blocked:
        raise ObjectError(
            '{role} bone "{bone}" has its location locked in {axes}, but would have to move there by up to {distance}. Unlock '
            "it, or choose another bone.",
            role=Sentence(control.role),
            bone=control.bone.name,
            axes=", ".join(blocked),
            distance=digits(differences.max()),
        )


def refuse_unwritable_control(control: Control, paths: list[str], destination: str) -> None:
    """Raise `WriteError` where a control cannot be keyed, or its keys would have no effect."""
    refuse_unwritable(object_named(control.armature), paths, destination)


BONES_BEFORE_TOES = 3
"""Number of a limb's bones before its toes: upper, lower, end."""


@dataclass(frozen=True, slots=True)
class ControlPlan:
    """One chain whose motion is baked onto its rig's controls."""

    plan: ChainPlan
    target: Control
    pole: Control | None
    base: Control | None
    """First bone of the rig's IK, where an animator may turn it; keyed only where other controls do not suffice."""
    ik: RigIk | None
    """`None` where the control steers no IK: then it is placed at the tip itself."""
    pole_acts: bool
    """Whether the IK's pole depends on the pole control."""
    shown: tuple[str, ...]
    """Visible bones that show the upper and lower bone on IK, then, if there is one, the end bone."""
    settings: tuple[Setting, ...]
    """Settings that let the limb follow the IK, where it does not."""
    end_turn: Array | None = None
    """`(3, 3)` rotation from the end bone to the bone that shows it; `None` where none does."""
    toes: tuple[str, ...] = ()
    """Controls that pose the toes on IK, left unkeyed although the toes move on FK."""

    @property
    def armature(self) -> str:
        """Name of the chain's armature."""
        return self.plan.names.armature

    @property
    def turns(self) -> bool:
        """Whether the target's rotation is keyed as well."""
        return self.plan.settings.end_rotation == "TARGET"

    @property
    def controls(self) -> list[Control]:
        """All controls that may be keyed."""
        return [control for control in (self.target, self.pole, self.base) if control is not None]

    @property
    def aim(self) -> Quantity:
        """World matrix of the IK's target, or of the control itself without IK."""
        return Quantity("WORLD", *(self.ik.target if self.ik else self.target.node))

    @property
    def chain_poses(self) -> list[Quantity]:
        """Poses of the chain's upper and lower bone, then, if there is one, of the end bone."""
        poses = [self.plan.pose(self.plan.rest.turning[0]), self.plan.pose(self.plan.rest.turning[-1])]
        return poses if self.plan.end_pose is None else [*poses, self.plan.end_pose]

    def seen(self) -> list[Quantity]:
        """Quantities to sample while the controls are on trial."""
        quantities = [quantity for control in self.controls for quantity in control.quantities()]
        shown = [Quantity("WORLD", self.armature, bone) for bone in self.shown]
        pole = [Quantity("WORLD", *self.pole_aim)] if self.pole_aim else []
        return [self.aim, Quantity("WORLD", *self.target.node), *pole, *shown, *quantities]

    @property
    def pole_aim(self) -> Node | None:
        """Node that the IK's pole follows, or the pole control itself; `None` without pole."""
        if self.pole is None:
            return None
        return self.ik.pole if self.pole_acts and self.ik and self.ik.pole else self.pole.node


def plan_controls(
    scene: Scene, settings: BakeSettings, active: Object | None, on_ik: tuple[Setting, ...] | None = None
) -> ControlPlan:
    """Find the rig's IK and its controls; raises a `TwoBoneError` where they cannot take the motion.

    on_ik : the settings that let the limb follow the IK, where they are known
    """
    refuse_stretched_time(scene)
    # An automatic range is that of the target's keys, which are about to be replaced.
    if settings.frame_range == "AUTO":
        settings = replace(settings, frame_range="SCENE")
    armature = find_armature(settings.armature, active)
    reader = RigReader(armature, chain_names(armature, settings))
    target = read_control("Target", settings.target, settings.target_bone)
    ik = reader.steered_by(target.node)
    settings = _with_pole(settings, ik)
    plan = plan_chain(scene, settings, active)
    pole = read_control("Pole", settings.pole, settings.pole_bone) if settings.plane == "POLE" else None
    if pole is not None and pole.node == target.node:
        raise ObjectError('"{bone}" cannot be target and pole at once. Choose two bones.', bone=target.bone.name)
    paths = [target.location_path, *([target.rotation_path] if settings.end_rotation == "TARGET" else [])]
    refuse_unwritable_control(target, paths, settings.destination)
    if pole is not None:
        refuse_unwritable_control(pole, [pole.location_path], settings.destination)
    shown = _shown(plan, reader, ik, target.node)
    if on_ik is None:
        on_ik = tuple(ik_settings(armature, reader, ik, shown, target.node)) if ik else ()
    shown, end_turn = _with_end(armature, plan, shown, on_ik)
    return ControlPlan(
        plan=plan,
        target=target,
        pole=pole,
        base=_base(armature, plan, ik, settings.destination),
        ik=ik,
        pole_acts=bool(pole and ik and ik.pole and reader.depends(ik.pole, pole.node)),
        shown=shown,
        settings=on_ik,
        end_turn=end_turn,
    )


def toe_controls(armature: Object, upper: str) -> list[tuple[str, PoseBone]]:
    """Visible toe bones of a Rigify limb, each with the control that poses it on IK; `upper` is the limb's first FK control."""
    toes = []
    for limb in rigify_limbs(armature):
        for shown in limb.shown[BONES_BEFORE_TOES:] if upper in limb.controls else ():
            control = ik_control(armature, shown)
            if control is not None and control.parent is not None and can_turn(armature, control.name):
                toes.append((shown, control))
    return toes


def moving_toes(plan: ControlPlan) -> tuple[str, ...]:
    """Controls that pose a limb's toes on IK, where its FK toe controls are keyed and the foot's rotation is keyed."""
    armature = object_named(plan.armature)
    upper = plan.plan.names.upper
    keyed = any(
        is_animated(armature, rotation_path(armature.pose.bones[toe]))
        for limb in rigify_limbs(armature)
        for toe in (limb.controls[BONES_BEFORE_TOES:] if upper in limb.controls else ())
    )
    return tuple(control.name for _, control in toe_controls(armature, upper)) if keyed and plan.turns else ()


def _with_pole(settings: BakeSettings, ik: RigIk | None) -> BakeSettings:
    """Fill in the rig's own pole where the plane needs one and none is named; raises `ObjectError` without a pole bone."""
    if settings.plane != "POLE" or settings.pole:
        if settings.plane == "POLE" and not settings.pole_bone:
            raise ObjectError(
                'Pole "{pole}" is an object, but the target is a bone. Choose a bone of the rig, or another plane.',
                pole=settings.pole,
            )
        return settings
    if ik is None or ik.pole is None or not ik.pole[1]:
        raise ObjectError("No pole bone is chosen. Choose the bone that the rig's IK points at, or another plane.")
    return replace(settings, pole=ik.pole[0], pole_bone=ik.pole[1])


def _shown(plan: ChainPlan, reader: RigReader, ik: RigIk | None, control: Node) -> tuple[str, ...]:
    if ik is None:
        return ()
    upper, lower = plan.rest.upper.name, plan.rest.lower.name
    shown = [reader.shown(upper, control) or ik.upper.name, reader.shown(lower, control) or ik.lower.name]
    end = reader.shown(plan.end_bone.name, control) if plan.end_bone else ""
    return (*shown, end) if end else tuple(shown)


def _with_end(
    armature: Object, plan: ChainPlan, shown: tuple[str, ...], on_ik: tuple[Setting, ...]
) -> tuple[tuple[str, ...], Array | None]:
    """The visible bones with the one that shows the end bone through a fixed offset on FK, and the rotation to it."""
    if plan.end_bone is None or not shown:
        return shown, None
    end, names = plan.end_bone.name, plan.names
    if len(shown) > 2:  # noqa: PLR2004 - upper, lower, end
        return shown, rest_turn(armature, end, shown[2])
    on_fk = opposite(on_ik) if on_ik else fk_settings(armature, names)
    copies = [switched for switched in switched_bones(armature, on_fk, (names.upper, names.lower)) if switched.control == end]
    nearest = min(copies, key=lambda copy: copy.apart, default=None)
    if nearest is None or not nearest.is_copy:
        return shown, None
    return (*shown, nearest.shown), nearest_rotation(nearest.control_from_shown[:3, :3]).T


def rest_turn(armature: Object, bone: str, other: str) -> Array:
    """Rotation `(3, 3)` from one bone's rest axes to another's."""
    first, second = (np.array(armature.data.bones[name].matrix_local)[:3, :3] for name in (bone, other))
    return nearest_rotation(first.T @ second)


def _base(armature: Object, plan: ChainPlan, ik: RigIk | None, destination: str) -> Control | None:
    """First bone of the IK, if it is outside the chain, an animator may turn it, and its rotation and scale can be keyed."""
    if ik is None or ik.upper.name in {bone.name for bone in plan.rest.bones} or not can_turn(armature, ik.upper.name):
        return None
    posed = armature.pose.bones[ik.upper.name]
    parent = posed.parent.name if posed.parent else ""
    base = Control("Base", ik.armature, ik.upper, parent, carried=False, constraints=(), locked=(True, True, True))
    refused = unwritable(armature, [base.rotation_path, base.scale_path], destination)
    return base if refused is None else None
