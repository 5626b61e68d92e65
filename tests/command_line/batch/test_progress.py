"""What a person sees of a batch: a line that stays at the bottom of a terminal, plain lines in a log."""

import io
import os

import pytest

from twobone_addon.command_line.batch.batch_command import Progress
from twobone_addon.command_line.batch.shots import DONE, FAILED, ShotRecord

WIDTH = 60


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def narrow(monkeypatch):
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_: os.terminal_size((WIDTH, 20)))


def a_batch(stream, *, quiet=False):
    """Four shots: one is done already, one goes well, one fails, one goes on."""
    progress = Progress(4, quiet=quiet, stream=stream)
    progress.skipped(["old"])
    progress.running(["walk", "run"])
    progress.ended("walk", ShotRecord("walk", "out", state=DONE, seconds=1.24))
    progress.running(["run", "a shot whose name is longer than the terminal is wide, or nearly so"])
    progress.ended("run", ShotRecord("run", "out", state=FAILED, reason="No target."))
    return progress


def on_screen(text):
    """The lines that are left after what was written over them is gone."""
    return [line.rpartition("\r\x1b[2K")[2] for line in text.split("\n")]


LINES = ["1 of 4 shots are done already", "[2/4] walk: done in 1.2 s", "[3/4] run: failed: No target."]


def test_a_log_has_one_line_for_each_shot_and_no_control_letters():
    log = io.StringIO()
    a_batch(log).clear()
    assert log.getvalue().splitlines() == LINES


def test_a_terminal_shows_how_far_all_is_and_what_is_running_below_the_same_lines(narrow):
    terminal = Terminal()
    progress = a_batch(terminal)
    assert on_screen(terminal.getvalue()) == [*LINES, ""]
    progress.running(["dance"])
    bottom = on_screen(terminal.getvalue())[-1]
    assert "3/4" in bottom
    assert "1 not done" in bottom
    assert bottom.endswith("dance")
    assert bottom.count("#") == 3 * bottom.count(".")
    progress.clear()
    assert on_screen(terminal.getvalue()) == [*LINES, ""]


def test_the_line_at_the_bottom_never_wraps(narrow):
    terminal = Terminal()
    a_batch(terminal)
    shown = [part for line in terminal.getvalue().split("\n") for part in line.split("\r\x1b[2K")]
    assert max(map(len, shown)) == WIDTH - 1


def test_quiet_says_nothing(narrow):
    for stream in (io.StringIO(), Terminal()):
        a_batch(stream, quiet=True).clear()
        assert stream.getvalue() == ""
