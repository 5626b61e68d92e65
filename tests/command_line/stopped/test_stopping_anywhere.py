"""A signal that comes while a text is written: at whichever line, the file is whole and nothing is left beside it."""

import json
import signal
import sys

import pytest

from twobone_addon.command_line.exit_codes import SIGNALS
from twobone_addon.command_line.outcomes import StoppedError
from twobone_addon.command_line.outputs import write_document
from twobone_addon.command_line.stopping import StopRequest, stop_requests, stopped_by_signals

BEFORE, AFTER = {"version": 1, "provenance": "as it was"}, {"version": 1, "provenance": "as it is"}


def stopped_at(line, goal):
    """Write, with a signal at that line of those the add-on passes; whether it passed as many, and whether it was stopped."""
    left, request = line, StopRequest()

    def passed(_frame, event, _argument):
        nonlocal left
        if event == "line":
            left -= 1
            if left == 0:
                signal.raise_signal(signal.SIGTERM)
        return passed

    earlier = sys.gettrace()
    try:
        with stopped_by_signals(request), request.interrupting():
            sys.settrace(lambda frame, *_: passed if "twobone_addon" in frame.f_code.co_filename else None)
            try:
                write_document("--report", goal, AFTER)
            finally:
                sys.settrace(earlier)
    except StoppedError:
        return left <= 0, True
    return left <= 0, False


def test_nothing_is_left_of_a_text_that_was_being_written(tmp_path):
    goal = tmp_path / "report.json"
    line, was_stopped = 0, []
    while True:
        line += 1
        goal.write_text(json.dumps(BEFORE))
        reached, stopped = stopped_at(line, goal)
        assert [path.name for path in tmp_path.iterdir()] == ["report.json"], line
        assert json.loads(goal.read_text()) in [BEFORE, AFTER]
        if not reached:
            break
        was_stopped.append(stopped)
    assert all(was_stopped)
    assert line > 50  # Else the text was written by something else.


@pytest.mark.parametrize("number", SIGNALS)
def test_what_was_to_be_ignored_when_the_command_began_is_ignored(number):
    """As `nohup` wants a hang-up, and a shell Ctrl-C in what it runs in the background."""
    request, earlier = StopRequest(), signal.signal(number, signal.SIG_IGN)
    try:
        with stopped_by_signals(request), request.interrupting():
            signal.raise_signal(number)
        with stop_requests() as batch:
            signal.raise_signal(number)
        assert signal.getsignal(number) == signal.SIG_IGN
    finally:
        signal.signal(number, earlier)
    assert not request.wanted
    assert not batch.wanted
