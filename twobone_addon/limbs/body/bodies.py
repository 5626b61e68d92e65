"""Several bodies in one skeleton: characters whose limbs have nothing to do with one another."""

from __future__ import annotations

from collections.abc import Sequence

from ...array_types import Array
from ..tree.joints import JointTree
from .judging import judged
from .shapes import Candidate

WHOLE = 2
"""Pairs of limbs from which a part of the skeleton may be a body of its own, not half of one."""


def bodies(tree: JointTree, candidates: Sequence[Candidate], down_hint: Array) -> list[list[Candidate]]:
    """The candidates of each body."""
    return _split(tree, [joint for joint, parent in enumerate(tree.parents) if parent < 0], list(candidates), down_hint)


def _split(tree: JointTree, joints: Sequence[int], candidates: list[Candidate], down_hint: Array) -> list[list[Candidate]]:
    parts = {joint: _hanging(tree, joint, candidates) for joint in joints}
    whole = {joint: part for joint, part in parts.items() if _is_whole(tree, part, down_hint)}
    rest = [each for each in candidates if not any(each in part for part in whole.values())]
    if not whole or (len(whole) == 1 and rest):
        return [candidates]
    found = [body for joint, part in whole.items() for body in _split(tree, tree.children[joint], part, down_hint)]
    return [*found, rest] if rest else found


def _hanging(tree: JointTree, joint: int, candidates: Sequence[Candidate]) -> list[Candidate]:
    below = set(tree.below(joint))
    return [each for each in candidates if each.pair.attached in below]


def _is_whole(tree: JointTree, candidates: Sequence[Candidate], down_hint: Array) -> bool:
    return len(candidates) >= WHOLE and len(judged(tree, candidates, down_hint).limbs) >= WHOLE
