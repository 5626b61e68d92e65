"""Cycles that are planted: first and last pose still fit, and where they do not, that is measured and said."""

import bpy
import numpy as np
import pytest

from tests.tasks.checks.seen_walk import SIDES, SLIDE, SLIDE_BETWEEN, Seen, plant, whole_frames
from tests.tasks.checks.targets import curves_of
from tests.tasks.rigs.walker import Walk, build_walker, key_contacts
from twobone_addon.core.contacts.states import runs
from twobone_addon.pipeline.pose.limb_plane import hinges_of
from twobone_addon.tasks.plant import solve as solving
from twobone_addon.tasks.plant.solve import many_rounds

CYCLE = 24
"""Frames of a walk with a step time of one second."""


def gone(armature):
    """How far each point of the legs is at the last frame from where it is at the first, as Blender evaluates it."""
    scene, ends = bpy.context.scene, []
    for frame in (scene.frame_start, scene.frame_end):
        scene.frame_set(frame)
        heads = [armature.pose.bones[f"{name}.{side}"].head for name in ("thigh", "shin", "foot", "toe") for side in SIDES]
        seen = Seen(armature, [frame])
        ends.append([np.array(armature.matrix_world @ head) for head in heads] + [seen.heels[side][0] for side in SIDES])
    return np.array(ends[1]) - ends[0]


def make_cycle(*, rounds=2, frames=2 * CYCLE + 1, **walk):
    """A walk through the world whose range ends in the pose in which it begins; what stands, and how far it goes."""
    armature, states = build_walker(Walk(frames=frames, step_time=1.0, **walk))
    bpy.context.scene.frame_end = rounds * CYCLE + 1
    before = gone(armature)
    assert np.abs(before - before.mean(axis=0)).max() < 1e-6
    return armature, states, before


@pytest.mark.parametrize("root_motion", ["KEEP", "REMOVE"])
@pytest.mark.parametrize("rounds", [1, 2])
def test_a_cycle_stays_closed(empty_file, rounds, root_motion):
    armature, states, before = make_cycle(rounds=rounds, frames=rounds * CYCLE + 1)
    key_contacts(armature, states)
    report = plant(root_motion=root_motion)
    left = gone(armature) - before - report["root"]["travel"]
    assert np.abs(left).max() < 1e-5
    assert report["cycle_gap"] < 1e-5
    assert "cycle" not in report["sentence"]


def test_feet_stand_still_and_nothing_jumps_while_a_cycle_is_played_round_after_round(empty_file):
    """The feet stand over the end of a round as well, and neither they nor the hips get a kink there."""
    armature, states, before = make_cycle(rounds=1, frames=CYCLE + 1)
    key_contacts(armature, states)
    assert any(state[0] and state[-1] for state in states.values())
    plant()
    way, whole = before.mean(axis=0), whole_frames()
    seen = Seen(armature, whole)

    def played(points):
        points = np.array(points)
        return np.concatenate([points[:-1], points + way])

    for side in SIDES:
        for bit, points in ((1, played(seen.heels[side])), (2, played(seen.balls[side]))):
            stands = np.concatenate([states[side][:-1], states[side]]) & bit != 0
            for first, last in runs(stands):
                if first > 0 and last < len(stands) - 1:
                    assert np.ptp(points[first : last + 1], axis=0).max() < SLIDE
    hips = played(seen.hips)
    bends = np.abs(np.diff(hips, 2, axis=0)).max(axis=1)
    seam = CYCLE - 1
    assert bends[seam] <= 1.2 * np.delete(bends, seam).max()


def test_a_cycle_that_opens_is_said_so_by_as_much_as_is_seen(empty_file, capfd):
    """Where the motion goes on outside the range, what is planted at one end is no concern of the other one."""
    armature, states, before = make_cycle(frames=4 * CYCLE, raised=0.03)
    key_contacts(armature, states)
    report = plant()
    gap = np.linalg.norm(gone(armature) - before, axis=1).max()
    assert gap > 0.01
    assert report["cycle_gap"] == pytest.approx(gap, abs=1e-6)
    assert f"the cycle no longer closes (gap {100 * gap:.2g} cm)" in report["sentence"]
    assert f"Warning: {report['sentence']}" in capfd.readouterr().out


def test_a_cycle_whose_ends_are_left_alone_stays_closed(empty_file):
    armature, states, before = make_cycle()
    middle = np.abs(np.arange(2 * CYCLE + 1) - CYCLE) < CYCLE // 4
    key_contacts(armature, {side: np.where(middle, each, 0) for side, each in states.items()})
    report = plant()
    assert np.abs(gone(armature) - before).max() < 1e-4
    assert report["cycle_gap"] < 1e-4
    assert "cycle" not in report["sentence"]


def test_a_walk_that_ends_in_another_pose_is_no_cycle(empty_file):
    armature, states = build_walker(Walk(frames=2 * CYCLE + 9, step_time=1.0))
    key_contacts(armature, states)
    report = plant()
    assert report["cycle_gap"] is None
    assert "cycle" not in report["sentence"]


def test_the_bends_of_a_round_are_those_of_its_own_samples(empty_file, monkeypatch):
    """Also after it was looked at among others, so that a leg bends to the side that it has at the frame, not at another."""
    armature, states, _ = make_cycle(rounds=1, frames=CYCLE + 1)
    key_contacts(armature, states)
    made = []
    monkeypatch.setattr(solving, "many_rounds", lambda *given: made.append(many_rounds(*given)) or made[-1])
    plant()
    (rounds,) = made
    for leg in rounds.legs:
        alone = hinges_of(leg.leg.plan, leg.motion)
        assert len(leg.hinges.axes) == len(leg.hinges.sides) == len(leg.joints)
        assert np.array_equal(leg.hinges.sides, alone.sides)


def test_a_cycle_that_was_imported_at_another_rate_stays_closed_and_is_planted_once(empty_file):
    """Of 30 frames a second in a scene of 24: its keys are 0.8 frames apart, and neither end is the end of the scene's range."""
    armature, _ = build_walker(Walk(frames=CYCLE + 1, rate=30.0, speed=0.9, step_time=CYCLE / 30.0))
    bpy.context.scene.render.fps = 24
    for curve in curves_of(armature):
        for key in curve.keyframe_points:
            # A body that goes faster than its feet do makes them slide.
            key.co_ui = 0.8 * key.co[0], key.co[1] * (1.1 if curve.data_path.endswith("location") else 1.0)
        curve.update()
    first, last = armature.animation_data.action.frame_range
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 250
    before = Seen(armature, [first, last])
    report = plant()
    after, stood = Seen(armature, [first, last]), 0
    for points in ("heels", "balls"):
        for side in SIDES:
            gone_before, gone_after = (np.diff(getattr(seen, points)[side], axis=0) for seen in (before, after))
            assert np.abs(gone_after - gone_before).max() < 1e-5
    assert report["cycle_gap"] < 1e-5
    for side, chain in zip(SIDES, report["chains"], strict=True):
        for contact in chain["contacts"]:
            seen = Seen(armature, np.linspace(contact["first"], contact["last"], 25))
            points = seen.heels if contact["point"] == "HEEL" else seen.balls
            assert np.ptp(points[side], axis=0).max() < SLIDE_BETWEEN
            stood += contact["last"] - contact["first"]
    assert stood > 0.5 * (last - first)
    keys = [[tuple(key.co) for key in curve.keyframe_points] for curve in curves_of(armature)]
    assert armature.animation_data.action.frame_range[:] == (first, last)
    plant()
    assert [[tuple(key.co) for key in curve.keyframe_points] for curve in curves_of(armature)] == keys


@pytest.mark.parametrize("length", [0.984, 1.016], ids=["shorter", "longer"])
def test_a_cycle_whose_ends_lie_between_frames_is_told_as_one_whose_do_not(empty_file, length):
    """As clips made at another rate have them: its frames are then a little less or more than one apart."""
    armature, states, _ = make_cycle(rounds=1, frames=CYCLE + 1, raised=0.03)
    key_contacts(armature, states)
    for curve in curves_of(armature):
        for key in curve.keyframe_points:
            for place in (key.co, key.handle_left, key.handle_right):
                place[0] = 1.0 + (place[0] - 1.0) * length
        curve.update()
    stances = sum(len(runs(side > 0)) for side in states.values())
    report = plant(frame_range="CUSTOM", frame_start=1.0, frame_end=1.0 + CYCLE * length)
    assert report["sentence"].startswith(f"{stances} contacts of 2 feet planted; ")
    assert "slide more" not in report["sentence"]
    for chain in report["chains"]:
        assert chain["slid_more"] == []
        assert max(contact["slide_after"] for contact in chain["contacts"]) < SLIDE
