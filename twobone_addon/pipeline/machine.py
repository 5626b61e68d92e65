"""The cores and the free memory that this process may use; a range that needs more memory is refused."""

from __future__ import annotations

import itertools
import math
import os
from pathlib import Path

from ..core.array_types import Array
from ..errors import RangeError

GROUPS, OWN_GROUP, MEMORY = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup"), Path("/proc/meminfo")


NEVER_MUCH = 10_000_000
"""Need, in bytes, up to which free memory is not checked."""

UNTOLD = 8_000_000_000
"""Bytes assumed to be free where the system does not say, as on macOS and Windows."""


def refuse_more_than_is_free(quantities: int, frames: Array, held: int) -> None:
    """Raise `RangeError` if sampling so many quantities at `frames` `(F,)` needs more memory than is free.

    held : bytes per quantity and frame, including everything computed from it and written
    """
    needed = held * quantities * len(frames)
    if needed <= NEVER_MUCH:
        return
    free = free_memory() or UNTOLD
    if needed > free:
        raise RangeError(
            "Frames {start:g} to {end:g} need about {needed:.1f} GB of memory, and {free:.1f} GB are free. Choose a shorter "
            "range or fewer limbs.",
            start=float(frames[0]),
            end=float(frames[-1]),
            needed=needed / 1e9,
            free=free / 1e9,
        )


def cores() -> int:
    """Number of cores that this process may use; a container's CPU quota is rounded up to whole cores."""
    usable = getattr(os, "sched_getaffinity", None)
    count = len(usable(0)) if usable else os.cpu_count() or 1
    # Version 2 of control groups has quota and period in one file, version 1 in two.
    for group in _groups():
        quota = _words(group / "cpu.max") or [*_words(group / "cpu/cpu.cfs_quota_us"), *_words(group / "cpu/cpu.cfs_period_us")]
        if len(quota) == 2 and _is_amount(quota[0]) and _is_amount(quota[1]):  # noqa: PLR2004 - quota and period
            count = min(count, math.ceil(int(quota[0]) / int(quota[1])))
    return max(count, 1)


def free_memory() -> int | None:
    """Bytes free on the machine and within the container; `None` where the system does not say, as on macOS and Windows."""
    amounts = [int(line.split()[1]) * 1024 for line in _lines(MEMORY) if line.startswith("MemAvailable:")]
    names = (("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"))
    for group, (limit, used) in itertools.product(_groups(), names):
        most, now = _words(group / limit), _words(group / used)
        if most and now and _is_amount(most[0]) and _is_amount(now[0]):
            amounts.append(max(int(most[0]) - int(now[0]), 0))
    return min(amounts, default=None)


def _groups() -> list[Path]:
    """The control group of this process and its parents: each may set a limit, such as that of a farm job."""
    group_path = Path(next((line.removeprefix("0::") for line in _lines(OWN_GROUP) if line.startswith("0::/")), "/"))
    return [GROUPS / str(group).lstrip("/") for group in (group_path, *group_path.parents)]


def _is_amount(text: str) -> bool:
    return text.isdecimal() and int(text) > 0


def _words(path: Path) -> list[str]:
    return " ".join(_lines(path)).split()


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []
