"""Find the limbs of a single pose by geometry alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from functools import cache, cached_property, partial
from itertools import product

import numpy as np

from ..array_types import Array
from .body.facing import facing, placed, side_of
from .body.judging import Judged, LimbKind, bodies, judged
from .body.shapes import Reason, candidate
from .pairs import NOTHING, Found, LimbBones, LimbPair
from .skeleton import Skeleton
from .tree.candidates import Anatomy, Pair
from .tree.joints import SAME_PLACE, JointTree, joint_tree
from .tree.links import PASSED, Judge, Links


class Controls:
    """Finds the bones that pose the visible bones."""

    def __init__(self, skeleton: Skeleton) -> None:
        """Search in `skeleton`."""
        self._skeleton = skeleton
        self._tolerance = SAME_PLACE * skeleton.size
        self._bones_at: dict[bytes, list[int]] = {}
        # Heads in the order along the longest axis: those near a point are neighbours there.
        self._axis = int(np.argmax(np.ptp(skeleton.heads, axis=0)))
        self._order = np.argsort(skeleton.heads[:, self._axis], kind="stable")
        self._along = skeleton.heads[self._order, self._axis]
        self._spans = _spans(skeleton.parents)

    def posing(self, root: Array, mid: Array, tip: Array, shown: Sequence[int]) -> tuple[int, int, int]:
        """The posing upper, lower and tip bone with heads at these points `(3,)`; `shown` are the visible ones.

        The tip bone is the lower one where the tip is its tail.
        """
        followed = self._followed(shown)
        pairs = self._pairs(root, mid)
        upper, lower = max(pairs, key=lambda pair: self._rank(pair, shown, followed), default=(shown[0], shown[1]))
        tip_bone = lower
        if shown[2] != shown[1]:
            tip_bone = self._best([bone for bone in self._at(tip) if self._is_above(lower, bone)], shown[2], followed)
        return upper, lower, tip_bone if tip_bone >= 0 else lower

    def turn(self, root: Array, mid: Array, other: Array) -> bool:
        """Whether unbound bones begin at two points `(3,)`, the second below the first with only unbound bones between.

        The upper bone must turn one side only: no bone at the `other` side's middle joint may be below it.
        """
        free = (upper for upper, lower in self._pairs(root, mid) if not self._is_bound(upper, lower))
        beyond = self._at(other)
        return any(not any(self._is_above(upper, bone) for bone in beyond) for upper in free)

    def _pairs(self, root: Array, mid: Array) -> list[tuple[int, int]]:
        return [(upper, lower) for upper, lower in product(self._at(root), self._at(mid)) if self._is_above(upper, lower)]

    def _is_above(self, upper: int, bone: int) -> bool:
        """Whether one bone is an ancestor of another."""
        return self._spans[upper][0] < self._spans[bone][0] < self._spans[upper][1]

    def _is_bound(self, upper: int, lower: int) -> bool:
        """Whether a bone, one below it, or any between them is bound."""
        while lower != upper and lower not in self._skeleton.bound:
            lower = self._skeleton.parents[lower]
        return lower in self._skeleton.bound

    def below(self, bone: int, place: Array, shown: int) -> int:
        """Among the bones below `bone` that begin at a point, the one that poses the bone `shown` there; -1 for none."""
        return self._best([lower for lower in self._at(place) if self._is_above(bone, lower)], shown, self._followed([shown]))

    def _best(self, bones: Sequence[int], shown: int, followed: Sequence[int]) -> int:
        if shown in bones and shown not in self._skeleton.bound:
            return shown
        free = [bone for bone in bones if bone not in self._skeleton.bound]
        copied = {other for _, other in self._skeleton.copies}
        ranked = sorted(
            free,
            key=lambda bone: (
                bone not in followed,
                bone not in copied,
                followed.index(bone) if bone in followed else 0,
            ),
        )
        return next(iter([*ranked, *bones]), -1)

    def _rank(self, pair: tuple[int, int], shown: Sequence[int], followed: Sequence[int]) -> tuple[int, ...]:
        """Sort key, best greatest: unbound, followed by the visible bones, visible, closest together, highest."""
        upper, lower = pair
        bound = sum(bone in self._skeleton.bound for bone in pair)
        between = self._above(lower).index(upper)
        return (
            -bound,
            sum(bone in followed for bone in pair),
            sum(bone in shown for bone in pair),
            -between,
            -len(self._above(lower)),
        )

    def _followed(self, bones: Iterable[int]) -> list[int]:
        """The bones and all bones that they follow, by constraints or as children, nearest first."""
        followed: dict[int, None] = {}
        queue = deque(bones)
        while queue:
            bone = queue.popleft()
            if bone >= 0 and bone not in followed:
                followed[bone] = None
                queue.extend([*self._copied.get(bone, ()), self._skeleton.parents[bone]])
        return list(followed)

    @cached_property
    def _copied(self) -> dict[int, list[int]]:
        targets: dict[int, list[int]] = {}
        for bone, other in self._skeleton.copies:
            targets.setdefault(bone, []).append(other)
        return targets

    def _at(self, place: Array) -> list[int]:
        key = place.tobytes()
        if key not in self._bones_at:
            # Rounding must not leave out a bone just at the tolerance, so the neighbours are chosen from a little more.
            room, along = 2.0 * self._tolerance, place[self._axis]
            start, end = np.searchsorted(self._along, (along - room, along + room))
            near = np.sort(self._order[start:end])
            distances = np.linalg.norm(self._skeleton.heads[near] - place, axis=1)
            self._bones_at[key] = near[distances <= self._tolerance].tolist()
        return self._bones_at[key]

    def _above(self, bone: int) -> list[int]:
        return self._skeleton.way_up(bone)[1:]


def _spans(parents: Sequence[int]) -> list[tuple[int, int]]:
    """For each bone its number in a walk over the tree, and the first number after all bones below it."""
    children: list[list[int]] = [[] for _ in parents]
    for bone, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(bone)
    order, waiting = [], [bone for bone, parent in enumerate(parents) if parent < 0]
    while waiting:
        order.append(waiting.pop())
        waiting.extend(children[order[-1]])
    sizes = [1] * len(parents)
    for bone in reversed(order):
        if parents[bone] >= 0:
            sizes[parents[bone]] += sizes[bone]
    numbers = {bone: number for number, bone in enumerate(order)}
    return [(numbers[bone], numbers[bone] + sizes[bone]) for bone in range(len(parents))]


def search_pose(skeleton: Skeleton) -> Found:
    """Find the limbs of one pose by geometry alone: among deforming bones, or among all where these have nothing."""
    found = _findings(skeleton, skeleton.deforms)
    if found.pairs or found.left_out or all(skeleton.deforms):
        return found
    return _findings(skeleton, [True] * len(skeleton.names))


def _findings(skeleton: Skeleton, chosen: Sequence[bool]) -> Found:
    if not any(chosen):
        return NOTHING
    tree, hint = joint_tree(skeleton, chosen), np.asarray(skeleton.down)
    limbs: list[LimbPair] = []
    left_out: list[tuple[tuple[int, ...], Reason]] = []
    controls = Controls(skeleton)
    judge_for = partial(_turning_judge, tree, controls)
    pairs = Anatomy(tree).pairs
    options = [candidate(tree, pair, judge_for(pair)) for pair in pairs]
    left_out += [(_first_bones(tree, pair), Reason.SMALL) for pair, option in zip(pairs, options, strict=True) if option is None]
    for body in bodies(tree, [option for option in options if option is not None], hint):
        verdict = judged(tree, body, hint)
        direction = facing(tree, verdict.limbs, verdict.down)
        for limb, place in placed(tree, verdict.limbs, direction, judge_for):
            both = tuple(_bones(tree, controls, limb, second=second) for second in (False, True))
            left = side_of(tree, limb.shape, direction.left) * (-1.0 if skeleton.mirrored else 1.0)
            limbs.append(LimbPair(limb.kind, place, both, left, limb.shape.hand))
        left_out += [(_first_bones(tree, pair), reason) for pair, reason in verdict.left_out]
    return Found(tuple(limbs), tuple(left_out))


def _turning_judge(tree: JointTree, controls: Controls, pair: Pair) -> Judge:
    """A judge to which joints that no control turns, between the pieces of a cut bone, are no joints passed."""
    partners = pair.match.partners

    @cache
    def turn(root: int, mid: int) -> bool:
        return controls.turn(tree.places[root], tree.places[mid], tree.places[partners[mid]])

    @cache
    def above(joint: int) -> list[int]:
        return [upper for upper in tree.way_up(joint)[1:] if upper in partners]

    pieces = {joint for joint in partners if above(joint) and not any(turn(upper, joint) for upper in above(joint))}

    def judge(links: Links) -> float:
        path = above(links.tip if links.tip >= 0 else links.mid)
        between = set(path[: path.index(links.root)]) - {links.mid}
        passed = len(between & pieces)
        return 1.0 / PASSED**passed

    return judge


def _bones(tree: JointTree, controls: Controls, limb: Judged, *, second: bool) -> LimbBones:
    """The bones of a limb on one side."""
    partners, links, path = limb.shape.pair.match.partners, limb.shape.links, limb.shape.path

    def on_side(joint: int) -> int:
        return partners[joint] if second else joint

    root, mid = on_side(links.root), on_side(links.mid)
    tip = on_side(links.tip) if links.tip >= 0 else mid
    shown = tuple(tree.bones[joint][0] for joint in (root, mid, tip))
    upper, lower, tip_bone = controls.posing(tree.places[root], tree.places[mid], tree.places[tip], shown)
    after = [on_side(joint) for joint in path[path.index(links.tip) :]] if links.tip in path and limb.kind is LimbKind.LEG else []
    toe = _toe(tree, controls, tip_bone, after)
    return LimbBones(upper, lower, tip_bone, toe, tree.bones[on_side(path[-1])][0])


def _toe(tree: JointTree, controls: Controls, foot: int, path: Sequence[int]) -> int:
    """The bone that poses the toes, on the `path` from the ankle on; -1 where there are none."""
    below = (controls.below(foot, tree.places[joint], tree.bones[joint][0]) for joint in path[1:])
    return next((bone for bone in below if bone >= 0), -1)


def _first_bones(tree: JointTree, pair: Pair) -> tuple[int, int]:
    first, second = (tree.bones[joint][0] for joint in (pair.match.first, pair.match.second))
    return first, second
