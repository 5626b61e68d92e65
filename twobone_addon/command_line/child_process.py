"""A Blender of its own for one shot: started, watched, and ended with everything it has started itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy

from .outcomes import FileError

PATIENCE = 3.0
"""Seconds that a process gets to end by itself once it was told to."""

PACKAGE = __name__.rsplit(".", 2)[0]
"""The add-on's own package, whatever Blender calls the extension."""


@dataclass(slots=True)
class Child:
    """A running process whose output goes to a file."""

    process: subprocess.Popen[Any]
    log: Path
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        return time.monotonic() - self.started

    def exit_code(self) -> int | None:
        """Its exit code, negative for a signal; `None` while it runs."""
        return self.process.poll()

    def log_lines(self) -> list[str]:
        """What it has printed."""
        return self.log.read_text(encoding="utf-8", errors="replace").splitlines()

    def end(self) -> None:
        """End the process and all that it has started: asked first, forced when it does not listen."""
        for force in (False, True):
            _signal_group(self.process, force=force)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                continue
            return


def start_child(arguments: list[str], log: Path) -> Child:
    """Run `twobone` with these arguments in a Blender of its own, started as this one was."""
    group: dict[str, Any] = (
        {"start_new_session": True} if os.name == "posix" else {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    )
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - this very Blender, with arguments of our own
            [*_blender(), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=_environment(),
            **group,
        )
    return Child(process, log)


def _blender() -> list[str]:
    """The command that this Blender would be started with to understand `twobone`."""
    if not bpy.app.binary_path:  # the bpy module
        return [sys.executable, "-m", "twobone_addon"]
    extension = PACKAGE.rpartition(".")[0]
    if not extension:
        raise FileError("A batch needs the installed extension, since it starts further Blenders. Install the zip first.")
    settings = ["--factory-startup"] if bpy.app.factory_startup else []
    return [bpy.app.binary_path, "--background", *settings, "--addons", extension, "--command", "twobone"]


def _environment() -> dict[str, str]:
    """Where the bpy module's Python finds the add-on; Blender's own program knows by itself."""
    if bpy.app.binary_path:
        return dict(os.environ)
    home = Path(__file__).resolve().parents[2]
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(home), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)}


def _signal_group(process: subprocess.Popen[Any], *, force: bool) -> None:
    if os.name != "posix":
        words = ["taskkill", "/T", "/PID", str(process.pid), *(["/F"] if force else [])]
        subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)  # noqa: S603 - a system tool
        return
    try:
        os.killpg(process.pid, signal.SIGKILL if force else signal.SIGTERM)
    except ProcessLookupError:
        return  # It has ended in the meantime, which is all that was wanted.
