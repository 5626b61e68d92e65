"""Rigify's humans: FK legs and arms, and IK turned into FK."""

import os
import subprocess
import sys
from pathlib import Path


def run(scenario, folder):
    """Run a scenario in a Python of its own, and return what it says; fails if it does."""
    own_folder = {**os.environ, "BLENDER_USER_RESOURCES": str(folder)}
    program = Path(__file__).with_name(scenario)
    done = subprocess.run(
        [sys.executable, str(program)], env=own_folder, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_legs_and_arms_of_rigifys_human_follow_targets_while_the_body_moves(tmp_path):
    assert "Rigify's legs and arms are on their targets" in run("rigify_scenario.py", tmp_path)


def test_limbs_walking_on_ik_are_converted_to_fk_and_nothing_moves(tmp_path):
    assert "Rigify's limbs are keyed forwards" in run("rigify_conversion_scenario.py", tmp_path)
