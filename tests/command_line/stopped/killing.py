"""Helpers for tests that end processes: run the command in one of its own, see what lives and what is left."""

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


@contextmanager
def start(*words, temporary=None, **more):
    """`python -m twobone_addon WORDS...` in a session of its own; its temporary files go to `temporary`."""
    if temporary is not None:
        temporary.mkdir(exist_ok=True)
        more |= {"TMPDIR": str(temporary), "TEMP": str(temporary), "TMP": str(temporary)}
    command = ["-m", "twobone_addon", *map(str, words)]
    with python(command, more, stderr=subprocess.STDOUT, start_new_session=True) as process:
        yield process


@contextmanager
def python(words, more=(), **options):
    """A Python that knows the add-on, with `more` in its environment; at the end of the block it has ended.

    Coverage does not look at it: a signal may come while that holds its own lock, and then it waits for itself for ever.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    environment = kept | {"PYTHONPATH": str(ROOT)} | dict(more)
    with subprocess.Popen([sys.executable, *words], env=environment, stdout=subprocess.PIPE, text=True, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_until(holds, patience=60.0):
    """Wait until something is so, or for `patience` seconds; returns whether it is."""
    end = time.monotonic() + patience
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


def alive_with(text):
    """Numbers of living processes whose command line has this text, such as a test's own folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found += [int(entry.name)] if str(text) in words and is_alive(int(entry.name)) else []
        except OSError:
            continue
    return found


def is_alive(pid):
    """Whether the process runs; one that has ended and waits for its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children_of(process):
    """Numbers of the processes that a process's main thread has started."""
    try:
        return [int(word) for word in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    except OSError:
        return []
