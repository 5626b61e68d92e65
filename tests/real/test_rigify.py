"""Rigify's rigs, generated: every limb in every plane and destination, and IK turned into FK."""

import json
import os

import bpy
import pytest

from tests.real.everywhere import DESTINATIONS, PLANES
from tests.real.generated_rigs import METARIGS
from tests.real.limbs_of_rigs import LIMBS_OF
from tests.real.own_python import ALL_VARIABLE, run
from tests.real.record import record

OLDEST_AND_NEWEST = {(4, 2), (5, 2)}
A_PERSON_AND_AN_ANIMAL = {"basic_human", "horse"}


@pytest.mark.parametrize("metarig", METARIGS)
def test_every_limb_of_a_generated_rig_is_on_target_in_every_plane_and_destination(metarig, tmp_path):
    everywhere = os.environ.get(ALL_VARIABLE) or bpy.app.version[:2] in OLDEST_AND_NEWEST
    if not everywhere and metarig not in A_PERSON_AND_AN_ANIMAL:
        pytest.skip(f"set {ALL_VARIABLE} to generate this rig on this Blender too")
    measured = json.loads(run("metarig_scenario.py", tmp_path, metarig).splitlines()[-1])
    assert len({each["limb"] for each in measured}) == LIMBS_OF[metarig]
    assert len(measured) == LIMBS_OF[metarig] * len(PLANES)
    assert {each["plane"] for each in measured} == set(PLANES)
    assert {each["destination"] for each in measured} == set(DESTINATIONS)
    record(f"Rigify {metarig}", measured)


def test_limbs_walking_on_ik_are_converted_to_fk_and_nothing_moves(tmp_path):
    assert "Rigify's limbs are keyed forwards" in run("rigify_conversion_scenario.py", tmp_path)


def test_a_rig_as_generated_is_not_called_on_target_and_is_after_switch_to_fk(tmp_path):
    assert "What is seen is on target" in run("rigify_switch_scenario.py", tmp_path)


def test_fk_motion_goes_to_the_ik_controls_and_back(tmp_path):
    assert "The rig's own IK does what its FK did" in run("rigify_controls_scenario.py", tmp_path)


def test_a_paw_whose_heel_a_second_ik_turns_is_not_seen_to_move_on_the_way_to_ik(tmp_path):
    assert "The cat's paws stay where they are seen" in run("rigify_paws_scenario.py", tmp_path)


def test_a_retarget_on_fk_that_shows_ik_is_refused_and_finished_once_it_shows_fk(tmp_path):
    assert "Rigify's feet stand where the source's do" in run("rigify_retarget_scenario.py", tmp_path)
