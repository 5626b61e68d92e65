"""Which branches beside each other are a pair, against all pairs compared one by one."""

from itertools import combinations

import numpy as np
import pytest

from twobone_addon.core.limbs.tree.candidates import ALIKE, IGNORED_LENGTH, LEAST_SHARED, Matching, matches_below
from twobone_addon.core.limbs.tree.joints import JointTree

SMALLEST = 2
"""Joints of a branch that has children."""


def grown(branches):
    """A tree with one root, on which each of `branches` starts: nested tuples of an edge and the branches after it."""
    parents, edges = [-1], [0.0]

    def grow(parent, branch):
        length, *after = branch
        parents.append(parent)
        edges.append(length)
        joint = len(parents) - 1
        for each in after:
            grow(joint, each)

    for branch in branches:
        grow(0, branch)
    children = [tuple(joint for joint, above in enumerate(parents) if above == parent) for parent in range(len(parents))]
    places = np.random.default_rng(1).normal(size=(len(parents), 3))
    bones = tuple((joint,) for joint in range(len(parents)))
    return JointTree(places, tuple(parents), tuple(children), bones, places, 1.0, tuple(edges), tuple(edges))


def length_of(branch):
    return branch[0] + sum(map(length_of, branch[1:]))


def common_length(first, second):
    """Length that two branches have in common, as the module says it."""
    if abs(first[0] - second[0]) > max(ALIKE * max(first[0], second[0]), IGNORED_LENGTH):
        return 0.0
    options = sorted(
        (
            (common_length(one, other), one, other, number, at)
            for number, one in enumerate(first[1:])
            for at, other in enumerate(second[1:])
        ),
        key=lambda option: abs(option[1][0] - option[2][0]) - option[0],
    )
    total, taken = first[0], set()
    for length, _, _, number, at in options:
        if length and not {(0, number), (1, at)} & taken:
            taken |= {(0, number), (1, at)}
            total += length
    return total


def paired(branches):
    """Pairs of branches by number, of which one has children at least: the most alike first, none twice, in order."""
    shares = {}
    for first, second in combinations(range(len(branches)), 2):
        one, other = branches[first], branches[second]
        shares[first, second] = common_length(one, other) / max(length_of(one), length_of(other))
    found, taken = [], set()
    for pair, share in sorted(shares.items(), key=lambda item: -item[1]):
        if share >= LEAST_SHARED and not taken & set(pair):
            taken |= set(pair)
            found.append(pair)
    return sorted(pair for pair in found if all(len(branches[number]) >= SMALLEST for number in pair))


ARM, LEG, HAND = (0.3, (0.25,)), (0.4, (0.38, (0.2,))), (0.3, (0.2, (0.05,), (0.06,)))
END, OTHER_END = (0.35,), (0.1,)
STUMP = (0.35, (0.1,))
"""No longer than an end beside it."""


@pytest.mark.parametrize(
    "branches",
    [
        [ARM, LEG, ARM, LEG],
        [END, ARM, OTHER_END, ARM, END, OTHER_END],
        [STUMP, END, (0.34, (0.1,)), (0.345,)],
        [END, END, STUMP, (0.34, (0.2,))],
        [END, (0.38, (0.1,)), (0.36, (0.11,))],
        [HAND, END, ARM, HAND, OTHER_END, ARM],
        [(0.3, (0.3, (0.3,))), (0.3, (0.3, (0.1,))), (0.3, (0.3,)), (0.3, (0.3, (0.3, (0.3,))))],
    ],
)
def test_branches_are_paired_as_if_each_were_compared_with_each(branches):
    tree = grown(branches)
    matches = matches_below(tree, Matching(tree), tree.children[0], None)
    number = {joint: place for place, joint in enumerate(tree.children[0])}
    found = [(number[match.first], number[match.second]) for match in matches]
    assert sorted(pair for pair in found if all(len(branches[place]) >= SMALLEST for place in pair)) == paired(branches)
    for match in matches:
        one, other = branches[number[match.first]], branches[number[match.second]]
        assert match.length == pytest.approx(common_length(one, other))
        assert match.shared == pytest.approx(match.length / max(length_of(one), length_of(other)))
