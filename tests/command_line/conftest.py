"""The command, run inside the test's own Blender."""

from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    said: str
    """Standard output."""
    complained: str
    """The command's own lines on standard error, without the name in front."""


@pytest.fixture
def twobone(registered_addon, capfd):
    """Runs ``twobone ARGUMENTS...`` and returns how it ended."""
    from twobone_addon.command_line.command import main

    def run(*arguments):
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        printed = capfd.readouterr()
        own = [line.removeprefix("twobone: ") for line in printed.err.splitlines() if line.startswith("twobone: ")]
        return Ended(code, printed.out, "\n".join(own))

    return run
