"""A leash for calls that ought to be refused at once: no more memory, and no more time, than a refusal needs."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MEMORY = 400 * 2**20
"""Bytes above what the process has: a range of a million frames fits, one of a billion does not."""

SECONDS = 20


@contextmanager
def on_a_leash() -> Iterator[None]:
    """Let a block end in an error where it takes too long or too much; without a leash where the system has none."""
    if not Path("/proc/self/statm").exists():
        yield
        return
    import resource

    in_use = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (in_use + MEMORY, hard))
    kept = signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, kept)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _too_long(*_: object) -> None:
    raise TimeoutError(f"not refused within {SECONDS} s")
