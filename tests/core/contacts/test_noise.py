"""What is noise on the places of feet and what is motion, and how values are smoothed."""

import numpy as np
import pytest

from tests.core.contacts.gait import RUN, WALK, feet_of, noisy
from twobone_addon.core.contacts.feet import FeetMotion, Kinematics, smoothed


def noise_in_mm(feet):
    motion = FeetMotion(feet.points, feet.points[..., 2], feet.hips, feet.leg_length, feet.rate)
    return 1000.0 * feet.leg_length * Kinematics.of(motion).noise


@pytest.mark.parametrize("rate", [24, 30, 60, 120])
@pytest.mark.parametrize("gait", [WALK, RUN], ids=["walk", "run"])
def test_the_noise_of_a_take_is_told_and_fast_feet_are_none(gait, rate):
    clean = feet_of(gait, rate=rate)
    assert noise_in_mm(clean) < 2.0
    assert noise_in_mm(noisy(clean, np.random.default_rng(7), meters=0.005)) == pytest.approx(5.0, rel=0.4)


@pytest.mark.parametrize("reach", [1, 3, 100])
def test_smoothed_values_are_the_means_of_those_around_them(reach):
    values = np.random.default_rng(7).normal(size=(2, 3, 12))
    expected = np.stack([values[..., max(at - reach, 0) : at + reach + 1].mean(axis=-1) for at in range(12)], axis=-1)
    assert smoothed(values, reach) == pytest.approx(expected, abs=1e-12)
