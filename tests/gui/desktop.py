"""A screen for Blender's window.

Where Xvfb is installed (Linux), the window stands on a virtual screen with openbox as its window manager, and what the
screen shows is in a file that everybody can read (`tests.gui.picture`): Blender's own screenshots are black there.
Elsewhere the window opens on the desktop at hand, and no pictures are taken.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.gui.picture import SCREEN_VARIABLE

SCREEN = "1280x800x24"
PATIENCE_IN_SECONDS = 600
"""After which Blender counts as hanging: on a busy machine without a GPU, the longest scenario takes minutes."""


@contextlib.contextmanager
def screen() -> Iterator[dict[str, str]]:
    """The environment to start programs in, so that their windows appear on the screen."""
    if not shutil.which("Xvfb"):
        yield dict(os.environ)
        return
    with tempfile.TemporaryDirectory() as folder:
        command = ["Xvfb", "-displayfd", "1", "-screen", "0", SCREEN, "-nolisten", "tcp", "-nocursor", "-fbdir", folder]
        with running(command, dict(os.environ)) as server:
            shown = {"DISPLAY": f":{server.stdout.readline().strip()}", SCREEN_VARIABLE: str(Path(folder, "Xvfb_screen0"))}
            with running(["openbox"], os.environ | shown):
                yield os.environ | shown


@contextlib.contextmanager
def running(command: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A program that runs while the block does; whatever it started ends with it."""
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        process.communicate()


def play(command: list[str], environment: dict[str, str], folder: Path) -> tuple[int, str]:
    """Run Blender on a scenario; return exit code and log, which stays in the folder."""
    log = folder / "blender.log"
    with log.open("wb") as sink:
        process = subprocess.Popen(command, env=environment, stdout=sink, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            process.wait(PATIENCE_IN_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill() if os.name == "nt" else os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return process.returncode, log.read_text(encoding="utf-8", errors="replace")
