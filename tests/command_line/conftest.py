"""The command, and batches of it, run inside the test's own Blender."""

import contextlib
import io
import time
from collections import deque
from dataclasses import dataclass
from types import SimpleNamespace

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


class WorkerHere:
    """Runs the commands of a batch in this process, as if it were a Blender that the batch has started."""

    process = SimpleNamespace(poll=lambda: None)
    shots, seconds, log = 0, 0.0, None

    def ask(self, arguments, log):
        from twobone_addon.command_line.command import main

        said, begun = io.StringIO(), time.monotonic()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            self.answer = main(arguments)
        self.lines, self.log, self.shots = deque(said.getvalue().splitlines()), log, self.shots + 1
        self.seconds = time.monotonic() - begun

    def exit_code(self):
        return self.answer


@pytest.fixture
def run_here(twobone, monkeypatch):
    """Runs a batch with workers in this process; what it replaces, keeps and resumes is the same wherever its Blenders run."""
    from twobone_addon.command_line.batch import batch_command

    monkeypatch.setattr(batch_command, "start_worker", lambda *_, **__: WorkerHere())
    monkeypatch.setattr(batch_command, "end", lambda _: None)
    return lambda job, *words: twobone("batch", job, *words)
