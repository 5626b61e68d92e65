"""Read armatures at rest as arrays: chains, whole skeletons, feet, joint limits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...core.array_types import Array
from ...core.arrays import magnitude, path_length
from ...core.contacts.points import FootPoints, foot_points
from ...core.limbs.skeleton import Skeleton
from ...core.rig.bones import RestChain
from ...errors import ObjectError
from ..blender_types import Bone, Constraint, Object, PoseBone
from ..bones import ChainNames, bones_below, read_rest_bone
from ..graph.rig_graph import RigGraph, Stillness, inverse_kinematics
from ..keys.reading import moving_curves
from ..lookup import read_once
from .constraints import entries_of, is_acting

COINCIDENT = 1e-4
"""Distance, relative to the bone's link, within which a tail is at a joint: single precision far from the origin."""


def read_rest_chain(armature: Object, names: ChainNames, *, all_joints: bool) -> RestChain:
    """The bones from the upper one to the one that carries the tip, at rest, in armature space.

    `all_joints`: every bone from the upper to the lower one turns; else only these two.
    """
    bones = armature.pose.bones
    path = bone_path(bones[names.upper], bones[carrier_of(armature, names)])
    carrier = path[-1].bone
    tip = np.array([0.0, carrier.length if names.tip_at_tail else 0.0, 0.0])
    if carrier.name != names.tip:
        tip = np.array(carrier.matrix_local.inverted() @ bones[names.tip].bone.head_local)
    lower = [bone.name for bone in path].index(names.lower)
    turning = tuple(range(lower + 1)) if all_joints else (0, lower)
    return RestChain(tuple(read_rest_bone(bone) for bone in path), turning, tip)


def carrier_of(armature: Object, names: ChainNames) -> str:
    """Name of the bone that carries the tip: the tip bone, or the lower one where the tip is a foot parented elsewhere."""
    bones = armature.pose.bones
    is_loose = names.tip != names.lower and bones[names.lower] not in bones[names.tip].parent_recursive
    return names.lower if is_loose else names.tip


def all_places(armature: Object) -> Array:
    """Heads and tails `(4 b, 3)` of all `b` bones of an armature, at rest and in the present pose, armature space."""
    ends = ((armature.data.bones, ("head_local", "tail_local")), (armature.pose.bones, ("head", "tail")))
    return np.concatenate([_points(bones, name) for bones, names in ends for name in names])


def mesh_extents(armature: Object) -> Array:
    """Extent `(3,)` along each axis of the armature of the largest mesh parented to it, directly or through others."""
    extents = [np.zeros(3)]
    to_armature = armature.matrix_world.inverted_safe()
    for thing in armature.children_recursive:
        if thing.type == "MESH":
            corners = [to_armature @ thing.matrix_world @ Vector(corner) for corner in thing.bound_box]
            extents.append(np.ptp(np.array(corners), axis=0))
    return np.max(extents, axis=0)


def bone_path(first: PoseBone, last: PoseBone) -> list[PoseBone]:
    """The bones from `first` down to `last`, both included."""
    path = [last]
    while path[-1] != first:
        path.append(path[-1].parent)
    return path[::-1]


def starts_at_tail(child: PoseBone) -> bool:
    """Whether a bone's head is at its parent's tail."""
    gap = (child.bone.head_local - child.parent.bone.tail_local).length
    return gap <= COINCIDENT * child.parent.bone.length


def is_added_leaf(bone: PoseBone) -> bool:
    """Whether a bone is a leaf that an exporter has added to the end of a branch: its parent once more, in line with it."""
    if bone.parent is None or bone.children:
        return False
    above, near = bone.parent.bone, SAME_PLACE * bone.parent.bone.length
    continued = 2.0 * above.tail_local - above.head_local
    return (bone.bone.head_local - above.tail_local).length <= near and (bone.bone.tail_local - continued).length <= near


TURNING = {
    "COPY_TRANSFORMS", "COPY_ROTATION", "TRANSFORM", "DAMPED_TRACK", "TRACK_TO", "LOCKED_TRACK", "STRETCH_TO", "ARMATURE",
}  # fmt: skip
"""Constraints that override a bone's own rotation."""

FOLLOWING = {"COPY_TRANSFORMS", "COPY_ROTATION", "COPY_LOCATION", "CHILD_OF", "ARMATURE"}
"""Constraints by which a bone stands for another one, if both begin at the same place."""


def read_skeleton(armature: Object) -> Skeleton:
    """The bones of an armature, with which of them are posed by constraints or copy others."""
    bones = armature.data.bones
    number = {bone.name: index for index, bone in enumerate(bones)}
    turned = read_once(inverse_kinematics, armature)
    copies: list[tuple[int, int]] = []
    bound: set[int] = set()
    for bone in armature.pose.bones:
        turning = [constraint for constraint in bone.constraints if constraint.type in TURNING]
        if any(not constraint.mute for constraint in (*turning, *turned.get(bone.name, ()))):
            bound.add(number[bone.name])
        copies += [(number[bone.name], number[name]) for name in _followed(armature, bone.constraints) if name in number]
    weighted = read_once(_weighted_bones, armature)
    world_from_armature = np.array(armature.matrix_world)[:3, :3]
    linear = world_from_armature if np.isfinite(world_from_armature).all() else np.eye(3)
    # Least squares also answer for an armature that is flat along an axis, whose matrix has no inverse.
    down = np.linalg.lstsq(linear, np.array([0.0, 0.0, -1.0]), rcond=None)[0]
    return Skeleton(
        names=tuple(number),
        parents=tuple(number[bone.parent.name] if bone.parent else -1 for bone in bones),
        heads=_points(bones, "head_local"),
        tails=_points(bones, "tail_local"),
        deforms=tuple(bone.use_deform for bone in bones),
        copies=tuple(copies),
        bound=frozenset(bound),
        down=(float(down[0]), float(down[1]), float(down[2])),
        mirrored=bool(np.linalg.det(linear) < 0.0),
        weighted=tuple(name in weighted for name in number) if weighted else (),
    )


def _weighted_bones(armature: Object) -> frozenset[str]:
    """Names of the bones that carry some of a mesh: a vertex, or a whole mesh that is parented to them.

    A group alone says nothing, for importers make one for each bone. Of meshes with more vertices than a budget some are read.
    """
    names = set[str]()
    for mesh in (thing for thing in bpy.data.objects if thing.type == "MESH"):
        if mesh.parent == armature and mesh.parent_type == "BONE":
            names.add(mesh.parent_bone)
        if not any(modifier.type == "ARMATURE" and modifier.object == armature for modifier in mesh.modifiers):
            continue
        groups = {group.index: group.name for group in mesh.vertex_groups if group.name in armature.data.bones}
        waiting = {index for index, name in groups.items() if name not in names}
        vertices = mesh.data.vertices
        # Blender's collections take no slices with steps.
        for number in range(0, len(vertices), 1 + len(vertices) // MOST_VERTICES):
            if not waiting:
                break
            waiting -= {group.group for group in vertices[number].groups if group.weight > LEAST_WEIGHT}
        names |= {name for index, name in groups.items() if index not in waiting}
    return frozenset(names)


def joined_by_constraints(armature: Object) -> list[str]:
    """Bones that constraints take to where a bone ends that is not above them: parents do not show limbs of such bones.

    Only bones that carry some of a mesh, if any does, else those that deform.
    """
    weighted = read_once(_weighted_bones, armature)
    bones = [bone for bone in armature.pose.bones if (bone.name in weighted if weighted else bone.bone.use_deform)]

    def continues(bone: PoseBone, other: PoseBone) -> bool:
        is_there = (bone.bone.head_local - other.bone.tail_local).length <= SAME_PLACE * other.bone.length
        return is_there and other not in bone.parent_recursive

    carried = [bone for bone in bones if any(taking.type in CARRYING and is_acting(taking) for taking in bone.constraints)]
    return [bone.name for bone in carried if any(continues(bone, other) for other in bones)]


def _followed(armature: Object, constraints: Iterable[Constraint]) -> Iterator[str]:
    """Names of the bones of the same armature that constraints make a bone follow."""
    for constraint in constraints:
        if constraint.type in FOLLOWING:
            yield from (entry.subtarget for entry in entries_of(constraint) if entry.target == armature)


def _points(items: Any, name: str) -> Array:
    """A position `(n, 3)` of each of Blender's items."""
    points = np.empty(3 * len(items), dtype=np.float32)
    items.foreach_get(name, points)
    return points.reshape(-1, 3).astype(float)


LEAST_WEIGHT = 0.01
"""Weight of a vertex that shows that a bone carries it; importers and normalising leave less behind."""

MOST_VERTICES = 100_000
"""Number of a mesh's vertices whose weights are read at most, in less than a second."""

ON_ITS_HEAD = 0.5
"""Fraction of its length by which a leg at rest points up, at least, if its armature is turned or mirrored upside down."""

LYING = 0.35
"""Sine of the angle below the horizontal from which a leg at rest points down; with flatter legs the character lies."""

SHOE = 1.6
"""Maximum distance of a foot's mesh from its ankle, relative to that of the foot's farthest joint."""

STUB = 0.02
"""Length of a foot, relative to its leg, up to which an importer made it up, so that it does not bound the foot's mesh."""

AS_LONG = 1e-5
"""Relative difference of lengths that are the same in single precision."""
USUAL_FOOT = 1.0 / 6.0
"""Distance from ankle to ball of a person, leg lengths: 15 cm of a leg of 0.9 m."""
SAME_PLACE = 0.05
"""Distance up to which bones begin or end at the same place, relative to the other bone's length or the foot's reach."""

CARRYING = {"COPY_LOCATION", "COPY_TRANSFORMS", "CHILD_OF", "ARMATURE"}
"""Constraints that take a bone along with another one: those of rotation and limits leave it where its own keys are."""

EVEN = 1e-5
"""Relative difference up to which the scales of a bone's axes count as equal."""


def foot_bone(armature: Object, names: ChainNames) -> PoseBone | None:
    """The bone that begins at the tip of a limb; `None` where the limb ends there, or continues in several bones.

    A foot that is parented elsewhere and follows by a constraint counts as part of the lower bone.
    """
    carrier = armature.pose.bones[names.tip]
    if not names.tip_at_tail:
        return None if carrier_of(armature, names) != names.tip and is_carried(carrier, names.lower) else carrier
    at_tip = [child for child in carrier.children if starts_at_tail(child)]
    return at_tip[0] if len(at_tip) == 1 else None


def is_carried(foot: PoseBone, lower: str) -> bool:
    """Whether a constraint, of a foot or of a bone above it, takes it along with the lower bone of a leg."""
    placing = next(filter(None, map(_placing, (foot, *foot.parent_recursive))), None)
    return placing is not None and _takes_along(placing, foot.id_data, lower)


def _placing(bone: PoseBone) -> Constraint | None:
    """The constraint that places a bone now: the last one, which overrides those before."""
    acting = [constraint for constraint in bone.constraints if constraint.type in CARRYING and is_acting(constraint)]
    return acting[-1] if acting else None


def _takes_along(constraint: Constraint, armature: Object, lower: str) -> bool:
    """Whether a bone goes wherever a leg goes by a constraint, along all axes; an influence that changes counts as full."""
    graph = RigGraph()
    is_whole = constraint.influence == 1.0 or not Stillness(graph).keeps(armature, constraint.path_from_id("influence"))
    axes = [getattr(constraint, f"use_{axis}") for axis in "xyz"] if constraint.type == "COPY_LOCATION" else []
    return is_whole and all(axes) and graph.follows(constraint, (armature.name, lower))


def stays_behind(foot: PoseBone, names: ChainNames) -> bool:
    """Whether a foot that is parented elsewhere goes where its keys or other bones take it, and not where its leg goes."""
    armature, graph = foot.id_data, RigGraph()
    if is_carried(foot, names.lower):
        return False
    stillness = Stillness(graph)
    if foot.name == names.tip or _placing(foot) or not stillness.keeps(armature, foot.path_from_id("location")):
        return True
    above = graph.above([(armature.name, foot.name)]).nodes
    # Such as a foot whose shin copies only the rotations of the leg's bones.
    if (armature.name, names.lower) in above:
        return False
    shared = [bone.name for bone in armature.pose.bones[names.lower].parent_recursive if bone in foot.parent_recursive]
    alone = above - graph.above([(armature.name, name) for name in ("", *shared)]).nodes
    return not stillness.holds(alone - {(armature.name, foot.name)})


def feet_elsewhere(armature: Object, names: ChainNames) -> list[PoseBone]:
    """The deforming bones at the end of a limb that are parented elsewhere, the highest in the hierarchy first.

    Where meshes have weights, only bones that carry some of one, themselves or by a bone below.

    None where its tip is such a bone, or where the limb has a foot of its own.
    """
    carrier, own = armature.pose.bones[names.tip], foot_bone(armature, names)
    if carrier_of(armature, names) != names.tip or (own is not None and not is_added_leaf(own)):
        return []
    end = carrier.bone.tail_local if names.tip_at_tail else carrier.bone.head_local
    near = SAME_PLACE * armature.data.bones[names.lower].length
    bones, heads = read_once(_deforming_bones, armature)
    # Arrays leave few of hundreds of bones; a little more than those that are near, for they are rounded otherwise.
    rows = np.flatnonzero(magnitude(heads - np.array(end)) <= 2.0 * near).tolist()
    feet = [
        foot
        for foot in (armature.pose.bones[bones[row]] for row in rows)
        if foot != carrier
        and carrier not in foot.parent_recursive
        and foot not in carrier.parent_recursive
        and (foot.bone.head_local - end).length <= near
    ]
    if feet:
        # Bones deform by default, so where weights are known, they tell a foot from a control.
        weighted = read_once(_weighted_bones, armature)
        feet = [
            foot
            for foot in feet
            if not weighted or not weighted.isdisjoint(bone.name for bone in (foot.bone, *bones_below(foot.bone)))
        ]
    return sorted(feet, key=lambda foot: len(foot.parent_recursive))


def _deforming_bones(armature: Object) -> tuple[list[str], Array]:
    """Names of an armature's deforming bones, and their heads `(B, 3)` at rest."""
    bones = [bone.bone for bone in armature.pose.bones if bone.bone.use_deform]
    return [bone.name for bone in bones], np.array([bone.head_local for bone in bones]).reshape(-1, 3)


def read_foot_points(armature: Object, names: ChainNames, rest: RestChain, toe: str) -> FootPoints:
    """Heel and ball in the space of the foot bone, or of the bone that carries the tip if the limb has no foot.

    `toe` names the toe bone; without one, or with one that is not below the foot, the ball is the foot's tail. The sole is
    where the foot's mesh ends, else at a heel bone, else as low as the lowest joint.
    """
    foot = foot_bone(armature, names)
    if foot is None:
        return FootPoints(rest.tip, rest.tip, 0.0)
    joints = rest.rest_joints()
    below = {bone.name: bone for bone in bones_below(foot.bone)}
    ends = [(bone.head_local,) if has_invented_tail(bone) else (bone.head_local, bone.tail_local) for bone in below.values()]
    joints_below = np.array([point for bone_ends in ends for point in bone_ends]).reshape(-1, 3)
    length = float(path_length(joints))
    foot_length = min(foot.bone.length, USUAL_FOOT * length) if has_invented_tail(foot.bone) else foot.bone.length
    ankle = np.array(foot.bone.head_local)
    farthest = max(foot_length, *(magnitude(joints_below - ankle)), 0.0)
    reach = SHOE * farthest if farthest > STUB * length else length
    up = _up_at_rest(armature, joints)
    seen, source = _vertices(armature, foot, min(reach, length)), "MESH"
    if not len(seen):
        seen, source = _heel_bone(armature, foot, reach, up), "BONE"
    return foot_points(
        foot_rest=np.array(foot.bone.matrix_local),
        foot_length=foot_length,
        toe_rest=np.array(below[toe].matrix_local) if toe in below else None,
        joints_below=joints_below,
        up_armature=up,
        leg_length=length,
        leg=joints,
        seen=seen,
        source=source,
    )


def has_invented_tail(bone: Bone) -> bool:
    """Whether an import has made up the tail of a last bone: it gives it its parent's length, as the file has no such point."""
    parent = bone.parent
    return parent is not None and not bone.children and abs(bone.length - parent.length) <= AS_LONG * parent.length


def _vertices(armature: Object, foot: PoseBone, reach: float) -> Array:
    """Vertices `(n, 3)` at rest, armature space, that mostly follow the foot or bones below it, within `reach` of the ankle.

    Where no mesh has weights for these bones, as in control rigs, the deforming bones that begin where they do count.
    """
    foot_bones = [foot.bone, *bones_below(foot.bone)]
    near = SAME_PLACE * reach
    beside = [
        bone
        for bone in armature.data.bones
        if bone.use_deform and any((bone.head_local - below.head_local).length <= near for below in foot_bones)
    ]
    world, ankle = np.array(armature.matrix_world), np.array(foot.bone.head_local)
    meshes = [mesh for mesh in bpy.data.objects if mesh.type == "MESH" and mesh.data.vertices]
    for names in ({bone.name for bone in foot_bones}, {bone.name for bone in beside}):
        vertices = [np.zeros((0, 3))]
        for mesh in meshes:
            rigid = mesh.parent == armature and mesh.parent_type == "BONE" and mesh.parent_bone in names
            skinned = any(modifier.type == "ARMATURE" and modifier.object == armature for modifier in mesh.modifiers)
            if not rigid and not (skinned and any(name in mesh.vertex_groups for name in names)):
                continue
            points = _points(mesh.data.vertices, "co")
            if rigid:
                bone = armature.data.bones[mesh.parent_bone]
                # What is parented to a bone is in the space of its tail.
                at_tail = Matrix.Translation((0.0, bone.length, 0.0))
                armature_from_mesh = np.array(bone.matrix_local @ at_tail @ mesh.matrix_parent_inverse @ mesh.matrix_basis)
            else:
                armature_from_mesh = np.linalg.solve(world, np.array(mesh.matrix_world))
            points = points @ armature_from_mesh[:3, :3].T + armature_from_mesh[:3, 3]
            rows = np.flatnonzero(magnitude(points - ankle) <= reach)
            vertices.append(points[rows if rigid else [row for row in rows.tolist() if _follows(mesh, row, names)]])
        seen = np.concatenate(vertices)
        if len(seen):
            return seen
    return np.zeros((0, 3))


def _follows(mesh: Object, vertex: int, names: set[str]) -> bool:
    """Whether these bones have more than half of a vertex's weight."""
    weights = [(mesh.vertex_groups[group.group].name in names, group.weight) for group in mesh.data.vertices[vertex].groups]
    return sum(weight for is_own, weight in weights if is_own) > 0.5 * sum(weight for _, weight in weights)


def _heel_bone(armature: Object, foot: PoseBone, reach: float, up: Array) -> Array:
    """Middle `(1, 3)` of the lowest bone near and below the ankle that is called a heel; `(0, 3)` where there is none."""
    near = [
        np.array(bone.head_local + bone.tail_local) / 2.0
        for bone in armature.data.bones
        if "heel" in bone.name.lower() and (bone.head_local - foot.bone.head_local).length <= reach
    ]
    lower = [middle for middle in near if (middle - np.array(foot.bone.head_local)) @ up < 0.0]
    return np.array([min(lower, key=lambda middle: float(middle @ up))]) if lower else np.zeros((0, 3))


def _up_at_rest(armature: Object, joints: Array) -> Array:
    """The world's up `(3,)` in armature space; its opposite, or the leg's own up, for a leg that does not point down there.

    joints : (n, 3) of a leg at rest, armature space, from the hip on. A character may lie at rest, or be upside down by half
    a turn or a negative scale: its soles are where its legs end. Raises `ObjectError` for a flat armature.
    """
    world_from_armature = armature.matrix_world.to_3x3()
    if not 0.0 < abs(world_from_armature.determinant()) < np.inf:
        raise ObjectError(
            'Armature "{armature}" has no size along one of its axes. Give it a scale other than 0.', armature=armature.name
        )
    up = np.linalg.solve(np.array(world_from_armature), np.array([0.0, 0.0, 1.0]))
    leg = joints[0] - joints[-1]
    if leg @ up >= LYING * np.linalg.norm(leg) * np.linalg.norm(up):
        return up
    return -up if leg @ up <= -ON_ITS_HEAD * np.linalg.norm(up) * float(path_length(joints)) else leg


def scaled_bone_above(armature: Object, bone: str) -> str | None:
    """Name of the nearest ancestor of `bone` whose scale changes or is uneven; `None` where there is none."""
    for above in armature.pose.bones[bone].parent_recursive:
        curves = moving_curves(armature, f"{above.path_from_id()}.scale")
        # Importers key scales that never change.
        changes = any(
            not curve.keyframe_points or _spread([key.co.y for key in curve.keyframe_points]) > EVEN for curve in curves
        )
        if changes or _spread(above.scale[:]) > EVEN:
            return above.name
    return None


def _spread(values: Sequence[float]) -> float:
    """Range of the absolute values, relative to the largest."""
    sizes = np.abs(values)
    return float(np.ptp(sizes) / max(sizes.max(), np.finfo(float).tiny))


AXES = "xyz"

FREE = (-np.inf, np.inf)


def turn_limits(bone: PoseBone) -> Array:
    """Minimum and maximum rotation `(3, 2)` of a bone from rest about each of its own axes, in radians; infinite where free.

    Taken from Limit Rotation constraints in local space; without any, from the bone's IK limits and locks.
    """
    limiting = [
        constraint
        for constraint in bone.constraints
        if constraint.type == "LIMIT_ROTATION" and constraint.owner_space == "LOCAL" and is_acting(constraint)
    ]
    if limiting:
        ranges = np.array([[_range(constraint, axis) for axis in AXES] for constraint in limiting])
        # Each of several constraints cuts off what it does not allow.
        return np.stack([ranges[..., 0].max(axis=0), ranges[..., 1].min(axis=0)], axis=-1)
    return np.array([_ik_range(bone, axis) for axis in AXES])


def _range(constraint: Constraint, axis: str) -> tuple[float, float]:
    if not getattr(constraint, f"use_limit_{axis}"):
        return FREE
    return getattr(constraint, f"min_{axis}"), getattr(constraint, f"max_{axis}")


def _ik_range(bone: PoseBone, axis: str) -> tuple[float, float]:
    if getattr(bone, f"lock_ik_{axis}"):
        return 0.0, 0.0
    if not getattr(bone, f"use_ik_limit_{axis}"):
        return FREE
    return getattr(bone, f"ik_min_{axis}"), getattr(bone, f"ik_max_{axis}")
