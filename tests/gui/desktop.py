"""A screen for Blender's window, and a photographer for what it shows.

Where Xvfb is installed (Linux), the window stands on a virtual screen with openbox as its window manager, and
pictures are taken with xwd and ImageMagick's convert: Blender's own screenshots are black there. Elsewhere the
window opens on the desktop at hand, and no pictures are taken.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

SCREEN = "1280x800x24"
PATIENCE_IN_SECONDS = 240
SECONDS_BETWEEN_LOOKS = 0.1


@contextlib.contextmanager
def screen() -> Iterator[dict[str, str]]:
    """The environment to start programs in, so that their windows appear on the screen."""
    if not shutil.which("Xvfb"):
        yield dict(os.environ)
        return
    with running(["Xvfb", "-displayfd", "1", "-screen", "0", SCREEN, "-nolisten", "tcp"], dict(os.environ)) as server:
        environment = os.environ | {"DISPLAY": f":{server.stdout.readline().strip()}"}
        with running(["openbox"], environment):
            yield environment


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


def play(command: list[str], environment: dict[str, str], pictures: Path) -> tuple[int, str]:
    """Run Blender on a scenario; return exit code and log. Takes each picture that the scenario asks for.

    A scenario asks with an empty file ``name.request`` in the folder and goes on when that file is gone.
    """
    log = pictures / "blender.log"
    with log.open("wb") as sink:
        process = subprocess.Popen(command, env=environment, stdout=sink, stderr=subprocess.STDOUT, start_new_session=True)
        end = time.monotonic() + PATIENCE_IN_SECONDS
        while process.poll() is None and time.monotonic() < end:
            for request in pictures.glob("*.request"):
                take_picture(request.with_suffix(".png"), environment)
                request.unlink()
            time.sleep(SECONDS_BETWEEN_LOOKS)
        if process.poll() is None:
            process.kill() if os.name == "nt" else os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return process.returncode, log.read_text(encoding="utf-8", errors="replace")


def take_picture(path: Path, environment: dict[str, str]) -> None:
    """Save what the virtual screen shows; nothing where there is none."""
    if not (shutil.which("Xvfb") and shutil.which("xwd") and shutil.which("convert")):
        return
    dump = subprocess.run(["xwd", "-root", "-silent"], env=environment, stdout=subprocess.PIPE, check=True).stdout
    subprocess.run(["convert", "xwd:-", "png:-"], input=dump, stdout=path.open("wb"), check=True)
