"""Find a rig's IK, controls and visible bones, and check them, before its controls are keyed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ....errors import ObjectError
from ....pipeline.plan.found_chain import chain_names
from ....pipeline.plan.planning import ChainPlan, plan_chain
from ....scene.blender_types import Object, PoseBone, Scene
from ....scene.bones import rotation_path
from ....scene.graph.rig_graph import Node
from ....scene.keys.guarding import refuse_stretched_time, unwritable
from ....scene.keys.reading import is_animated
from ....scene.lookup import find_armature, object_named
from ....scene.rig.rigify_reading import ik_control, rigify_limbs
from ....scene.sampling.quantities import Quantity
from ....scene.visible.rig_ik import RigIk, RigReader
from ....scene.visible.switches import Setting, ik_settings
from ....settings import BakeSettings
from .controls import Control, can_turn, read_control, refuse_unwritable_control

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
        return [each for each in (self.target, self.pole, self.base) if each is not None]

    @property
    def aim(self) -> Quantity:
        """World matrix of the IK's target, or of the control itself without IK."""
        return Quantity("WORLD", *(self.ik.target if self.ik else self.target.node))

    @property
    def chain_poses(self) -> list[Quantity]:
        """Poses of the chain's upper and lower bone, then, if there is one, of the end bone."""
        found = [self.plan.pose(self.plan.rest.turning[0]), self.plan.pose(self.plan.rest.turning[-1])]
        return found if self.plan.end_pose is None else [*found, self.plan.end_pose]

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


def plan_controls(scene: Scene, settings: BakeSettings, active: Object | None) -> ControlPlan:
    """Find the rig's IK and its controls; raises a `TwoBoneError` where they cannot take the motion."""
    refuse_stretched_time(scene)
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
    settings_on_ik = tuple(ik_settings(armature, reader, ik, shown, target.node)) if ik else ()
    return ControlPlan(
        plan=plan,
        target=target,
        pole=pole,
        base=_base(armature, plan, ik, settings.destination),
        ik=ik,
        pole_acts=bool(pole and ik and ik.pole and reader.depends(ik.pole, pole.node)),
        shown=shown,
        settings=settings_on_ik,
    )


def toe_controls(armature: Object, upper: str) -> list[tuple[str, PoseBone]]:
    """Visible toe bones of a Rigify limb, each with the control that poses it on IK; `upper` is the limb's first FK control."""
    found = []
    for limb in rigify_limbs(armature):
        for shown in limb.shown[BONES_BEFORE_TOES:] if upper in limb.controls else ():
            control = ik_control(armature, shown)
            if control is not None and control.parent is not None and can_turn(armature, control.name):
                found.append((shown, control))
    return found


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


def _base(armature: Object, plan: ChainPlan, ik: RigIk | None, destination: str) -> Control | None:
    """First bone of the IK, if it is outside the chain, an animator may turn it, and its rotation and scale can be keyed."""
    if ik is None or ik.upper.name in {bone.name for bone in plan.rest.bones} or not can_turn(armature, ik.upper.name):
        return None
    posed = armature.pose.bones[ik.upper.name]
    parent = posed.parent.name if posed.parent else ""
    base = Control("Base", ik.armature, ik.upper, parent, carried=False, constraints=(), locked=(True, True, True))
    refused = unwritable(armature, [base.rotation_path, base.scale_path], destination)
    return base if refused is None else None
