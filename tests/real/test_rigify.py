"""Rigify's human: FK legs and arms."""

import os
import subprocess
import sys
from pathlib import Path

SCENARIO = Path(__file__).with_name("rigify_scenario.py")


def test_legs_and_arms_of_rigifys_human_follow_targets_while_the_body_moves(tmp_path):
    own_folder = {**os.environ, "BLENDER_USER_RESOURCES": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, str(SCENARIO)], env=own_folder, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Rigify's legs and arms are on their targets" in done.stdout
