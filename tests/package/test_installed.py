"""The zip's whole life in a Blender of its own, since installing changes preferences and loads modules."""

import sys
from pathlib import Path

from tests.blender_program import complaints, run

SCENARIO = Path(__file__).parents[1] / "real_program" / "installed_scenario.py"


def test_the_zip_installs_bakes_disables_reinstalls_and_goes_without_a_trace(built_zip, tmp_path):
    done = run([sys.executable, str(SCENARIO), "--", str(built_zip)], tmp_path)
    assert done.returncode == 0, done.stdout
    assert "every step of the installed extension's life went well" in done.stdout
    assert not complaints(done.stdout), done.stdout
