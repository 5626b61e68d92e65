"""Bring two links into the plane through a target at a single frame, in plain numbers: a twentieth of the time of arrays.

A limb that follows live is posed once for every move of the mouse, and calls of NumPy for arrays of one row would take as long
as a third of Blender's own evaluation of a rig. This does for the usual limb what `plane_with_normal`, `follow_together` and
`laid_along` do for all; where anything is unusual, it gives up, and those are asked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..array_types import Array
from .bones import ChainMotion, RestBone, RestChain
from .channels import OneRotation
from .following import TWO
from .inheritance import SHEAR_THRESHOLD, ParentTransform, parent_transform
from .inverse import MOST_CORRECTION, SETTLED, is_uneven
from .limb_planes import UNDECIDED
from .posing import Laying, Reference, laid_links

Numbers = tuple[float, ...]
"""A vector, or a matrix row by row."""

IDENTITY: Numbers = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)

ROUNDS = 3
"""Rounds of lengths and directions that single precision may ask for, see `MOST_CORRECTION`; what takes more is unusual."""

WITHOUT_SHEAR = ("NONE", "AVERAGE", "ALIGNED")
"""Settings of `inherit_scale` with which axes are made orthogonal before their lengths are taken away."""


@dataclass(frozen=True, slots=True)
class OneBone:
    """One bone of the limb: what it inherits it with, and its channels."""

    inherit_scale: str
    offset: Numbers
    """`3 x 3`, rest matrix relative to the parent's."""
    head: Numbers
    location: Numbers
    """Its own, 0 where it is connected."""
    local_location: bool
    scale: Numbers
    rotation: Numbers
    """`3 x 3` of a bone that rides along; the reference's of one that turns."""
    back: Numbers | None
    """`3 x 3`, see `LaidLink`; `None` for a bone that rides along."""


@dataclass(frozen=True, slots=True)
class OneFrameLimb:
    """All that a limb of two links is posed from, except its target."""

    bones: tuple[OneBone, ...]
    turning: tuple[int, ...]
    inherited: Numbers
    """`3 x 3` that the first bone inherits."""
    origin: Numbers
    post_scale: Numbers
    place: Numbers
    tip: Numbers
    normal: Numbers
    """Of the plane in which it is bent."""
    lengths: tuple[float, float]
    side: float
    """+1 or -1: that of the bend about the plane's normal."""


@dataclass(frozen=True, slots=True)
class OneFramePose:
    """Local rotations of the turning bones, and posed matrices `(1, 4, 4)` of all."""

    rotations: tuple[OneRotation, ...]
    poses: tuple[Array, ...]


def one_frame_limb(
    chain: RestChain, motion: ChainMotion, reference: Reference, *, normal: Array, laid: Array, side: float
) -> OneFrameLimb | None:
    """The limb of a motion and reference of one row; `None` for one that only arrays can pose.

    normal : (1, 3), of the plane in which it is bent
    laid : (1, 3), its own normal in the reference, which is brought onto that of the plane
    """
    bones = chain.bones
    if len(chain.turning) != TWO or chain.turning[0] != 0 or not all(map(_is_usual, bones[1:])):
        return None
    if is_uneven(reference).any():
        return None
    links = laid_links(reference, np.eye(3)[None], Laying(flatten=True, normal=laid))
    if any(link.empty.any() for link in links):
        return None
    backs = {index: _numbers(link.back) for index, link in zip(chain.turning, links, strict=True)}
    begun: ParentTransform = parent_transform(bones[0], motion.parent_pose)
    joints = reference.joints.reshape(-1, 3)
    rotations = dict(zip(chain.turning, reference.rotations, strict=True))
    parts = tuple(
        OneBone(
            bone.inherit_scale,
            _numbers(bone.offset[..., :3, :3]),
            _numbers(bone.offset[..., :3, 3]),
            (0.0, 0.0, 0.0) if bone.connected and bone.parent_rest is not None else _numbers(channels.location),
            bone.local_location,
            _numbers(channels.scale),
            _numbers(rotations.get(index, channels.rotation)),
            backs.get(index),
        )
        for index, (bone, channels) in enumerate(zip(bones, motion.channels, strict=True))
    )
    upper, lower = (math.dist(first, second) for first, second in zip(joints[:-1].tolist(), joints[1:].tolist(), strict=True))
    if upper == lower == 0.0:
        return None
    return OneFrameLimb(
        parts,
        chain.turning,
        _numbers(begun.turn_and_scale),
        _numbers(begun.origin),
        _numbers(begun.post_scale),
        _numbers(begun.place),
        _numbers(chain.tip),
        _numbers(normal),
        (upper, lower),
        side,
    )


def _is_usual(bone: RestBone) -> bool:
    return bone.inherit_rotation and bone.parent_rest is not None


def pose_at(limb: OneFrameLimb, target: Sequence[float]) -> OneFramePose | None:
    """The limb with its tip on a target, armature space, or as near as it gets, bent in the plane nearest to its own.

    `None` where the target leaves the plane or a link undecided, and where inherited axes are sheared or scaled unevenly, so that
    one round does not bring the tip to its goal.
    """
    line = _minus(target, _sum(_times(limb.place, limb.bones[0].location), limb.origin))
    distance, frame = math.hypot(*line), _frame(line, limb.normal)
    if frame is None:
        return None
    lengths, leads = limb.lengths, (0.0, 0.0)
    for _ in range(ROUNDS):
        angles = _angles(distance, lengths, limb.side)
        if angles is None:
            return None
        heading, knee, goal = angles
        directions = heading, heading + knee
        posed = _posed(limb, frame, (directions[0] + leads[0], directions[1] + leads[1]))
        if posed is None:
            return None
        pose, joints = posed
        links = [(_dot(frame[0], link), _dot(frame[1], link)) for link in map(_minus, joints[1:], joints)]
        if math.hypot(links[0][0] + links[1][0] - goal, links[0][1] + links[1][1]) <= SETTLED * (lengths[0] + lengths[1]):
            return pose
        lengths = math.hypot(*links[0]), math.hypot(*links[1])
        off = [
            math.remainder(direction - math.atan2(across, along), math.tau)
            for direction, (along, across) in zip(directions, links, strict=True)
        ]
        leads = tuple(lead + by if abs(by) < MOST_CORRECTION else lead for lead, by in zip(leads, off, strict=True))
    return None


def _frame(line: Numbers, normal: Numbers) -> tuple[Numbers, Numbers, Numbers] | None:
    """u, v and normal of `plane_with_normal`; `None` where they are undecided."""
    u = _unit(line)
    away = _across(normal, u) if u else (0.0, 0.0, 0.0)
    if u is None or not math.hypot(*away) > UNDECIDED:
        return None
    # Made perpendicular twice: a short vector magnifies rounding.
    normal = _unit(_across(away, u)) or normal
    return u, _cross(normal, u), normal


def _posed(
    limb: OneFrameLimb, frame: tuple[Numbers, Numbers, Numbers], directions: tuple[float, ...]
) -> tuple[OneFramePose, list[Numbers]] | None:
    """The limb with its links in these directions of the plane, and its joints; `None` where `pose_at` has to give up."""
    rotations, poses, joints = list[Numbers](), list[Numbers](), list[Numbers]()
    axes: Numbers = IDENTITY
    head = origin = limb.origin
    inherited, place, post_scale = limb.inherited, limb.place, limb.post_scale
    for index, bone in enumerate(limb.bones):
        if index:
            transform = _inherited(bone, axes, head)
            if transform is None:
                return None
            inherited, origin, place, post_scale = transform
        rotation = bone.rotation
        if bone.back is not None:
            turn = _laid(inherited, bone.back, frame, directions[len(rotations)])
            if turn is None:
                return None
            rotation = _product(turn, rotation)
            rotations.append(rotation)
        x, y, z = bone.scale
        axes = _product(inherited, _columns_scaled(rotation, x * post_scale[0], y * post_scale[1], z * post_scale[2]))
        head = _sum(_times(place, bone.location), origin)
        if bone.back is not None:
            joints.append(head)
        poses.append((*axes[:3], head[0], *axes[3:6], head[1], *axes[6:], head[2], 0.0, 0.0, 0.0, 1.0))
    joints.append(_sum(_times(axes, limb.tip), head))
    matrices = tuple(np.array(pose).reshape(1, 4, 4) for pose in poses)
    return OneFramePose(tuple(map(OneRotation, rotations)), matrices), joints


def _angles(distance: float, lengths: tuple[float, float], side: float) -> tuple[float, float, float] | None:
    """Direction of the first link from that to the target, angle between both, and the distance to which the tip gets.

    See `solve_two_bone`.
    """
    first, second = lengths
    near, far = abs(first - second), first + second
    if not near < far:
        return None
    inside = min(max(distance, near), far)
    straightness = math.sqrt(inside - near) * math.sqrt(inside + near) / far
    foldedness = side * math.sqrt(far - inside) * math.sqrt(far + inside) / far
    along = straightness * straightness + (first - second) / far * (foldedness * foldedness)
    across = 2.0 * (second / far) * straightness * foldedness
    return math.atan2(-across, along), 2.0 * math.atan2(foldedness, straightness), inside


def _laid(inherited: Numbers, back: Numbers, frame: tuple[Numbers, Numbers, Numbers], direction: float) -> Numbers | None:
    """The rotation of `laid_along`; `None` where the inherited transform is singular."""
    u, v, normal = frame
    cofactors = _cofactors(inherited)
    determinant = inherited[0] * cofactors[0] + inherited[1] * cofactors[1] + inherited[2] * cofactors[2]
    if determinant == 0.0:
        return None
    cosine, sine = math.cos(direction), math.sin(direction)
    aim = (u[0] * cosine + v[0] * sine, u[1] * cosine + v[1] * sine, u[2] * cosine + v[2] * sine)
    along = _unit(_scaled(_times_transposed(cofactors, aim), 1.0 / determinant))
    axis = _unit(_times_transposed(inherited, normal))
    if along is None or axis is None:
        return None
    if determinant < 0.0:
        axis = (-axis[0], -axis[1], -axis[2])
    side = _cross(axis, along)
    (a, b, c), (d, e, f), (g, h, i) = along, side, axis
    return _product((a, d, g, b, e, h, c, f, i), back)


def _inherited(bone: OneBone, axes: Numbers, head: Numbers) -> tuple[Numbers, Numbers, Numbers, Numbers] | None:
    """`parent_transform` under a posed parent: turn and scale, origin, place, post-scale; `None` for sheared axes."""
    origin = _sum(_times(axes, bone.head), head)
    under = _product(axes, bone.offset)
    place = under if bone.local_location else axes
    kind, post_scale = bone.inherit_scale, (1.0, 1.0, 1.0)
    if kind == "FULL":
        return under, origin, place, post_scale
    if kind == "FIX_SHEAR":
        straight = _without_shear(under)
        return None if straight is None else (straight, origin, place, post_scale)
    straight = _without_shear(axes) if kind in WITHOUT_SHEAR else axes
    if straight is None:
        return None
    lengths = tuple(math.hypot(*straight[column::3]) for column in range(3))
    if not min(lengths) > 0.0:
        return None
    size = 1.0
    if kind == "AVERAGE":
        cofactors = _cofactors(axes)
        size = math.cbrt(abs(axes[0] * cofactors[0] + axes[1] * cofactors[1] + axes[2] * cofactors[2]))
    elif kind == "ALIGNED":
        post_scale = lengths
    turn = _columns_scaled(straight, size / lengths[0], size / lengths[1], size / lengths[2])
    return _product(turn, bone.offset), origin, place, post_scale


def _without_shear(matrix: Numbers) -> Numbers | None:
    """The axes made orthogonal around Y; `None` where X and Z are sheared against each other, or one vanishes."""
    x, y, z = matrix[0::3], matrix[1::3], matrix[2::3]
    square = _dot(y, y)
    if not square > 0.0:
        return None
    x, z = (_minus(axis, _scaled(y, _dot(axis, y) / square)) for axis in (x, z))
    lengths = math.hypot(*x) * math.hypot(*z)
    if not lengths > 0.0 or abs(_dot(x, z)) > SHEAR_THRESHOLD * lengths:
        return None
    return x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]


def _numbers(values: Array) -> Numbers:
    return tuple(np.ravel(values).tolist())


def _sum(first: Sequence[float], second: Sequence[float]) -> Numbers:
    return first[0] + second[0], first[1] + second[1], first[2] + second[2]


def _minus(first: Sequence[float], second: Sequence[float]) -> Numbers:
    return first[0] - second[0], first[1] - second[1], first[2] - second[2]


def _scaled(vector: Sequence[float], size: float) -> Numbers:
    return vector[0] * size, vector[1] * size, vector[2] * size


def _dot(first: Sequence[float], second: Sequence[float]) -> float:
    return first[0] * second[0] + first[1] * second[1] + first[2] * second[2]


def _cross(first: Sequence[float], second: Sequence[float]) -> Numbers:
    (a, b, c), (d, e, f) = first, second
    return b * f - c * e, c * d - a * f, a * e - b * d


def _across(vector: Sequence[float], along: Sequence[float]) -> Numbers:
    return _minus(vector, _scaled(along, _dot(vector, along)))


def _unit(vector: Sequence[float]) -> Numbers | None:
    length = math.hypot(*vector)
    return _scaled(vector, 1.0 / length) if 0.0 < length < math.inf else None


def _times(matrix: Numbers, vector: Sequence[float]) -> Numbers:
    a, b, c, d, e, f, g, h, i = matrix
    x, y, z = vector
    return a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z


def _times_transposed(matrix: Numbers, vector: Sequence[float]) -> Numbers:
    a, b, c, d, e, f, g, h, i = matrix
    x, y, z = vector
    return a * x + d * y + g * z, b * x + e * y + h * z, c * x + f * y + i * z


def _product(first: Numbers, second: Numbers) -> Numbers:
    a, b, c, d, e, f, g, h, i = first
    j, k, m, n, o, p, q, r, s = second
    return (
        *(a * j + b * n + c * q, a * k + b * o + c * r, a * m + b * p + c * s),
        *(d * j + e * n + f * q, d * k + e * o + f * r, d * m + e * p + f * s),
        *(g * j + h * n + i * q, g * k + h * o + i * r, g * m + h * p + i * s),
    )


def _columns_scaled(matrix: Numbers, x: float, y: float, z: float) -> Numbers:
    a, b, c, d, e, f, g, h, i = matrix
    return a * x, b * y, c * z, d * x, e * y, f * z, g * x, h * y, i * z


def _cofactors(matrix: Numbers) -> Numbers:
    """Row by row; the transpose is the inverse times the determinant."""
    a, b, c, d, e, f, g, h, i = matrix
    return (
        *(e * i - f * h, f * g - d * i, d * h - e * g),
        *(c * h - b * i, a * i - c * g, b * g - a * h),
        *(b * f - c * e, c * d - a * f, a * e - b * d),
    )
