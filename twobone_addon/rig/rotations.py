"""Rotations as arrays: matrices, quaternions (w, x, y, z), axis-angles. All `(..., 3, 3)`, `(..., 4)`, `(..., 3)`."""

from __future__ import annotations

import numpy as np

from ..array_types import Array


def unit(vectors: Array) -> Array:
    """Vectors `(..., k)` divided by their length; the zero vector stays zero.

    Scaled by the largest component first, so that neither tiny nor huge vectors lose their direction.
    """
    largest = np.max(np.abs(vectors), axis=-1, keepdims=True)
    scaled = np.divide(vectors, largest, out=np.zeros_like(vectors), where=largest > 0)
    length = np.sqrt(np.sum(scaled * scaled, axis=-1, keepdims=True))
    return np.divide(scaled, length, out=np.zeros_like(scaled), where=length > 0)


FLAT = 1e-14
"""Volume of a matrix's columns, relative to the product of their lengths, that rounding cannot tell from none."""


def determinant(matrices: Array) -> Array:
    """Determinants `(...)` of matrices `(..., 3, 3)`: the volume that their columns span, without a warning for none."""
    return np.sum(matrices[..., 0] * np.cross(matrices[..., 1], matrices[..., 2]), axis=-1)


def before(matrices: Array, vectors: Array) -> Array:
    """What `matrices` `(..., 3, 3)` map to `vectors` `(..., 3)`; where a matrix has no inverse, the least-squares answer."""
    shape = np.broadcast_shapes(matrices.shape[:-2], vectors.shape[:-1])
    matrices = np.broadcast_to(matrices, (*shape, 3, 3))
    columns = np.broadcast_to(vectors, (*shape, 3))[..., None]
    extent = np.prod(np.sqrt(np.sum(matrices * matrices, axis=-2)), axis=-1)
    if np.any(np.abs(determinant(matrices)) <= FLAT * extent):
        return (np.linalg.pinv(matrices) @ columns)[..., 0]
    return np.linalg.solve(matrices, columns)[..., 0]


def about_axis(axis: Array, angle: Array) -> Array:
    """Rotation matrices `(..., 3, 3)` about unit axes `(..., 3)` by angles `(...)` (Rodrigues' formula)."""
    x, y, z = np.moveaxis(axis, -1, 0)
    sine, cosine = np.sin(angle), np.cos(angle)
    # 1 - cos(a) loses all digits for small angles; 2 sin^2(a/2) does not.
    versine = 2.0 * np.sin(0.5 * angle) ** 2
    rows = (
        (cosine + x * x * versine, x * y * versine - z * sine, x * z * versine + y * sine),
        (y * x * versine + z * sine, cosine + y * y * versine, y * z * versine - x * sine),
        (z * x * versine - y * sine, z * y * versine + x * sine, cosine + z * z * versine),
    )
    return np.stack([np.stack(np.broadcast_arrays(*row), axis=-1) for row in rows], axis=-2)


def from_quaternion(quaternions: Array) -> Array:
    """Rotation matrices `(..., 3, 3)` of quaternions `(..., 4)`, which need not be normalised; zero is identity."""
    q = unit(quaternions)
    q = np.where(np.any(q != 0.0, axis=-1, keepdims=True), q, np.array([1.0, 0.0, 0.0, 0.0]))
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def to_quaternion(matrices: Array) -> Array:
    """Unit quaternions `(..., 4)` of rotation matrices `(..., 3, 3)`; the sign is arbitrary.

    Each of the four components is formed from the largest one (Shepperd 1978), so none is lost to cancellation.
    """
    m = matrices
    trace = m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
    squares = np.stack(
        [1 + trace, *(1 + 2 * m[..., k, k] - trace for k in range(3))], axis=-1
    )  # four times the square of each component
    wx, wy, wz = (m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1])
    xy, xz, yz = (m[..., 0, 1] + m[..., 1, 0], m[..., 0, 2] + m[..., 2, 0], m[..., 1, 2] + m[..., 2, 1])
    w2, x2, y2, z2 = np.moveaxis(squares, -1, 0)
    candidates = np.stack(
        [
            np.stack([w2, wx, wy, wz], axis=-1),
            np.stack([wx, x2, xy, xz], axis=-1),
            np.stack([wy, xy, y2, yz], axis=-1),
            np.stack([wz, xz, yz, z2], axis=-1),
        ],
        axis=-2,
    )
    best = np.argmax(squares, axis=-1)[..., None, None]
    return unit(np.take_along_axis(candidates, best, axis=-2)[..., 0, :])


def to_axis_angle(quaternions: Array) -> tuple[Array, Array]:
    """Angle `(...)` in 0..pi and unit axis `(..., 3)` of unit quaternions; no turn gives the Y axis, as in Blender."""
    q = np.where(quaternions[..., :1] < 0.0, -quaternions, quaternions)
    sine = np.sqrt(np.sum(q[..., 1:] ** 2, axis=-1))
    angle = 2.0 * np.arctan2(sine, q[..., 0])
    axis = np.where(sine[..., None] > 0.0, unit(q[..., 1:]), np.array([0.0, 1.0, 0.0]))
    return angle, axis


def nearest_rotation(matrices: Array) -> Array:
    """Rotation `(..., 3, 3)` nearest to each matrix (polar decomposition); a mirrored matrix gives that of its negative."""
    left, _, right = np.linalg.svd(matrices)
    rotations = left @ right
    return rotations * np.where(determinant(rotations) < 0.0, -1.0, 1.0)[..., None, None]


def slerp(start: Array, end: Array, amount: Array) -> Array:
    """Quaternions `(..., 4)` on the shortest way from `start` to `end`, `amount` `(...)` 0..1 of it (Shoemake 1985)."""
    cosine = np.sum(start * end, axis=-1)
    end = np.where(cosine[..., None] < 0.0, -end, end)
    # atan2 of the half chord and the half sum is exact for tiny and for wide angles alike.
    chord = np.sqrt(np.sum((end - start) ** 2, axis=-1))
    total = np.sqrt(np.sum((end + start) ** 2, axis=-1))
    angle = 2.0 * np.arctan2(chord, total)
    sine = np.sin(angle)
    safe = np.where(sine > 0.0, sine, 1.0)
    first = np.where(sine > 0.0, np.sin((1.0 - amount) * angle) / safe, 1.0 - amount)
    second = np.where(sine > 0.0, np.sin(amount * angle) / safe, amount)
    return unit(first[..., None] * start + second[..., None] * end)
