"""A tree stays a tree: whatever hangs where, and however it moves, the search ends, and within a budget of steps."""

import sys
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.limbs.builder import Builder
from twobone_addon.core.limbs.finding import find_limbs
from twobone_addon.core.limbs.skeleton import Skeleton, hang, is_tree

STEPS = 20_000
"""Lines of the finder that may be run for each bone and pose that is searched, the rest among them: some thirty times as many
as most skeletons take, and few against a search that does not end."""


class StepsError(Exception):
    """A search took more steps than its budget."""


@contextmanager
def budget(steps):
    """Let the finder run so many of its lines."""
    run = 0

    def count(_frame, event, _argument):
        nonlocal run
        run += event == "line"
        if run > steps:
            raise StepsError
        return count

    before = sys.gettrace()
    sys.settrace(lambda frame, _event, _argument: count if "limbs" in frame.f_code.co_filename else None)
    try:
        yield
    finally:
        sys.settrace(before)


@st.composite
def sprawled(draw):
    """A body with one to four pairs of legs, flat or steep, with feet that hang from them, from the root or from nothing."""
    builder = Builder()
    builder.bone("root", "", (0, 0, 0))
    height, flatness = draw(st.floats(0.1, 1.0)), draw(st.floats(0.0, 2.0))
    builder.bone("body", draw(st.sampled_from(["root", ""])), (0, 0.2, height), (0, -0.2, height))
    feet_hang = draw(st.sampled_from(["{}", "root", "body", ""]))
    tails = draw(st.booleans())
    for number in range(draw(st.integers(1, 4))):
        y = 0.2 * number - 0.3
        lift = draw(st.floats(-0.3, 0.4))
        knee = (0.1 + 0.3 * flatness, 1.2 * y, height + lift)
        builder.both("body", (f"upper{number}.{{}}", (0.1, 0.4 * y, height)), (f"lower{number}.{{}}", knee))
        for side, sign in (("L", 1.0), ("R", -1.0)):
            lower = f"lower{number}.{side}"
            ankle = (sign * (0.15 + 0.6 * flatness), 1.8 * y, 0.1)
            builder.bone(f"foot{number}.{side}", feet_hang.format(lower), ankle)
            if tails:
                builder.tails[builder.names.index(lower)] = ankle
    return builder.skeleton()


@st.composite
def moving(draw):
    """Such a skeleton and some poses: its body bobs, its bones turn by chance, or only what hangs from the root moves."""
    skeleton = draw(sprawled())
    count = draw(st.integers(0, 9))
    rest = np.stack([skeleton.heads, skeleton.tails], axis=1)
    poses = np.repeat(rest[None], count, axis=0)
    random = np.random.default_rng(draw(st.integers(0, 99)))
    moved = draw(st.sampled_from(["bobs", "each", "some"]))
    amount = draw(st.sampled_from([0.001, 0.03, 0.5]))
    for pose in poses:
        bones = range(len(skeleton.names)) if moved != "some" else random.choice(len(skeleton.names), 2)
        off = random.normal(size=(len(skeleton.names), 3)) * amount
        for bone in bones:
            if moved == "bobs":
                pose[bone] += (0.0, 0.0, off[0, 2]) if skeleton.parents[bone] >= 0 or bone == 1 else 0.0
            else:
                below = [other for other in range(len(skeleton.names)) if bone in skeleton.way_up(other)]
                pose[below] += off[bone]
    order = draw(st.permutations(range(len(skeleton.names))))
    number = {bone: place for place, bone in enumerate(order)}
    return Skeleton(
        names=tuple(skeleton.names[bone] for bone in order),
        parents=tuple(number.get(skeleton.parents[bone], -1) for bone in order),
        heads=skeleton.heads[order],
        tails=skeleton.tails[order],
        deforms=tuple(skeleton.deforms[bone] for bone in order),
        poses=poses[:, order] if count else None,
    )


@settings(max_examples=60, deadline=None)
@given(moving())
def test_the_search_ends_within_a_budget(skeleton):
    searched = 1 + (0 if skeleton.poses is None else len(skeleton.poses))
    with budget(STEPS * len(skeleton.names) * searched):
        findings = find_limbs(skeleton)
    for limb in findings.limbs:
        assert len({limb.upper, limb.lower}) == len((limb.upper, limb.lower))


def test_a_spider_of_which_only_the_body_goes_up_and_down_has_its_legs():
    """The body keeps its distance from a leg's end as a loose foot does: hung there, the leg would hang from itself."""
    builder = Builder()
    builder.bone("root", "", (0, 0, 0))
    builder.bone("body", "root", (0, 0.2, 0.3), (0, -0.2, 0.3))
    for number in range(4):
        y = 0.2 * number - 0.3
        builder.both(
            "body", (f"leg{number}_a.{{}}", (0.1, 0.4 * y, 0.3)), (f"leg{number}_b.{{}}", (0.4, 1.2 * y, 0.5)),
            (f"leg{number}_c.{{}}", (0.7, 1.8 * y, 0.15)),
        )  # fmt: skip
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for number in range(4):
            builder.tails[builder.names.index(f"leg{number}_c.{side}")] = (sign * 0.8, 0.4 * number - 0.6, 0.0)
    skeleton = builder.skeleton()
    poses = np.repeat(np.stack([skeleton.heads, skeleton.tails], axis=1)[None], 9, axis=0)
    poses[:, 1:, :, 2] += 0.03 * np.sin(np.linspace(0.0, np.pi, 9))[:, None, None]
    moving_skeleton = Skeleton(skeleton.names, skeleton.parents, skeleton.heads, skeleton.tails, skeleton.deforms, poses=poses)
    with budget(STEPS * len(skeleton.names) * 10):
        uppers = {limb.upper for limb in find_limbs(moving_skeleton).limbs}
    assert uppers == {f"leg{number}_a.{side}" for number in range(4) for side in "LR"}


@given(st.data())
def test_bones_hung_anywhere_stay_a_tree(data):
    count = data.draw(st.integers(1, 12))
    parents = [data.draw(st.integers(-1, bone - 1)) for bone in range(count)]
    for _ in range(20):
        bone, carrier = (data.draw(st.integers(0, count - 1)) for _ in range(2))
        before = list(parents)
        is_below = bone in ways_up(parents, carrier)
        assert hang(parents, bone, carrier) is not is_below
        assert parents == (before if is_below else [*before[:bone], carrier, *before[bone + 1 :]])
        assert is_tree(parents)


def ways_up(parents, bone):
    way = []
    while bone >= 0:
        way.append(bone)
        bone = parents[bone]
    return way


@pytest.mark.parametrize("parents", [(0,), (1, 0), (-1, 3, 1, 2), (-1, 0, 1, 5, 3, 4)])
def test_a_ring_is_no_skeleton(parents):
    assert not is_tree(parents)
    places = np.zeros((len(parents), 3))
    with pytest.raises(ValueError, match="ring"):
        Skeleton(tuple(map(str, parents)), parents, places, places, (True,) * len(parents))
