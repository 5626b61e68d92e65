"""Rotations as arrays: matrices, quaternions (w, x, y, z), axis-angles. All `(..., 3, 3)`, `(..., 4)`, `(..., 3)`."""

from __future__ import annotations

import numpy as np

from ..array_types import Array, Mask
from ..arrays import dot, largest_component, magnitude


def unit(vectors: Array) -> Array:
    """Vectors `(..., k)` divided by their length; the zero vector stays zero.

    Scaled by the largest component first, so that neither tiny nor huge vectors lose their direction.
    """
    largest = largest_component(vectors)[..., None]
    if np.all(largest > 0.0):
        scaled = vectors / largest
        return scaled / magnitude(scaled)[..., None]
    scaled = np.divide(vectors, largest, out=np.zeros_like(vectors), where=largest > 0)
    length = magnitude(scaled)[..., None]
    return np.divide(scaled, length, out=np.zeros_like(scaled), where=length > 0)


FLAT = 1e-14
"""Volume of a matrix's columns, relative to the product of their lengths, that rounding cannot tell from none."""


AXES = 2
"""Of a matrix, when there is but one."""

ROUNDED = 1e-4
"""How far a rotation of single precision may be off; in its fourth power, after two steps, nothing is left."""

WIDE = 0.1
"""Of turns beyond 162 degrees: there, a matrix's trace tells the first component of the quaternion with fewer digits."""


def determinant(matrices: Array) -> Array:
    """Determinants `(...)` of matrices `(..., 3, 3)`: the volume that their columns span, without a warning for none."""
    (a, b, c), (d, e, f), (g, h, i) = ([matrices[..., row, column] for column in range(3)] for row in range(3))
    return a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)


def carried(matrices: Array, vectors: Array) -> Array:
    """Vectors `(..., 3)` that matrices `(..., 3, 3)` make of others `(..., 3)`."""
    return (matrices @ vectors[..., None])[..., 0]


def times_still(matrices: Array, still: Array) -> Array:
    """Products of matrices `(..., F, 3, 3)` with what is the same at all frames, `(..., 1, 3, 3)` or `(3, 3)`.

    All their rows go into one product, which takes a tenth of the time. What is not the same is multiplied one by one.
    """
    if matrices.ndim == AXES or (still.ndim > AXES and still.shape[-3] != 1):
        return matrices @ still
    products = matrices.reshape(*matrices.shape[:-3], -1, 3) @ (still[..., 0, :, :] if still.ndim > AXES else still)
    return products.reshape(*products.shape[:-2], -1, 3, 3)


def is_flat(matrices: Array, volume: float = FLAT) -> Mask:
    """Where matrices `(..., 3, 3)` have no inverse, `(...)`: a column is zero, or all lie in one plane; `volume` as `FLAT`."""
    extent = np.prod(magnitude(np.swapaxes(matrices, -1, -2)), axis=-1)
    return np.abs(determinant(matrices)) <= volume * extent


def solve_linear(matrices: Array, vectors: Array) -> Array:
    """Solve `matrices @ x = vectors`, `(..., 3, 3)` and `(..., 3)`; least squares where a matrix has no inverse."""
    shape = np.broadcast_shapes(matrices.shape[:-2], vectors.shape[:-1])
    matrices = np.broadcast_to(matrices, (*shape, 3, 3))
    columns = np.broadcast_to(vectors, (*shape, 3))[..., None]
    flat = is_flat(matrices)
    if not flat.any():
        return np.linalg.solve(matrices, columns)[..., 0]
    solved = np.empty(columns.shape)
    solved[flat] = np.linalg.pinv(matrices[flat]) @ columns[flat]
    solved[~flat] = np.linalg.solve(matrices[~flat], columns[~flat])
    return solved[..., 0]


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
    return _of_rows(rows)


def least_turn(start: Array, end: Array) -> Array:
    """Rotation matrices `(..., 3, 3)` that bring unit vectors `start` `(..., 3)` to `end` the shortest way.

    Of opposite vectors, whose shortest ways are many, the half turn about any axis across them.
    """
    half = unit(start + end)
    # The half turn about what lies half-way brings start to end, that about end leaves it there: together the way between.
    turns = _half_turn(end) @ _half_turn(half)
    opposite = ~np.any(half != 0.0, axis=-1)[..., None, None]
    if not opposite.any():
        return turns
    across = unit(np.cross(start, np.eye(3)[np.argmin(np.abs(start), axis=-1)]))
    return np.where(opposite, _half_turn(across), turns)


def _half_turn(axis: Array) -> Array:
    return 2.0 * axis[..., :, None] * axis[..., None, :] - np.eye(3)


Rows = tuple[tuple[Array, Array, Array], ...]


def _of_rows(rows: Rows) -> Array:
    """Matrices `(..., 3, 3)` of components `(...)`: filled in place, which takes a third of the time of stacking."""
    matrices = np.empty((*np.shape(rows[0][0]), 3, 3))
    for row, components in enumerate(rows):
        for column, values in enumerate(components):
            matrices[..., row, column] = values
    return matrices


def from_quaternion(quaternions: Array) -> Array:
    """Rotation matrices `(..., 3, 3)` of quaternions `(..., 4)`, which need not be normalised; zero is identity."""
    q = unit(quaternions)
    q = np.where(np.any(q != 0.0, axis=-1, keepdims=True), q, np.array([1.0, 0.0, 0.0, 0.0]))
    w, x, y, z = (q[..., component] for component in range(4))
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return _of_rows(rows)


def to_quaternion(matrices: Array) -> Array:
    """Unit quaternions `(..., 4)` of rotation matrices `(..., 3, 3)`; the sign is arbitrary.

    Each of the four components is formed from the largest one (Shepperd 1978), so none is lost to cancellation.
    """
    m = matrices
    # The product of the quaternion with itself, `(..., 4, 4)`, four times: each row is the quaternion times a component.
    products = np.empty((*m.shape[:-2], 4, 4))
    trace = m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
    products[..., 0, 0] = 1.0 + trace
    for k in range(3):
        after, last = (k + 1) % 3, (k + 2) % 3
        products[..., k + 1, k + 1] = 1.0 + 2.0 * m[..., k, k] - trace
        products[..., 0, k + 1] = products[..., k + 1, 0] = m[..., last, after] - m[..., after, last]
        products[..., k + 1, after + 1] = products[..., after + 1, k + 1] = m[..., k, after] + m[..., after, k]
    best = np.argmax(np.diagonal(products, axis1=-2, axis2=-1), axis=-1)[..., None, None]
    return unit(np.take_along_axis(products, best, axis=-2)[..., 0, :])


def to_axis_angle(quaternions: Array) -> tuple[Array, Array]:
    """Angle `(...)` in 0..pi and unit axis `(..., 3)` of unit quaternions; no turn gives the Y axis, as in Blender."""
    q = np.where(quaternions[..., :1] < 0.0, -quaternions, quaternions)
    sine = magnitude(q[..., 1:])
    angle = 2.0 * np.arctan2(sine, q[..., 0])
    axis = np.where(sine[..., None] > 0.0, unit(q[..., 1:]), np.array([0.0, 1.0, 0.0]))
    return angle, axis


def nearest_rotation(matrices: Array) -> Array:
    """Rotation `(..., 3, 3)` nearest to each matrix (polar decomposition); a mirrored matrix gives that of its negative.

    Where all are rotations but for rounding, steps of Newton and Schulz do: each squares what is off (Higham, Functions of
    Matrices, 8.3).
    """
    squares = np.swapaxes(matrices, -1, -2) @ matrices
    if np.abs(squares - np.eye(3)).max(initial=0.0) <= ROUNDED:
        rotations = 1.5 * matrices - 0.5 * matrices @ squares
        rotations = 1.5 * rotations - 0.5 * rotations @ (np.swapaxes(rotations, -1, -2) @ rotations)
    else:
        left, _, right = np.linalg.svd(matrices)
        rotations = left @ right
    return rotations * np.where(determinant(rotations) < 0.0, -1.0, 1.0)[..., None, None]


def twists_about(axes: Array, turns: Array) -> Array:
    """How far `(...)`, 0..pi, rotations `(..., 3, 3)` turn about unit axes `(..., 3)`, beside the way they swing these.

    The rest after the shortest turn that brings the axis where it goes (swing and twist). Of a half swing, 0.
    """
    m = turns
    # Four times the quaternion's first component, by itself and by the others: what their ratio needs, where it is not small.
    squared = 1.0 + m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
    x, y, z = np.moveaxis(axes, -1, 0)
    along = x * (m[..., 2, 1] - m[..., 1, 2]) + y * (m[..., 0, 2] - m[..., 2, 0]) + z * (m[..., 1, 0] - m[..., 0, 1])
    twists = np.asarray(2.0 * np.arctan2(np.abs(along), squared))
    wide = squared < WIDE
    if np.any(wide):
        quaternions = to_quaternion(m[wide])
        along = np.sum(quaternions[..., 1:] * np.broadcast_to(axes, (*wide.shape, 3))[wide], axis=-1)
        twists[wide] = 2.0 * np.arctan2(np.abs(along), np.abs(quaternions[..., 0]))
    return twists


def slerp(start: Array, end: Array, amount: Array) -> Array:
    """Quaternions `(..., 4)` on the shortest way from `start` to `end`, `amount` `(...)` 0..1 of it (Shoemake 1985)."""
    cosine = dot(start, end)
    end = np.where(cosine[..., None] < 0.0, -end, end)
    # atan2 of the half chord and the half sum is exact for tiny and for wide angles alike.
    chord = magnitude(end - start)
    total = magnitude(end + start)
    angle = 2.0 * np.arctan2(chord, total)
    sine = np.sin(angle)
    safe = np.where(sine > 0.0, sine, 1.0)
    first = np.where(sine > 0.0, np.sin((1.0 - amount) * angle) / safe, 1.0 - amount)
    second = np.where(sine > 0.0, np.sin(amount * angle) / safe, amount)
    return unit(first[..., None] * start + second[..., None] * end)
