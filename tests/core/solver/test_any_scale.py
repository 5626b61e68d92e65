"""A limb of any size is solved as one of size 1, since a power of two does not round."""

import numpy as np
import pytest

from twobone_addon.core.solver import ReachOptions, solve_chain, solve_planar, solve_two_bone, solve_two_bone_limited
from twobone_addon.core.solver.planar import solve_planar_chain
from twobone_addon.core.solver.two_bone import mid_joint

TARGETS = np.array([[0.9, 0.4], [0.3, -0.8], [1.0, 1.5], [0.0, 0.0], [-0.2, 0.1]])
LINKS = np.array([0.6, 0.5, 0.4])
START = np.array([0.1, 0.3, -0.2])
LIMITS = np.array([[-1.0, 1.0], [0.0, 2.0], [-2.0, 0.5]])
BOX = np.array([-1.5, 1.5, -2.0, 2.0])

SOLVERS = {
    "chain": solve_chain,
    "chain from a pose": lambda targets, links: solve_chain(targets, links, start=START, bend=-1.0),
    "chain with limits": lambda targets, links: solve_chain(targets, links, start=START, limits=LIMITS),
    "spring": lambda targets, links: solve_chain(targets, links, start=START, method="SPRING"),
    "descent": lambda targets, links: solve_chain(targets, links, start=START, method="CCD"),
    "chain in plane": lambda targets, links: solve_planar_chain(targets, links, 1.0, start=START),
    "two links": lambda targets, links: solve_two_bone(targets, links[:2], 1.0),
    "two links with limits": lambda targets, links: solve_two_bone_limited(targets, links[:2], -1.0, BOX, 0.3),
    "softened": lambda targets, links: solve_planar(targets, links[:2], 1.0, ReachOptions(mode="SOFTEN", softness=0.1)),
    "stretched": lambda targets, links: solve_planar(targets, links[:2], 1.0, ReachOptions(mode="STRETCH")),
}


def tips(angles):
    """Tips of limbs of size 1 `(F, 2)`, by forward kinematics."""
    directions = np.cumsum(angles, axis=-1)
    links = LINKS[: angles.shape[-1]]
    return np.stack([np.cos(directions) @ links, np.sin(directions) @ links], axis=-1)


@pytest.mark.parametrize("exponent", [-1000, -600, 300, 520, 600, 1000, 1015, 1022])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_limb_of_any_size_is_solved_as_one_of_size_1(solver, exponent):
    plain = SOLVERS[solver](TARGETS, LINKS)
    scaled = SOLVERS[solver](np.ldexp(TARGETS, exponent), np.ldexp(LINKS, exponent))
    np.testing.assert_allclose(tips(scaled.angles), tips(plain.angles), rtol=0.0, atol=2e-15)
    # Some NumPy's `hypot` rounds huge numbers otherwise, and a last bit of the distance is 1e-10 in a nearly straight limb.
    np.testing.assert_allclose(scaled.angles, plain.angles, rtol=0.0, atol=1e-9)
    np.testing.assert_array_equal(scaled.reach, plain.reach)
    if hasattr(plain, "distances"):
        np.testing.assert_allclose(np.ldexp(scaled.distances, -exponent), plain.distances, rtol=0.0, atol=1e-15)


@pytest.mark.parametrize("exponent", [-1000, 520, 1022])
def test_middle_joints_of_any_size(exponent):
    scaled = mid_joint(np.ldexp(TARGETS[:3], exponent), np.ldexp(LINKS[:2], exponent), 1.0)
    np.testing.assert_allclose(np.ldexp(scaled, -exponent), mid_joint(TARGETS[:3], LINKS[:2], 1.0), rtol=0.0, atol=1e-15)


EXACT_TARGETS, EXACT_LINKS = np.array([[230, 102], [77, -205], [512, 384], [3, 1]]) / 256.0, np.array([154, 128, 102]) / 256.0
"""Numbers of few digits, which no scale rounds."""


@pytest.mark.parametrize("exponent", [-1066, -1050, -1040, -1022])
@pytest.mark.parametrize("solver", ["chain", "spring", "two links", "two links with limits"])
def test_the_smallest_numbers_are_solved_as_any(solver, exponent):
    """Below 1e-308 float64 has the fewer digits the smaller a number is, for sums and tolerances too."""
    plain = SOLVERS[solver](EXACT_TARGETS, EXACT_LINKS)
    scaled = SOLVERS[solver](np.ldexp(EXACT_TARGETS, exponent), np.ldexp(EXACT_LINKS, exponent))
    np.testing.assert_allclose(scaled.angles, plain.angles, rtol=0.0, atol=1e-12)
    np.testing.assert_array_equal(scaled.reach, plain.reach)


def test_sums_beyond_the_largest_number_are_no_hindrance():
    triangle = solve_two_bone(np.array([[1e307, 0.0]]), np.array([1e308, 1e308]), 1.0)
    np.testing.assert_allclose(triangle.angles, [[-np.arccos(0.05), 2.0 * np.arccos(0.05)]])
    assert triangle.reach.tolist() == [0]
    chain = solve_chain(np.array([[1e308, 0.0], [0.5, 0.0]]), np.array([[1e308] * 3, [1.0] * 3]))
    assert np.isfinite(chain.angles).all()
    assert chain.reach.tolist() == [0, 0]
    far = solve_chain(np.array([[1.2e308, 1.2e308]]), LINKS)
    np.testing.assert_allclose(far.angles, [[np.pi / 4, 0.0, 0.0]], atol=1e-6)
    np.testing.assert_allclose(far.distances, np.sqrt(2.0) * 1.2e308)
