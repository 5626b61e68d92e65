"""The zip's whole life in Blender's own program, without a window."""

from pathlib import Path

from tests.blender_program import complaints, find_blender, run

SCENARIO = Path(__file__).with_name("installed_scenario.py")


def test_the_zip_installs_bakes_disables_reinstalls_and_goes_without_a_trace(built_zip, tmp_path):
    start = [find_blender(), "--background", "--factory-startup", "--python-exit-code", "1"]
    done = run([*start, "--python", str(SCENARIO), "--", str(built_zip)], tmp_path)
    assert done.returncode == 0, done.stdout
    assert "every step of the installed extension's life went well" in done.stdout
    assert not complaints(done.stdout), done.stdout
