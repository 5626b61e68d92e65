"""Roots that were moved, taken back: out of strips with the legs that stand on them, after Fit Root with the last leg."""

import bpy
import numpy as np
import pytest

from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.checks.seen_walk import SLIDE, Seen, key_values, plant, planted_states, whole_frames, worst_slide
from tests.tasks.rigs.walker import Walk, build_walker, key_contacts
from tests.tasks.scenes import add_empty, key_channel

LEFT = {"armature": "Walker", "upper": "thigh.L", "lower": "shin.L"}
RIGHT = {"armature": "Walker", "upper": "thigh.R", "lower": "shin.R"}


@pytest.fixture
def in_strip(empty_file):
    """A walk in an NLA strip, and where its hips and heels are seen."""
    armature, states = build_walker(Walk(frames=30, slide=0.03, raised=0.03))
    key_contacts(armature, states)
    data = armature.animation_data
    walk = data.action
    strip = data.nla_tracks.new().strips.new("Walk", 1, walk)
    if hasattr(strip, "action_slot"):
        strip.action_slot = walk.slots[0]
    data.action = None
    return armature, states


def places(armature):
    seen = Seen(armature, whole_frames())
    return np.array([seen.hips, seen.heels["L"], seen.heels["R"]])


def track_count(armature):
    return len(armature.animation_data.nla_tracks)


def dump_at_start():
    bpy.context.scene.frame_set(1)
    return dump_file()


@pytest.mark.parametrize("leg", [LEFT, {**RIGHT, "destination": "NLA"}], ids=["left", "right, as it was planted"])
def test_one_leg_takes_the_strips_of_the_root_and_the_other_leg_along(in_strip, leg, capfd):
    armature, _ = in_strip
    before, file_before = places(armature), dump_at_start()
    report = plant(destination="NLA")
    with_contacts = armature.animation_data.action.name
    assert worst_slide(Seen(armature, whole_frames()), planted_states(report, 30)) < SLIDE
    assert np.abs(places(armature) - before)[0].max() > 0.01
    capfd.readouterr()
    assert bpy.ops.twobone.clear_baked(**leg) == {"FINISHED"}
    assert "Planting removed from all legs; previous keys restored on leg.L, leg.R, hips" in capfd.readouterr().out
    assert np.abs(places(armature) - before).max() < 1e-6
    assert track_count(armature) == 1
    assert with_contacts not in bpy.data.actions, "the contacts that were keyed with the strips outlive them"
    assert differences(file_before, dump_at_start()) == []
    assert bpy.ops.twobone.clear_baked(**leg) == {"CANCELLED"}


def test_a_leg_that_is_baked_again_leaves_the_root_where_the_other_stands_on_it(in_strip):
    armature, _ = in_strip
    plant(destination="NLA")
    hips = places(armature)[0]
    target = add_empty()
    target.location = (0.1, 0.5, 0.1)
    assert bpy.ops.twobone.bake(**LEFT, target=target.name, destination="NLA") == {"FINISHED"}
    assert np.abs(places(armature)[0] - hips).max() < 1e-6


def test_planting_without_the_root_goes_leg_by_leg(in_strip, capfd):
    armature, _ = in_strip
    plant(destination="NLA", use_root=False)
    assert track_count(armature) == 3
    capfd.readouterr()
    assert bpy.ops.twobone.clear_baked(**LEFT) == {"FINISHED"}
    assert "undone" not in capfd.readouterr().out
    assert track_count(armature) == 2


@pytest.fixture
def fitted(empty_file):
    """A character whose hips were lowered so that both legs reach, and which is baked there."""
    armature, _ = build_walker(Walk(frames=10, raised=0.05))
    before = key_values(armature)
    for side, x in (("L", 0.1), ("R", -0.1)):
        target = add_empty(f"Target {side}")
        key_channel(target, "location", {1: (x, 0.0, -0.1), 10: (x, 0.6, -0.1)})
        armature.twobone.chains[f"leg.{side}"].target = target
    assert bpy.ops.twobone.fit_root(armature=armature.name, max_lower=1.0) == {"FINISHED"}
    return armature, before


def hips_moved(armature, before):
    after = key_values(armature)
    return any(not np.array_equal(before[channel], after[channel]) for channel in before if "location" in channel[0])


def test_the_fitted_root_stays_until_the_last_leg_on_it_is_cleared(fitted, capfd):
    armature, before = fitted
    assert bpy.ops.twobone.bake_all() == {"FINISHED"}
    capfd.readouterr()
    assert bpy.ops.twobone.clear_baked(**LEFT) == {"FINISHED"}
    assert "Kept Fit Root on hips: other chains still use it (leg.R)." in capfd.readouterr().out
    assert hips_moved(armature, before)
    assert bpy.ops.twobone.clear_baked(**RIGHT) == {"FINISHED"}
    assert "Fit Root removed: previous keys restored on hips." in capfd.readouterr().out
    assert not hips_moved(armature, before)


def test_a_fitted_root_on_which_nothing_is_baked_comes_back_with_any_leg(fitted, capfd):
    armature, before = fitted
    assert hips_moved(armature, before)
    assert bpy.ops.twobone.clear_baked(**RIGHT) == {"FINISHED"}
    assert "Fit Root removed" in capfd.readouterr().out
    assert not hips_moved(armature, before)
