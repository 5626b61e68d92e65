"""Build one tree of joints from a skeleton, whatever layers of controls and copies the rig has.

A joint is a point where bones begin. Bones that copy one another and begin at the same point are one joint, so a rig with
unparented deforming bones gets the hierarchy of the bones that these follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...array_types import Array
from ..skeleton import Skeleton, hang, way_up

SAME_PLACE = 5e-4
"""Greatest distance of coinciding joints, relative to the skeleton's size: a millimetre on a tall person."""


@dataclass(frozen=True, slots=True)
class JointTree:
    """A tree of `J` joints."""

    places: Array
    """`(J, 3)` positions."""
    parents: tuple[int, ...]
    """Index of each joint's parent, -1 for none."""
    children: tuple[tuple[int, ...], ...]
    bones: tuple[tuple[int, ...], ...]
    """The bones that begin at each joint, the one that represents it first."""
    ends: Array
    """`(J, 3)` tail of each joint's first bone."""
    size: float
    """Greatest extent of the skeleton along an axis."""
    edges: tuple[float, ...]
    """Distance of each joint from its parent; 0 without a parent."""
    depths: tuple[float, ...]
    """Length of the longest path down from each joint."""
    marks: frozenset[int] = frozenset()
    """Joints at which nothing but the end of a bone is."""

    def way_up(self, joint: int) -> list[int]:
        """The joint and its ancestors, nearest first."""
        return way_up(self.parents, joint)

    def below(self, joint: int) -> list[int]:
        """The joint and all its descendants, parents before children."""
        branch = [joint]
        for member in branch:
            branch.extend(self.children[member])
        return branch


def joint_tree(skeleton: Skeleton, chosen: Sequence[bool]) -> JointTree:
    """Build the tree of the joints at which the `chosen` bones begin."""
    size = skeleton.size
    groups = _groups(skeleton, chosen, SAME_PLACE * size)
    leaders = sorted({group for group, is_chosen in zip(groups, chosen, strict=True) if is_chosen})
    joint_of = {group: joint for joint, group in enumerate(leaders)}
    members: list[list[int]] = [[] for _ in leaders]
    for bone in _parents_first(skeleton.parents):
        if groups[bone] in joint_of:
            members[joint_of[groups[bone]]].append(bone)
    for bones in members:
        bones.sort(key=lambda bone: not chosen[bone])
    above = [joint_of.get(group, -1) for group in groups]
    # Of the bones at a joint the one with the most joints above it tells the parent.
    longest = [max((_joints_above(skeleton, above, bone) for bone in bones), key=len) for bones in members]
    parents = _hung(longest, skeleton, above, members)
    first, marks = [bones[0] for bones in members], skeleton.end_marks()
    places = skeleton.heads[first]
    edges = [float(np.linalg.norm(places[joint] - places[max(above, 0)])) * (above >= 0) for joint, above in enumerate(parents)]
    children: list[list[int]] = [[] for _ in leaders]
    for joint, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(joint)
    return JointTree(
        places=places,
        parents=tuple(parents),
        children=tuple(map(tuple, children)),
        bones=tuple(map(tuple, members)),
        ends=skeleton.tails[first],
        size=size,
        edges=tuple(edges),
        depths=tuple(_depths(parents, edges)),
        marks=frozenset(joint for joint, bones in enumerate(members) if marks.issuperset(bones)),
    )


def _depths(parents: Sequence[int], edges: Sequence[float]) -> list[float]:
    """Length of the longest path down from each joint."""
    depths = [0.0] * len(parents)
    for joint in range(len(parents)):
        length, below = 0.0, joint
        # Further up, all paths down are longer already.
        while below >= 0 and length >= depths[below]:
            depths[below] = length
            length += edges[below]
            below = parents[below]
    return depths


def _groups(skeleton: Skeleton, chosen: Sequence[bool], tolerance: float) -> list[int]:
    """Group index of each bone: bones that copy one another and begin at the same point share one."""
    # Union-find: bones of one group lead to the same one.
    leaders = list(range(len(skeleton.names)))

    def leader(bone: int) -> int:
        while leaders[bone] != bone:
            leaders[bone] = leaders[leaders[bone]]
            bone = leaders[bone]
        return bone

    chosen_children: dict[int, list[int]] = {}
    for bone, parent in enumerate(skeleton.parents):
        if parent >= 0 and chosen[bone] and not chosen[parent]:
            chosen_children.setdefault(parent, []).append(bone)
    links = list(skeleton.copies) + [(bones[0], parent) for parent, bones in chosen_children.items() if len(bones) == 1]
    links += [
        (bone, parent)
        for parent, bones in chosen_children.items()
        if len(bones) > 1
        for bone in [child for child in bones if np.linalg.norm(skeleton.tails[child] - skeleton.tails[parent]) <= tolerance][:1]
    ]
    for bone, other in links:
        if np.linalg.norm(skeleton.heads[bone] - skeleton.heads[other]) <= tolerance:
            leaders[leader(bone)] = leader(other)
    return [leader(bone) for bone in range(len(leaders))]


def _joints_above(skeleton: Skeleton, joint_of_bone: Sequence[int], bone: int) -> list[int]:
    joints = (joint_of_bone[above] for above in skeleton.way_up(bone)[1:])
    return list(dict.fromkeys(joint for joint in joints if joint not in {-1, joint_of_bone[bone]}))


def _hung(
    above: Sequence[Sequence[int]], skeleton: Skeleton, joint_of_bone: Sequence[int], members: Sequence[Sequence[int]]
) -> list[int]:
    """The parent of each joint, the nearest of those `above` it.

    Layers of a rig may go round in a ring (foot pivots): there the joint's first bone alone decides, else nothing.
    """
    parents = [-1] * len(members)
    for joint in reversed(range(len(members))):
        if above[joint] and not hang(parents, joint, above[joint][0]):
            of_first = _joints_above(skeleton, joint_of_bone, members[joint][0])
            if of_first:
                hang(parents, joint, of_first[0])
    return parents


def _parents_first(parents: Sequence[int]) -> list[int]:
    """All bones, each after its parent."""
    depths: dict[int, int] = {-1: -1}

    def depth(bone: int) -> int:
        path = [bone]
        while path[-1] not in depths:
            path.append(parents[path[-1]])
        for member in reversed(path[:-1]):
            depths[member] = depths[parents[member]] + 1
        return depths[bone]

    return sorted(range(len(parents)), key=depth)
