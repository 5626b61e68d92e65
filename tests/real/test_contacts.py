"""Contacts of motion made by others: a recorded walk, and cycles in place."""

import json
from itertools import pairwise

import bpy
import numpy as np
import pytest

from tests.real.rigs import FOX, KAYKIT, RUN, WALK, RealLimb, open_rig
from tests.tasks.find_contacts.found import find, states_in

pytestmark = pytest.mark.usefixtures("empty_file")

WALK_LEGS = {side: [f"{side}{bone}" for bone in ("UpLeg", "Leg", "Foot", "ToeBase")] for side in ("Left", "Right")}
KAYKIT_LEGS = {side: [f"{bone}.{side}" for bone in ("upperleg", "lowerleg", "foot", "toes")] for side in "lr"}
FOX_LEG = 39.6
"""Length of a leg, in the units of its file."""


def opened(folder, real, legs):
    rig, _ = open_rig(folder, real)
    for side, (upper, lower, foot, toe) in legs.items():
        chain = rig.twobone.chains.add()
        chain.name, chain.upper, chain.lower, chain.tip, chain.tip_end = side, upper, lower, foot, "HEAD"
        chain.limb, chain.toe = "LEG", toe
    bpy.context.view_layer.objects.active = rig
    return rig


def spans(states, frames):
    """First and last frame of each time on the ground."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], states > 0, [0]]).astype(int)))
    return [(int(frames[first]), int(frames[end - 1])) for first, end in edges.reshape(-1, 2)]


def test_an_audit_measures_from_the_soles_that_the_motion_shows(data_folder):
    """The rest pose is a frame of a run, one foot in the air: its sole is not where that foot points at rest."""
    rig, _ = open_rig(data_folder, RealLimb(RUN, "", "", "", (1, 21)))
    bpy.context.scene.render.fps = 30
    assert bpy.ops.twobone.audit(armature=rig.name) == {"FINISHED"}
    report = json.loads(bpy.context.window_manager.twobone_report)
    legs = [limb for limb in report["chains"] if limb["kind"] == "LEG"]
    assert len(legs) == 2
    assert all(limb["floating"] < 0.03 * limb["length"] for limb in legs)
    assert report["is_fine"]


@pytest.mark.parametrize("action, stands", [("Walking_A", True), ("Walking_B", False)])
def test_a_short_cycle_in_place_is_judged_by_feet_that_stand_not_by_those_that_lift(data_folder, action, stands):
    """Of both walks the second slides by a twelfth of the leg a contact, seen by the speed of its toes."""
    rig, _ = open_rig(data_folder, RealLimb(KAYKIT, "", "", "", (1, 26), action))
    bpy.ops.twobone.audit(armature=rig.name)
    report = json.loads(bpy.context.window_manager.twobone_report)
    assert report["ground_velocity"][1] > 0.0
    assert report["is_fine"] == stands, report["sentence"]


@pytest.mark.parametrize("fps, both", [(120, 0.01), (24, 0.1)])
def test_the_recorded_walk_alternates(data_folder, fps, both):
    """Played at its own rate, and slowed down five times as Blender imports it if nobody asks for more.

    At its own rate the toe that leaves goes faster than 0.3 m/s before the foot that lands is as slow.
    """
    opened(data_folder, RealLimb(WALK, *WALK_LEGS["Left"][:3], (1, 343)), WALK_LEGS)
    bpy.context.scene.render.fps = fps
    report = find()
    assert report["ground_velocity"] == [0.0, 0.0, 0.0]
    frames = np.arange(1, 344)
    left, right = (states_in(report, side, frames) for side in (0, 1))
    # A foot is always on the ground, both are for a moment between steps, and they take turns. The recording is smoothed:
    # feet slide for another twentieth of a second when they land, which is no standing yet.
    assert np.mean((left > 0) | (right > 0)) >= 0.98
    assert both <= np.mean((left > 0) & (right > 0)) <= 0.4
    steps = sorted([*spans(left, frames), *spans(right, frames)])
    owners = [step in spans(left, frames) for step in steps]
    assert all(first != second for first, second in pairwise(owners[1:]))
    whole = [(last - first + 1) / 120 for first, last in steps if first > 30 and last < 343]
    assert all(0.5 <= seconds <= 0.85 for seconds in whole)


def test_each_step_of_the_recorded_walk_goes_from_heel_to_toe(data_folder):
    opened(data_folder, RealLimb(WALK, *WALK_LEGS["Left"][:3], (1, 343)), WALK_LEGS)
    bpy.context.scene.render.fps = 120
    frames = np.arange(1, 344)
    report = find()
    for side in (0, 1):
        states = states_in(report, side, frames)
        whole = [(first, last) for first, last in spans(states, frames) if first > 1 and last < 343]
        assert whole
        for first, last in whole:
            changes = states[first - 1 : last][np.diff(states[first - 2 : last]) != 0]
            # Where the heel stops sliding when the foot is flat, it never stands alone.
            assert changes.tolist() in ([1, 3, 2], [3, 2])


@pytest.mark.parametrize("name, end", [("Walking_A", 25), ("Running_A", 19), ("Running_B", 20), ("Walking_C", 38)])
def test_a_cycle_in_place_stands_on_its_belt(data_folder, name, end):
    rig = opened(data_folder, RealLimb(KAYKIT, *KAYKIT_LEGS["l"][:3], (1, end), name), KAYKIT_LEGS)
    report = find()
    velocity = np.array(report["ground_velocity"])
    # The characters look along -Y, so their belt comes from there.
    assert velocity[1] > 0.3
    assert abs(velocity[[0, 2]]).max() <= 1e-3
    frames = np.arange(1, end + 1)
    assert all(states_in(report, side, frames).any() for side in (0, 1))
    # What stands moves with the belt: less than half of its way is left over.
    for side, foot in enumerate(("foot.l", "foot.r")):
        standing = frames[states_in(report, side, frames) > 0]
        places = np.array([place_of(rig, foot, frame) for frame in standing])
        if len(standing) > 1:
            moved = (places[-1] - places[0])[1] / (velocity[1] * (standing[-1] - standing[0]) / 24)
            assert moved == pytest.approx(1.0, abs=0.5)


@pytest.mark.parametrize("fps", [24, 60])
def test_a_character_that_hangs_in_the_air_stands_nowhere(data_folder, fps):
    """The middle of a jump as games have it, alone: the body and its feet go up and down all the time."""
    opened(data_folder, RealLimb(KAYKIT, *KAYKIT_LEGS["l"][:3], (0, 26), "Jump_Idle"), KAYKIT_LEGS)
    bpy.context.scene.render.fps = fps
    report = find()
    assert not any(chain["contacts"] for chain in report["chains"])
    assert report["sentence"] == "No contacts found: no foot stands on the ground"


def test_the_paws_of_a_walk_stand_while_the_mesh_of_their_soles_is_low(data_folder):
    """In nine of ten frames at which a vertex is within 2 % of the leg of the lowest place of its paw."""
    rig, _ = open_rig(data_folder, RealLimb(FOX, "b_LeftLeg01_015", "b_LeftLeg02_016", "b_LeftFoot01_017", (1, 17), "Walk"))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.twobone.find_limbs()
    report, frames = find(arms=True), np.arange(1, 18)
    mesh = next(each for each in bpy.data.objects if each.type == "MESH" and each.find_armature() == rig)
    low, stands = [], []
    for number, chain in enumerate(rig.twobone.chains):
        foot = rig.data.bones[chain.tip]
        groups = {
            mesh.vertex_groups[each.name].index for each in (foot, *foot.children_recursive) if each.name in mesh.vertex_groups
        }
        own = [v.index for v in mesh.data.vertices if sum(each.weight for each in v.groups if each.group in groups) > 0.5]
        heights = []
        for frame in frames:
            bpy.context.scene.frame_set(int(frame))
            seen = mesh.evaluated_get(bpy.context.evaluated_depsgraph_get())
            heights.append(min((seen.matrix_world @ seen.data.vertices[index].co).z for index in own))
        low.append(np.array(heights) <= min(heights) + 0.02 * FOX_LEG)
        stands.append(states_in(report, number, frames) > 0)
    assert np.count_nonzero(np.array(low) & np.array(stands)) >= 0.9 * np.count_nonzero(low)


@pytest.mark.parametrize("name, end, ways", [("Walk", 17, (0, 1, 2, 3)), ("Run", 27, (0, 2, 3))])
def test_the_paws_of_an_animal_in_place_stand_on_its_belt(data_folder, name, end, ways):
    """Its ends of bones are guessed by the import; in its run one paw swings past the ground at twice the others' speed."""
    rig, _ = open_rig(data_folder, RealLimb(FOX, "b_LeftLeg01_015", "b_LeftLeg02_016", "b_LeftFoot01_017", (0, end), name))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.twobone.find_limbs()
    report = find(arms=True)
    # It looks along -Y, so its belt comes from there.
    assert report["ground_velocity"][1] > 50.0
    assert abs(report["ground_height"]) < 5.0
    for leg in ways:
        assert states_in(report, leg, np.arange(end + 1)).any()


def place_of(rig, bone, frame):
    bpy.context.scene.frame_set(int(frame))
    return np.array(rig.matrix_world @ rig.pose.bones[bone].head)
