"""Rotations as arrays: matrices `(..., 3, 3)`, quaternions (w, x, y, z) `(..., 4)`, axes `(..., 3)` with angles."""

from __future__ import annotations

import numpy as np

from ..array_types import Array, Mask
from ..arrays import dot, largest_component, magnitude


def unit(vectors: Array) -> Array:
    """Normalise vectors `(..., k)`; zero vectors stay zero.

    They are scaled by their largest component first, so that neither tiny nor huge vectors lose their direction.
    """
    largest = largest_component(vectors)[..., None]
    if np.all(largest > 0.0):
        scaled = vectors / largest
        return scaled / magnitude(scaled)[..., None]
    scaled = np.divide(vectors, largest, out=np.zeros_like(vectors), where=largest > 0)
    length = magnitude(scaled)[..., None]
    return np.divide(scaled, length, out=np.zeros_like(scaled), where=length > 0)


FLAT = 1e-14
"""Volume of a matrix's columns, relative to the product of their lengths, that rounding cannot distinguish from 0."""


MATRIX_DIMENSIONS = 2
"""Number of dimensions of a single matrix."""

ROUNDING_ERROR = 1e-4
"""Greatest error of a rotation in single precision; two Newton-Schulz steps reduce it to its fourth power, below rounding."""

WIDE_TURN = 0.1
"""1 + trace for a rotation of 162 degrees; of larger turns the trace gives the quaternion's first component imprecisely."""


def determinant(matrices: Array) -> Array:
    """Determinants `(...)` of matrices `(..., 3, 3)`, without warnings for singular ones."""
    (a, b, c), (d, e, f), (g, h, i) = ([matrices[..., row, column] for column in range(3)] for row in range(3))
    return a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)


def carried(matrices: Array, vectors: Array) -> Array:
    """Products `(..., 3)` of matrices `(..., 3, 3)` with vectors `(..., 3)`."""
    return (matrices @ vectors[..., None])[..., 0]


def times_still(matrices: Array, still: Array) -> Array:
    """Products of matrices `(..., F, 3, 3)` with matrices constant over the frames, `(..., 1, 3, 3)` or `(3, 3)`.

    All rows go into one matrix product, which takes a tenth of the time. If `still` is not constant, the usual product is taken.
    """
    if matrices.ndim == MATRIX_DIMENSIONS or (still.ndim > MATRIX_DIMENSIONS and still.shape[-3] != 1):
        return matrices @ still
    products = matrices.reshape(*matrices.shape[:-3], -1, 3) @ (still[..., 0, :, :] if still.ndim > MATRIX_DIMENSIONS else still)
    return products.reshape(*products.shape[:-2], -1, 3, 3)


def is_flat(matrices: Array, volume: float = FLAT) -> Mask:
    """Mask `(...)` of singular matrices `(..., 3, 3)`: a zero column, or all columns in one plane; `volume` as `FLAT`."""
    extent = np.prod(magnitude(np.swapaxes(matrices, -1, -2)), axis=-1)
    return np.abs(determinant(matrices)) <= volume * extent


def solve_linear(matrices: Array, vectors: Array) -> Array:
    """Solve `matrices @ x = vectors`, `(..., 3, 3)` and `(..., 3)`; least squares where a matrix is singular."""
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
    """Smallest rotations `(..., 3, 3)` that bring unit vectors `start` `(..., 3)` to `end`.

    For opposite vectors, which have many, a half turn about any perpendicular axis.
    """
    half = unit(start + end)
    # A half turn about the bisector brings start to end, one about end leaves it there: together they are the smallest rotation.
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
    """Matrices `(..., 3, 3)` from components `(...)`, filled in place, which takes a third of the time of stacking."""
    matrices = np.empty((*np.shape(rows[0][0]), 3, 3))
    for row, components in enumerate(rows):
        for column, values in enumerate(components):
            matrices[..., row, column] = values
    return matrices


def from_quaternion(quaternions: Array) -> Array:
    """Rotation matrices `(..., 3, 3)` of quaternions `(..., 4)`, which need not be normalised; zero gives the identity."""
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

    The components are computed from the largest one (Shepperd 1978), so none is lost to cancellation.
    """
    m = matrices
    # Four times the outer product of the quaternion with itself, `(..., 4, 4)`: each row is the quaternion times a component.
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
    """Angle `(...)` in 0..pi and unit axis `(..., 3)` of unit quaternions; the identity has the Y axis, as in Blender."""
    q = np.where(quaternions[..., :1] < 0.0, -quaternions, quaternions)
    sine = magnitude(q[..., 1:])
    angle = 2.0 * np.arctan2(sine, q[..., 0])
    axis = np.where(sine[..., None] > 0.0, unit(q[..., 1:]), np.array([0.0, 1.0, 0.0]))
    return angle, axis


def nearest_rotation(matrices: Array) -> Array:
    """Rotation `(..., 3, 3)` nearest to each matrix (polar decomposition); for a mirroring matrix, nearest to its negative.

    Where all are rotations up to rounding, Newton-Schulz steps suffice: each squares the error (Higham, Functions of Matrices,
    8.3).
    """
    squares = np.swapaxes(matrices, -1, -2) @ matrices
    if np.abs(squares - np.eye(3)).max(initial=0.0) <= ROUNDING_ERROR:
        rotations = 1.5 * matrices - 0.5 * matrices @ squares
        rotations = 1.5 * rotations - 0.5 * rotations @ (np.swapaxes(rotations, -1, -2) @ rotations)
    else:
        left, _, right = np.linalg.svd(matrices)
        rotations = left @ right
    return rotations * np.where(determinant(rotations) < 0.0, -1.0, 1.0)[..., None, None]


def twists_about(axes: Array, turns: Array) -> Array:
    """Twist angles `(...)`, 0..pi, of rotations `(..., 3, 3)` about unit axes `(..., 3)`.

    The twist is what remains of a rotation after the smallest rotation that moves the axis (swing-twist decomposition); 0 for a
    swing of half a turn.
    """
    m = turns
    # Four times the products of the quaternion's first component with itself and with the others; their ratio gives the twist
    # unless the first component is small.
    squared = 1.0 + m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
    x, y, z = np.moveaxis(axes, -1, 0)
    along = x * (m[..., 2, 1] - m[..., 1, 2]) + y * (m[..., 0, 2] - m[..., 2, 0]) + z * (m[..., 1, 0] - m[..., 0, 1])
    twists = np.asarray(2.0 * np.arctan2(np.abs(along), squared))
    wide = squared < WIDE_TURN
    if np.any(wide):
        quaternions = to_quaternion(m[wide])
        along = np.sum(quaternions[..., 1:] * np.broadcast_to(axes, (*wide.shape, 3))[wide], axis=-1)
        twists[wide] = 2.0 * np.arctan2(np.abs(along), np.abs(quaternions[..., 0]))
    return twists


def slerp(start: Array, end: Array, amount: Array) -> Array:
    """Spherical interpolation `(..., 4)` from `start` to `end` along the shorter arc by `amount` `(...)` 0..1 (Shoemake 1985)."""
    cosine = dot(start, end)
    end = np.where(cosine[..., None] < 0.0, -end, end)
    # atan2 of chord and sum is accurate for tiny and wide angles alike.
    chord = magnitude(end - start)
    total = magnitude(end + start)
    angle = 2.0 * np.arctan2(chord, total)
    sine = np.sin(angle)
    safe = np.where(sine > 0.0, sine, 1.0)
    first = np.where(sine > 0.0, np.sin((1.0 - amount) * angle) / safe, 1.0 - amount)
    second = np.where(sine > 0.0, np.sin(amount * angle) / safe, amount)
    return unit(first[..., None] * start + second[..., None] * end)
