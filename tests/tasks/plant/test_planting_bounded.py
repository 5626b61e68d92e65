"""Repairs have a bound: a contact that would move a foot too far, or of a foot that shuffles, is left as it is and listed."""

import json
import re
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.tasks.checks.seen_walk import SIDES, SLIDE, Seen, plant, planted_states, whole_frames, worst_slide
from tests.tasks.rigs.retargeted import made_pair
from tests.tasks.rigs.walker import Walk, build_walker, key_contacts
from twobone_addon.scene.keys.contact_keys import ContactKeys, write_contacts
from twobone_addon.tasks.plant.pose.calming import restless_notes

FAR = Walk(slide=0.5)


def found_contacts(armature, states):
    """Key contacts as Find Contacts does, so that they are not the user's own."""
    for side in SIDES:
        frames = np.arange(1.0, len(states[side]) + 1.0)
        chain = armature.twobone.chains[f"leg.{side}"]
        write_contacts(armature, frames, [ContactKeys(chain, np.asarray(states[side]), np.zeros(len(frames), dtype=bool))])


def test_a_contact_that_would_move_a_foot_too_far_is_left_and_listed(empty_file):
    armature, states = build_walker(FAR)
    found_contacts(armature, states)
    before = Seen(armature, whole_frames())
    report = plant()
    after = Seen(armature, whole_frames())
    assert "contacts left as they are: " in report["sentence"]
    for side, chain in zip(SIDES, report["chains"], strict=True):
        left = chain["left"]
        assert left
        for contact in left:
            assert contact["moved"] > 0.2 * 0.82
            middle = int(contact["first"] + contact["last"]) // 2 - 1
            assert np.allclose(before.balls[side][middle], after.balls[side][middle], atol=1e-4)


@pytest.mark.parametrize("limit", [0.0, 0.9])
def test_what_is_asked_for_is_planted_and_the_size_of_each_repair_told(empty_file, limit):
    armature, states = build_walker(FAR)
    found_contacts(armature, states)
    before = Seen(armature, whole_frames())
    report = plant(max_repair=limit)
    after = Seen(armature, whole_frames())
    assert not any(chain["left"] for chain in report["chains"])
    for side, chain in zip(SIDES, report["chains"], strict=True):
        for contact in chain["contacts"]:
            rows = slice(int(contact["first"]) - 1, int(contact["last"]))
            seen = [
                np.linalg.norm(np.array(new[side])[rows] - np.array(old[side])[rows], axis=1).max()
                for old, new, point in ((before.heels, after.heels, "HEEL"), (before.balls, after.balls, "BALL"))
                if contact["point"] in ("BOTH", point)
            ]
            assert contact["moved"] == pytest.approx(max(seen), abs=1e-4)
    (count,) = (int(told) for said in report["notes"] for told in re.findall(r"far from the animation: (\d+)", said))
    (planted,) = re.findall(r"(\d+) contacts of 2 feet planted", report["sentence"])
    assert 0 < count <= int(planted) < sum(len(chain["contacts"]) for chain in report["chains"])


SHUFFLES = Walk(slide=0.004, shuffle=0.07)
SHUFFLE = 28.0
"""A frame in the stance in which it does."""


def test_a_foot_that_shuffles_in_a_walk_that_stands_is_left_and_listed(empty_file):
    armature, states = build_walker(SHUFFLES)
    found_contacts(armature, states)
    before = Seen(armature, whole_frames())
    report = plant()
    after = Seen(armature, whole_frames())
    left, right = report["chains"]
    assert [contact["first"] <= SHUFFLE <= contact["last"] for contact in left["left"]] == [True]
    assert not right["left"]
    (contact,) = left["left"]
    rows = slice(int(contact["first"]) - 1, int(contact["last"]))
    assert contact["last"] - contact["first"] > 10.0
    assert np.allclose(before.balls["L"][rows], after.balls["L"][rows], atol=1e-4)
    assert worst_slide(after, planted_states(report, len(whole_frames()))) < SLIDE
    assert json.dumps(plant()["chains"][0]["contacts"]) == json.dumps(left["contacts"])


@pytest.mark.parametrize(
    "walk, settings",
    [(SHUFFLES, {"max_repair": 0.0}), (Walk(slide=0.004, drift=0.16), {}), (Walk(slide=0.03, shuffle=0.07), {})],
    ids=["no limit", "it goes on instead", "all stances slide"],
)
def test_a_foot_that_skates_or_is_asked_for_is_planted(empty_file, walk, settings):
    armature, states = build_walker(walk)
    found_contacts(armature, states)
    report = plant(**settings)
    assert not any(chain["left"] for chain in report["chains"])
    assert any(contact["moved"] > 0.05 * 0.82 for contact in report["chains"][0]["contacts"])


def test_contacts_keyed_by_hand_are_asked_for(empty_file):
    armature, states = build_walker(FAR)
    key_contacts(armature, states)
    assert not any(chain["left"] for chain in plant()["chains"])


def test_what_was_planted_far_from_its_animation_is_not_fine_until_cleared(empty_file):
    armature, states = build_walker(FAR)
    found_contacts(armature, states)
    before = Seen(armature, whole_frames())
    report = plant(max_repair=0.0)
    after = Seen(armature, whole_frames())
    bpy.ops.twobone.audit(armature=armature.name)
    audit = json.loads(bpy.context.window_manager.twobone_report)
    assert not audit["is_fine"]
    assert any("off the animation" in str(reason) for reason in audit["reasons"])
    for side, limb, chain in zip(SIDES, audit["chains"], report["chains"], strict=True):
        pairs = (after.heels[side], before.heels[side]), (after.balls[side], before.balls[side])
        far = max(np.linalg.norm(np.array(new) - np.array(old), axis=1).max() for new, old in pairs)
        assert chain["max_departure"] == pytest.approx(far, abs=1e-4)
        assert limb["departure"] * limb["length"] == pytest.approx(far, rel=0.02)
    for index in range(len(armature.twobone.chains)):
        armature.twobone.active_index = index
        bpy.ops.twobone.clear_baked(armature=armature.name)
    bpy.ops.twobone.audit(armature=armature.name)
    audit = json.loads(bpy.context.window_manager.twobone_report)
    assert all(limb["departure"] is None for limb in audit["chains"])


@pytest.mark.parametrize("kink", [0.0, 0.08])
def test_knees_that_still_pop_are_told(kink):
    times = np.linspace(0.0, 1.3, 4 * 39 + 1)
    joints = np.zeros((len(times), 3, 3))
    bend = 0.6 + 0.2 * np.sin(2.0 * np.pi * times)
    joints[:, 1, 0], joints[:, 1, 2] = 0.45 * np.sin(bend / 2.0), -0.45 * np.cos(bend / 2.0)
    joints[:, 2, 2] = 2.0 * joints[:, 1, 2]
    ankles = joints[:, 2].copy()
    ankles[80, 2] += kink
    before = SimpleNamespace(joints=joints, leg=SimpleNamespace(chain="leg.L"))
    leg = SimpleNamespace(before=before, ankles=ankles, ratios=np.ones(len(times)))
    notes = restless_notes(SimpleNamespace(legs=[leg], moves=np.zeros((len(times), 3))), np.arange(1.0, 41.0), 30.0)
    assert len(notes) == (kink > 0.0)
    assert all('"leg.L"' in said.text() and "frame 21." in said.text() for said in notes)


def slides_from_landing(seen, side, contact):
    """Farthest that a standing point of a foot gets from where it is at the first frame of a contact."""
    rows = slice(int(contact["first"]) - 1, int(contact["last"]))
    named = {"HEEL": [seen.heels], "BALL": [seen.balls], "BOTH": [seen.heels, seen.balls]}[contact["point"]]
    return max(np.linalg.norm(np.array(places[side])[rows] - np.array(places[side])[rows][0], axis=1).max() for places in named)


def test_contacts_that_slide_more_than_before_are_named(empty_file):
    """Feet that stood still are to stand on a ground that legs do not reach, and go along with the hips."""
    armature, states = build_walker(Walk())
    found_contacts(armature, states)
    before = Seen(armature, whole_frames())
    report = plant(ground="HEIGHT", ground_height=-0.2, use_root=False, max_repair=0.0)
    after = Seen(armature, whole_frames())
    worst = 0.0
    for side, chain in zip(SIDES, report["chains"], strict=True):
        named = {(contact["first"], contact["last"]): contact for contact in chain["slid_more"]}
        for contact in chain["contacts"]:
            then, now = (slides_from_landing(seen, side, contact) for seen in (before, after))
            assert ((contact["first"], contact["last"]) in named) == (now - then > 0.01 * 0.82), contact
            worst = max(worst, now - then)
        for contact in named.values():
            assert contact["before"] < 1e-3 < contact["after"]
    assert worst > 0.03, "nothing slides more than before"
    assert re.search(r"^6 contacts .*; contacts that slide more than before: [1-6]; leg\.", report["sentence"])


def test_no_contact_is_said_to_slide_more_where_feet_stand_still(empty_file):
    build_walker(Walk(slide=0.04))
    report = plant()
    assert not any(chain["slid_more"] for chain in report["chains"])
    assert "slide more" not in report["sentence"]


def test_given_contacts_that_are_left_are_named_one_by_one(empty_file):
    """The hips of the copy go twice as far as the source's, so its feet slide throughout."""
    made_pair(size=2.0)
    report = plant(contacts_from="Source")
    left = [(chain["chain"], contact) for chain in report["chains"] for contact in chain["left"]]
    assert len(left) > 1
    for name, contact in left:
        assert contact["is_given"]
        assert f"{name} at frames {contact['first']:g}-{contact['last']:g} left as it is: " in report["sentence"]


@pytest.mark.parametrize("rise, said", [(0.05, "stands 5 cm above"), (-0.05, "stands 5 cm below"), (0.005, None)])
def test_feet_that_stand_above_or_below_the_floor_are_named_with_what_to_set(empty_file, rise, said):
    armature, _ = build_walker(Walk())
    root = armature.pose.bones["root"]
    root.location = root.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, 0.0, rise))
    report = plant()
    named = [part for part in report["sentence"].split("; ") if "floor of the rest pose" in part]
    if said is None:
        assert not named
    else:
        assert len(named) == len(SIDES)
        assert all(said in part and "set Ground to Height" in part for part in named)
    # What it says to do brings them there.
    assert not any("floor of the rest pose" in part for part in plant(ground="HEIGHT")["sentence"].split("; "))
