"""Turn samples into the motion of a plan: channels, parents, targets, one row per frame of the plan."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from ...core.array_types import Array, MatrixRows, NumberRows, VectorRows
from ...core.arrays import every_row, still_row
from ...core.rig.bones import BoneChannels, ChainMotion, RestBone
from ...core.rig.channels import channel_rotations
from ...core.rig.inheritance import local_basis
from ...core.rig.posing import joints_of, pose_path
from ...core.rig.rotations import determinant, nearest_rotation
from ...errors import ObjectError
from ...records import replace
from ...said import Sentence
from ...scene.sampling.quantities import Quantity, Samples
from ..plan.chain_plan import ChainPlan

LARGEST = 1e18
"""Largest usable value: Blender computes in single precision, where the squares of larger numbers are infinite."""


@dataclass(frozen=True, slots=True)
class FootMotion:
    """The present motion of a foot that is keyed along."""

    location: VectorRows
    """`(F, 3)` its location channels."""
    above: MatrixRows | None
    """`(F, 4, 4)` pose of its parent, armature space; `None` without one."""
    meets: VectorRows
    """`(F, 3)` the tip of the limb with which its location goes, armature space."""


@dataclass(frozen=True, slots=True)
class PlanMotion:
    """Everything about a plan that moves, except its target. Arrays that do not change may have one row for all frames."""

    frames: NumberRows
    """`(F,)` scene frames."""
    chain: ChainMotion
    """The chain's present motion."""
    rotation_values: tuple[VectorRows, ...]
    """`(F, 4)` per bone, values of its rotation channels: quaternion, axis-angle, or Euler angles and 0."""
    world_from_armature: MatrixRows
    """`(F, 4, 4)`"""
    armature_from_world: MatrixRows
    """`(F, 4, 4)`"""
    pole_world: VectorRows | None
    """`(F, 3)`"""
    plane_world: MatrixRows | None
    """`(F, 4, 4)` of the plane object."""
    influence: NumberRows
    """`(F,)`"""
    bend: NumberRows | None
    """`(F,)` value of the stored chain's animated bend; `None` if the bend is a constant setting."""
    end_pose: MatrixRows | None
    """`(F, 4, 4)` pose of the bone at the tip, armature space; `None` if it is not rotated."""
    end_rotation_values: VectorRows | None
    """`(F, 4)` values of that bone's rotation channels."""
    along: tuple[FootMotion, ...]
    """Of the feet that are keyed along."""


@dataclass(frozen=True, slots=True)
class AimedMotion(PlanMotion):
    """The motion of a plan, including the target that the tip follows."""

    target_world: MatrixRows
    """`(F, 4, 4)`, a row for each frame."""


def motion_quantities(plan: ChainPlan) -> list[Quantity]:
    """Quantities to sample before solving."""
    return [*unaimed_quantities(plan), *(plan.aims if plan.settings.target else [])]


def unaimed_quantities(plan: ChainPlan) -> list[Quantity]:
    """The quantities that `plan_motion` reads: all but the target, if that is nothing else as well."""
    optional = [plan.parent, plan.pole_world, plan.plane_world, plan.end_pose, plan.end_channels]
    # Where a constraint poses a bone, its channels follow from its pose and its parent's.
    constrained = [plan.pose(index) for index in plan.constrained] + [plan.pose(index - 1) for index in plan.constrained if index]
    return [
        plan.armature_world,
        *plan.channels,
        *(quantity for quantity in optional if quantity is not None),
        *constrained,
        *(quantity for foot in plan.along for quantity in (foot.channels, foot.above) if quantity is not None),
        *plan.animated_settings.values(),
        *plan.carried_over,
    ]


def plan_motion(plan: ChainPlan, samples: Samples) -> PlanMotion:
    """The motion of a plan, from samples that include its frames; raises `ObjectError` if the chain itself is not finite."""
    samples = samples.on(plan.frames)

    def at(quantity: Quantity | None) -> Array | None:
        return None if quantity is None else samples[quantity]

    _refuse_not_finite(plan, samples)
    world_from_armature = samples[plan.armature_world]
    _refuse_zero_scale(plan, world_from_armature)
    values = [samples[quantity] for quantity in plan.channels]
    chain = _chain_motion(plan, samples, values)
    pole, end_channels = at(plan.pole_world), at(plan.end_channels)
    # The range of a setting is soft, so its curve may leave it.
    influence = at(plan.animated_settings.get("influence"))
    return PlanMotion(
        frames=plan.frames,
        chain=chain,
        rotation_values=tuple(value[:, 3:7].copy() for value in values),  # A view would keep all samples of a long take.
        world_from_armature=world_from_armature,
        armature_from_world=np.linalg.inv(world_from_armature),
        pole_world=None if pole is None else _carried_over(plan, samples, pole)[:, :3, 3],
        plane_world=at(plan.plane_world),
        influence=np.full(1, plan.settings.influence) if influence is None else np.clip(influence, 0.0, 1.0),
        bend=at(plan.animated_settings.get("bend")),
        end_pose=at(plan.end_pose),
        end_rotation_values=None if end_channels is None else end_channels[:, 3:7].copy(),
        along=_feet_along(plan, samples, chain),
    )


def _feet_along(plan: ChainPlan, samples: Samples, chain: ChainMotion) -> tuple[FootMotion, ...]:
    if not plan.along:
        return ()
    tips = joints_of(plan.rest, pose_path(plan.rest, chain))[:, -1]
    return tuple(
        FootMotion(samples[foot.channels][:, :3].copy(), samples[foot.above] if foot.above else None, tips) for foot in plan.along
    )


def aimed(motion: PlanMotion, target_world: Array) -> AimedMotion:
    """The motion with target matrices `(F, 4, 4)` added for the tip to follow."""
    parts = {entry.name: getattr(motion, entry.name) for entry in fields(PlanMotion)}
    return AimedMotion(**parts, target_world=target_world)


def without_target(motion: PlanMotion) -> PlanMotion:
    """The motion without its target, which is no longer needed once the chain is posed."""
    return PlanMotion(*(getattr(motion, entry.name) for entry in fields(PlanMotion)))


def followed_motion(plan: ChainPlan, samples: Samples) -> AimedMotion:
    """`plan_motion` with the target, for a chain that has one."""
    return aimed(plan_motion(plan, samples), every_row(target_matrices(plan, samples.on(plan.frames)), len(plan.frames)))


def target_matrices(plan: ChainPlan, samples: Samples) -> Array:
    """Position of the tip's goal and orientation for the end bone: world matrices `(F, 4, 4)`, one row if nothing moves.

    With a source limb, the target's offset from the source's root joint is scaled, turned by the angle between the ways that both
    characters face, and applied at the chain's root joint.
    """
    matrices = _carried_over(plan, samples, samples[plan.target_world])
    # With a source these are a copy.
    if plan.source is not None:
        matrices[:, :3, :3] = plan.source.heading @ matrices[:, :3, :3] @ plan.source.turn
    return matrices


def _carried_over(plan: ChainPlan, samples: Samples, matrices: Array) -> Array:
    """World matrices `(F, 4, 4)` with positions transferred from the source's root joint, if there is one, to the chain's."""
    if plan.source is None:
        return matrices
    source, followed = (samples[quantity][:, :3, 3] for quantity in plan.carried_over)
    positions = followed + plan.source.scale * (matrices[:, :3, 3] - source) @ plan.source.heading.T
    carried = np.array(every_row(matrices, len(positions)))
    carried[:, :3, 3] = positions
    return carried


def points(matrices: Array, positions: Array) -> Array:
    """Points `(F, 3)` transformed by `matrices` `(F, 4, 4)`; either may have one row, points also `(3,)`, for all frames."""
    if positions.ndim == 1 and not positions.any():
        return matrices[:, :3, 3]
    if len(matrices) == 1 and positions.ndim > 1:
        return positions @ matrices[0, :3, :3].T + matrices[0, :3, 3]
    return (matrices[:, :3, :3] @ positions[..., None])[..., 0] + matrices[:, :3, 3]


def _chain_motion(plan: ChainPlan, samples: Samples, values: list[Array]) -> ChainMotion:
    parent = samples[plan.parent] if plan.parent else None
    channels = [_channels(bone, value) for bone, value in zip(plan.rest.bones, values, strict=True)]
    for index in plan.constrained:
        above = samples[plan.pose(index - 1)] if index else parent
        channels[index] = posed_channels(plan.rest.bones[index], above, samples[plan.pose(index)])
    for index, scale in plan.stretched_before.items():
        channels[index] = replace(channels[index], scale=np.array([scale]))
    return ChainMotion(parent, tuple(channels))


def _channels(bone: RestBone, values: Array) -> BoneChannels:
    location, rotation, scale = (still_row(part) for part in np.split(values, [3, 7], axis=1))
    return BoneChannels(location, channel_rotations(bone.rotation_mode, rotation), scale)


def posed_channels(bone: RestBone, parent_pose: Array | None, posed: Array) -> BoneChannels:
    """Channels that would pose a bone as its constraints pose it."""
    location, linear = local_basis(bone, parent_pose, posed)
    rotation = nearest_rotation(linear)
    scale = np.einsum("fij,fij->fj", rotation, linear)
    return BoneChannels(location, rotation, scale)


def _refuse_not_finite(plan: ChainPlan, samples: Samples) -> None:
    """Refuse values that are not finite; only followed objects may be without a position for some frames."""
    followed = {plan.target_world, plan.pole_world, plan.plane_world, plan.animated_settings.get("bend")}
    for quantity in motion_quantities(plan):
        values = samples[quantity]
        known = np.abs(values) < LARGEST
        if quantity not in followed and not known.all():
            lost = ~known.all(axis=tuple(range(1, values.ndim)))
            bone = Sentence('bone "{bone}"', {"bone": quantity.bone})
            raise ObjectError(
                'Armature "{armature}", {what}: the keys at frame {frame:g} do not give a finite number. Correct or delete '
                "those keys.",
                armature=plan.names.armature,
                what=bone if quantity.bone else quantity.path or Sentence("object"),
                frame=plan.frames[np.argmax(lost)],
            )


def _refuse_zero_scale(plan: ChainPlan, world_from_armature: Array) -> None:
    flat = determinant(world_from_armature[:, :3, :3]) == 0.0
    if flat.any():
        raise ObjectError(
            'Armature "{armature}" has zero scale at frame {frame:g}. Give it a non-zero scale in the range.',
            armature=plan.names.armature,
            frame=plan.frames[np.argmax(flat)],
        )
