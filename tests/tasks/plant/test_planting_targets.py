"""Targets and poles kept for work by hand: the legs follow them as they were planted, and a moved target moves its leg alone."""

import json

import bpy
import numpy as np
import pytest

from tests.promises.promises import add_action, play_action
from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.checks.seen_walk import SIDES, SLIDE, Seen, plant, whole_frames, worst_slide
from tests.tasks.checks.targets import curves_of
from tests.tasks.rigs.walker import Walk, build_walker, key_contacts
from tests.tasks.scenes import add_empty, key_places
from twobone_addon.scene.keys.tables import StraightKeys
from twobone_addon.scene.keys.writing import Change, write


@pytest.fixture
def walker(empty_file):
    armature, states = build_walker(Walk(frames=24, slide=0.02))
    key_contacts(armature, states)
    return armature, states


def bake_all():
    assert bpy.ops.twobone.bake_all() == {"FINISHED"}
    return json.loads(bpy.context.window_manager.twobone_report)


def test_baking_the_legs_again_gives_the_same_at_every_frame(walker):
    armature, states = walker
    report = plant(keep_targets=True)
    planted = Seen(armature, whole_frames())
    assert worst_slide(planted, states) < SLIDE
    for chain, told in zip(armature.twobone.chains, report["chains"], strict=True):
        assert (told["target"], told["pole"]) == (chain.target.name, chain.pole.name)
        assert told["max_round_trip"] < 1e-5
    assert bake_all()["max_distance_to_target"] < 1e-5
    again = Seen(armature, whole_frames())
    for old, new in ((planted.heels, again.heels), (planted.toes, again.toes), (planted.feet, again.feet)):
        assert max(np.abs(np.array(old[side]) - np.array(new[side])).max() for side in SIDES) < 2e-5


def test_a_target_that_is_moved_takes_its_foot_along(walker):
    armature, _ = walker
    plant(keep_targets=True)
    planted = Seen(armature, whole_frames())
    target = armature.twobone.chains["leg.L"].target
    for curve in curves_of(target):
        if (curve.data_path, curve.array_index) == ("location", 2):
            for key in curve.keyframe_points:
                key.co.y += 0.02
    bake_all()
    again = Seen(armature, whole_frames())
    moved = {side: np.array(again.balls[side]) - np.array(planted.balls[side]) for side in SIDES}
    assert np.abs(moved["L"] - [0.0, 0.0, 0.02]).max() < 2e-5
    assert np.abs(moved["R"]).max() < 2e-5


def test_a_target_that_cannot_be_keyed_is_refused_before_anything_changes(walker):
    armature, _ = walker
    target = add_empty("Held")
    target.constraints.new("COPY_LOCATION").target = armature
    armature.twobone.chains["leg.R"].target = target
    before = dump_file()
    with pytest.raises(RuntimeError, match='"Held" has constraint'):
        plant(keep_targets=True)
    assert differences(before, dump_file()) == []


def soft(chain):
    chain.reach, chain.softness = "SOFTEN", 0.3


def held_back(chain):
    chain.max_distance = 0.5


def stretched(chain):
    """By a bake with the reach Stretch, which is another now."""
    path = chain.id_data.pose.bones[chain.upper].path_from_id("scale")
    keys = [StraightKeys(path, axis, chain.upper, np.array([1.0]), np.array([0.9]), "LINEAR") for axis in range(3)]
    write(bpy.context.scene, [Change(chain.id_data.name, keys, (1.0, 1.0), "bake")])


@pytest.mark.parametrize("change", [soft, held_back, stretched], ids=lambda change: change.__name__)
def test_a_leg_whose_reach_lets_no_bake_give_its_motion_back_is_named(walker, change):
    armature, _ = walker
    change(armature.twobone.chains["leg.L"])
    told = {chain["chain"]: chain for chain in plant(keep_targets=True)["chains"]}
    before = Seen(armature, whole_frames())
    assert [note for note in told["leg.L"]["notes"] if note.startswith("The chain's Reach settings change the motion: ")]
    assert told["leg.L"]["max_round_trip"] > 0.01
    assert told["leg.R"]["notes"] == []
    bake_all()
    again = Seen(armature, whole_frames())
    assert np.abs(np.array(again.knees["L"]) - before.knees["L"]).max() > 0.01
    assert np.abs(np.array(again.knees["R"]) - before.knees["R"]).max() < 1e-3


GUIDES = ("target", "pole")


def guides_of(armature):
    return [getattr(chain, role) for chain in armature.twobone.chains for role in GUIDES]


def with_guides(armature, *, named):
    """Each leg has a target and a pole, which play an action; `named`: one for each of the armature's, named after them."""
    for chain in armature.twobone.chains:
        for role in GUIDES:
            guide = add_empty(f"{role} {chain.name}")
            setattr(chain, role, guide)
            for name in reversed(("First", "Second") if named else ("alone",)):
                guide.animation_data_clear()
                key_places(guide, [(0.1, 0.2, 0.3), (0.1, 0.2, 0.4)])
                guide.animation_data.action.name = f"{guide.name} {name}"
                guide.animation_data.action.use_fake_user = True


def without_guides(armature, *, named):
    del armature, named


@pytest.mark.parametrize("actions", ["ALL", "First;Second", "Second;First"])
@pytest.mark.parametrize("make", [with_guides, without_guides], ids=lambda make: make.__name__)
def test_two_actions_do_not_overwrite_each_others_targets(walker, make, actions):
    """What plays one action along with both would follow the last one only; and new ones would be made for each."""
    armature, _ = walker
    add_action()
    make(armature, named=False)
    before = dump_file()
    with pytest.raises(RuntimeError, match="in one and the same action"):
        plant(keep_targets=True, actions=actions)
    assert differences(before, dump_file()) == []


def test_targets_with_an_action_for_each_action_follow_each(walker):
    armature, _ = walker
    add_action()
    with_guides(armature, named=True)
    plant(keep_targets=True, actions="ALL")
    heights = {}
    for name in ("First", "Second"):
        play_action(name)
        for guide in guides_of(armature):
            guide.animation_data.action = bpy.data.actions[f"{guide.name} {name}"]
            if hasattr(guide.animation_data.action, "slots"):
                guide.animation_data.action_slot = guide.animation_data.action.slots[0]
        planted = Seen(armature, whole_frames())
        bake_all()
        again = Seen(armature, whole_frames())
        assert max(np.abs(np.array(planted.balls[side]) - np.array(again.balls[side])).max() for side in SIDES) < 2e-5
        heights[name] = np.array(planted.balls["L"])
    assert np.abs(heights["First"] - heights["Second"]).max() > 1e-3


@pytest.mark.parametrize("actions", ["First", "Second"])
def test_one_chosen_action_may_keep_its_targets(walker, actions):
    armature, _ = walker
    add_action()
    plant(keep_targets=True, actions=actions)
    assert all(guides_of(armature))
    assert sum(thing.type == "EMPTY" for thing in bpy.data.objects) == 4


@pytest.mark.parametrize("again", [False, True])
def test_clear_takes_the_keys_of_targets_and_poles_along(walker, again):
    armature, _ = walker
    actions = set(bpy.data.actions.keys())
    for _ in range(1 + again):
        plant(keep_targets=True)
    assert set(bpy.data.actions.keys()) > actions
    for chain in armature.twobone.chains:
        bpy.ops.twobone.clear_baked(armature=armature.name, upper=chain.upper, lower=chain.lower, tip=chain.tip, all_frames=True)
    assert set(bpy.data.actions.keys()) == actions
