"""The installed extension in a real window, driven by simulated mouse and keyboard.

Each ``scenario_*.py`` in this folder is one visit of an animator, played in a Blender of its own. The pictures it
asks for are left in ``build/pictures``.
"""

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.blender_program import complaints, find_blender
from tests.gui.desktop import play, screen
from tools.build_zip import ROOT

SCENARIOS = sorted(Path(__file__).parent.glob("scenario_*.py"))
# What is to be said of targets out of reach, limbs on IK, lost twists and clips that skate; each Blender logs it in its own way.
RESULT = re.compile(r"(?:operator +\| WARNING|^Warning:) .*(?: on target in | does not follow | actions fine; | loses its twist)")
TO_BE_SAID = "was to be said: "
"""Begins a line of a scenario with the sentence of a refusal that it asked for, which Blender logs as well."""

WINDOW = ["--gpu-backend", "opengl", "--window-geometry", "0", "0", "1280", "800"]


@pytest.fixture(scope="module")
def desktop():
    find_blender()
    with screen() as environment:
        yield environment


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: path.stem.removeprefix("scenario_"))
def test_an_animator_gets_through(scenario, desktop, built_zip, tmp_path):
    settings = ["--factory-startup", "--enable-event-simulate", "--python-exit-code", "1"]
    command = [find_blender(), *WINDOW, *settings, "--python", str(scenario), "--", str(built_zip), str(tmp_path)]
    environment = desktop | {"BLENDER_USER_RESOURCES": str(tmp_path / "user")}
    code, log = play(command, environment, tmp_path)
    keep_pictures(tmp_path)
    assert code == 0, log
    assert "every step was played" in log
    refusals = [line.removeprefix(TO_BE_SAID) for line in log.splitlines() if line.startswith(TO_BE_SAID)]
    wrong = [line for line in complaints(log) if not RESULT.search(line) and not any(said in line for said in refusals)]
    assert not wrong, log


def keep_pictures(folder):
    kept = ROOT / "build" / "pictures" / os.environ.get("TWOBONE_PICTURES", "")
    kept.mkdir(parents=True, exist_ok=True)
    for picture in folder.glob("*.png"):
        shutil.copy(picture, kept)
