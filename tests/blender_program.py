"""Start Blender, the program or the bpy module's Python, and read its log with a critical eye."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

PATIENCE_IN_SECONDS = 3600
"""After which a program that was started counts as hanging: long enough for a machine on which everything is slow."""
COMPLAINT = re.compile(r"traceback|error|warning|exception|violation|deprecat", re.IGNORECASE)
# What Blender or its packaging says of itself, with or without any add-on, and what is no complaint of ours.
KNOWN_NOISE = [
    re.compile(r"could not get a list of mounted file-systems", re.IGNORECASE),  # no /etc/mtab in a container
    re.compile(r"not freed memory|memory leak", re.IGNORECASE),  # the bpy modules, at exit
    re.compile(r"^Warning: .* on target in "),  # what a bake of such a target has to say
    re.compile(r"ALSA|AL lib|PulseAudio|XDG_RUNTIME_DIR|libdecor|libEGL|MESA|Vulkan", re.IGNORECASE),  # no sound, no GPU
]


def find_blender() -> str:
    """Path of the program named in BLENDER or found on PATH; skips the test where there is none."""
    program = os.environ.get("BLENDER") or shutil.which("blender")
    if program is None:
        pytest.skip("no Blender program: put it on PATH or its path into BLENDER")
    return program


def run(command: list[str], user_folder: Path, patience: float = PATIENCE_IN_SECONDS) -> subprocess.CompletedProcess[str]:
    """Run a command with Blender's user folder set, and return its exit code and log (both streams, in order)."""
    environment = os.environ | {"BLENDER_USER_RESOURCES": str(user_folder)}
    return subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8",
        errors="replace", timeout=patience, check=False,
    )  # fmt: skip


def complaints(log: str) -> list[str]:
    """Every line of the log that complains, but for what is known not to be about this add-on."""
    complaining = [line for line in log.splitlines() if COMPLAINT.search(line)]
    return [line for line in complaining if not any(noise.search(line) for noise in KNOWN_NOISE)]
