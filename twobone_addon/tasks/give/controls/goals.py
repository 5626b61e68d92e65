"""Goals for a limb posed by its rig's IK, and the visible limb's errors from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....core.array_types import Array
from ....core.arrays import magnitude, path_length
from ....core.rig.rotations import nearest_rotation, unit
from ....core.rig.steering import hinges
from ....pipeline.motion.plan_motion import points
from ....scene.lookup import object_named
from ....scene.sampling.quantities import Quantity, Samples
from ..solve import TargetMotion, angles_between
from .plans import ControlPlan


@dataclass(frozen=True, slots=True)
class Goals:
    """Present motion of a limb, world space, which its IK is to reproduce."""

    joints: Array
    """`(F, 3, 3)` root, middle joint and tip."""
    aim: Array
    """`(F, 3)` goal of the IK's target."""
    end: Array | None
    """`(F, 3, 3)` rotation goal of the visible end bone, or of the control itself; `None` where neither rotates."""
    own_end: Array | None
    """`(F, 3, 3)` present rotation of the chain's end bone."""
    of_control: bool
    """Whether the control itself rotates like the end bone, because nothing visible rotates with it."""
    poles: Array | None
    """`(F, 3)` pole places in the limb's plane; `None` without pole."""

    @property
    def length(self) -> float:
        """Largest length of the limb over the frames, world units."""
        return float(path_length(self.joints).max())


def read_goals(control: ControlPlan, solved: TargetMotion, samples: Samples) -> Goals:
    """Goals from samples of the limb's present motion."""
    plan = control.plan
    samples = samples.on(plan.frames)
    world = samples.every(plan.armature_world)
    joints = np.stack([points(world, solved.joints[:, place]) for place in (0, 1, -1)], axis=1)
    lower = world @ samples.every(control.chain_poses[1])
    aim = joints[:, 2]
    if control.ik is not None:
        lower_from_ik_lower = np.linalg.inv(plan.rest.lower.rest) @ control.ik.lower.rest
        aim = points(lower @ lower_from_ik_lower, control.ik.effector)
    end = own_end = None
    if control.turns and control.plan.end_bone is not None:
        end = own_end = nearest_rotation((world @ samples.every(control.chain_poses[2]))[:, :3, :3])
        if shows_end(control):
            end = own_end @ rest_turn(control.armature, control.plan.end_bone.name, control.shown[2])
    return Goals(joints, aim, end, own_end, of_control=not shows_end(control), poles=solved.poles_world)


def shows_end(control: ControlPlan) -> bool:
    """Whether a visible bone rotates in place of the end bone when the limb is on IK."""
    return len(control.shown) > 2  # noqa: PLR2004 - upper, lower, end


def rest_turn(armature: str, bone: str, other: str) -> Array:
    """Rotation `(3, 3)` from one bone's rest axes to another's."""
    bones = object_named(armature).data.bones
    first, second = (np.array(bones[name].matrix_local)[:3, :3] for name in (bone, other))
    return nearest_rotation(first.T @ second)


@dataclass(frozen=True, slots=True)
class Seen:
    """The limb as the rig's IK poses it, world space."""

    samples: Samples
    joints: Array
    """`(F, 3, 3)` root, middle joint and tip."""
    aim: Array
    """`(F, 3)` the IK's target."""
    pole: Array | None
    """`(F, 3)` the point that the IK's pole follows; `None` without pole."""
    end: Array | None
    """`(F, 3, 3)` rotation of the visible end bone, else of the control; `None` where it has no goal."""


def seen_in(control: ControlPlan, goals: Goals, samples: Samples) -> Seen:
    """Read the limb from samples of the rig on IK."""
    samples = samples.on(control.plan.frames)
    aim = samples.every(control.aim)[:, :3, 3]
    joints = _seen_joints(control, samples) if control.shown else np.stack([*np.moveaxis(goals.joints[:, :2], 1, 0), aim], axis=1)
    end = None
    if goals.end is not None:
        end_node = control.target.node if goals.of_control else (control.armature, control.shown[2])
        matrices = samples.every(Quantity("WORLD", *end_node))
        end = nearest_rotation(matrices[:, :3, :3])
    pole = None if control.pole_aim is None else samples.every(Quantity("WORLD", *control.pole_aim))[:, :3, 3]
    return Seen(samples, joints, aim, pole, end)


def _seen_joints(control: ControlPlan, samples: Samples) -> Array:
    """Joints `(F, 3, 3)`: heads of the visible upper and lower bone, and the tip as carried by the last visible bone."""
    upper, lower, last = (samples.every(Quantity("WORLD", control.armature, control.shown[at])) for at in (0, 1, -1))
    rest = np.array(object_named(control.armature).data.bones[control.shown[-1]].matrix_local)
    tip = np.linalg.inv(rest) @ [*control.plan.rest.rest_joints()[-1], 1.0]
    return np.stack([upper[:, :3, 3], lower[:, :3, 3], points(last, tip[:3])], axis=1)


def joint_errors(goals: Goals, seen: Seen) -> Array:
    """Largest distance `(F,)` of a visible joint from its goal, world units."""
    return magnitude(seen.joints - goals.joints).max(axis=1)


def tip_errors(goals: Goals, seen: Seen) -> Array:
    """Distance `(F,)` of the tip from its goal, world units."""
    return magnitude(seen.joints[:, 2] - goals.joints[:, 2])


def end_errors(goals: Goals, seen: Seen) -> Array:
    """Angle `(F,)`, radians, of the end bone from its goal; 0 where it has none."""
    if goals.end is None or seen.end is None:
        return np.zeros(len(goals.joints))
    return angles_between(seen.end, goals.end)


def misses(goals: Goals, seen: Seen) -> Array:
    """Joint errors `(F, 4)`, relative to the limb's length.

    The middle joint's along the limb's line, across it in its plane, and out of the plane; then the tip's distance.
    """
    joints = goals.joints
    along, out = unit(joints[:, 2] - joints[:, 0]), hinges(joints)
    off = (seen.joints[:, 1] - joints[:, 1]) / goals.length
    middle = [np.sum(off * axis, axis=-1) for axis in (along, np.cross(out, along), out)]
    return np.stack([*middle, tip_errors(goals, seen) / goals.length], axis=-1)
