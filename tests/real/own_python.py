"""Scenarios that run in a Python of their own: Rigify stays on once it is."""

import os
import subprocess
import sys
from pathlib import Path

from tests.blender_program import PATIENCE_IN_SECONDS

ALL_VARIABLE = "TWOBONE_ALL_METARIGS"


def run(scenario, folder, *arguments):
    """Run a scenario in a Python of its own, and return what it says; fails if it does."""
    own_folder = {**os.environ, "BLENDER_USER_RESOURCES": str(folder)}
    program = Path(__file__).with_name(scenario)
    done = subprocess.run(
        [sys.executable, str(program), *arguments],
        env=own_folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE_IN_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
