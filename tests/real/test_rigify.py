"""Rigify's rigs, generated: every limb in every plane and destination, and IK turned into FK."""

import json
import os
import subprocess
import sys
from pathlib import Path

import bpy
import pytest

from tests.real.everywhere import DESTINATIONS, PLANES
from tests.real.generated_rigs import METARIGS
from tests.real.record import record

ALL_VARIABLE = "TWOBONE_ALL_METARIGS"
OLDEST_AND_NEWEST = {(4, 2), (5, 2)}
A_PERSON_AND_AN_ANIMAL = {"basic_human", "horse"}

LIMBS_OF = {"human": 4, "basic_human": 4, "basic_quadruped": 4, "bird": 4, "cat": 4, "horse": 4, "shark": 2, "wolf": 4}
"""Legs, arms, wings and side fins, counted by looking at the rigs."""


def run(scenario, folder, *arguments):
    """Run a scenario in a Python of its own, and return what it says; fails if it does."""
    own_folder = {**os.environ, "BLENDER_USER_RESOURCES": str(folder)}
    program = Path(__file__).with_name(scenario)
    done = subprocess.run(
        [sys.executable, str(program), *arguments], env=own_folder, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


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
