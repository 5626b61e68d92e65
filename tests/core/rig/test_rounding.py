"""Places rounded to single precision: as near as rounding brings them, but at the distance that they had."""

import numpy as np
import pytest

from twobone_addon.core.rig.steering import rounded_at_distance

COUNT = 500


@pytest.fixture
def random():
    return np.random.default_rng(8)


def transforms(random):
    """Random affine maps without large stretch."""
    matrices = np.tile(np.eye(4), (COUNT, 1, 1))
    matrices[:, :3] += random.uniform(-0.3, 0.3, (COUNT, 3, 4))
    return matrices


def distances(values, matrices, center):
    points = np.einsum("fij,fj->fi", matrices[:, :3, :3], values) + matrices[:, :3, 3]
    return np.linalg.norm(points - center, axis=-1)


@pytest.mark.parametrize("size", [1e-4, 1.0, 300.0])
def test_distances_survive_much_better_than_by_rounding_to_the_nearest_numbers(random, size):
    values, center = random.uniform(-size, size, (2, COUNT, 3))
    matrices = transforms(random)
    wanted = distances(values, matrices, center)
    errors = np.abs(distances(rounded_at_distance(values, matrices, center), matrices, center) - wanted)
    plain = np.abs(distances(values.astype(np.float32).astype(float), matrices, center) - wanted)
    assert np.all(errors <= plain)
    assert np.median(errors) < np.median(plain) / 10


def test_the_numbers_are_single_precision_and_next_to_the_given_ones(random):
    values = np.exp2(random.uniform(-20, 10, (COUNT, 3))) * random.choice([-1.0, 1.0], (COUNT, 3))
    values[:9] = np.exp2(np.arange(9.0))[:, None] * (1.0 - 2.0**-30)  # Just below where the steps double.
    rounded = rounded_at_distance(values, transforms(random), np.zeros((COUNT, 3)))
    np.testing.assert_array_equal(rounded, rounded.astype(np.float32))
    assert np.all(np.abs(rounded - values) <= 2.0**-21 * np.abs(values))


def test_what_is_exact_already_stays(random):
    values = random.integers(-9, 9, (COUNT, 3)).astype(float)
    np.testing.assert_array_equal(rounded_at_distance(values, transforms(random), np.ones((COUNT, 3))), values)


def test_the_centre_itself_stays():
    center = np.array([[0.5, 0.0, -2.0]])
    np.testing.assert_array_equal(rounded_at_distance(center, np.eye(4)[None], center), center)
