"""A Windows job: what is in it ends with whoever holds it, however that ends, and takes no more memory than it may.

The numbers are those of `winnt.h`; see "Job Objects" in Microsoft's documentation.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

KILL_ON_CLOSE, PROCESS_MEMORY = 0x2000, 0x100
EXTENDED_LIMITS = 9


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("process_time", ctypes.c_int64),
        ("job_time", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
        ("least_working_set", ctypes.c_size_t),
        ("greatest_working_set", ctypes.c_size_t),
        ("processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority", ctypes.c_uint32),
        ("scheduling", ctypes.c_uint32),
    )


class _ExtendedLimits(ctypes.Structure):
    _fields_ = (
        ("basic", _BasicLimits),
        ("transfers", ctypes.c_uint64 * 6),
        ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t),
        ("peak_process_memory", ctypes.c_size_t),
        ("peak_job_memory", ctypes.c_size_t),
    )


class Job:
    """A job that holds one process and all that it starts. Where the system refuses one, nothing is held."""

    def __init__(self, process: int, memory: int | None) -> None:
        """Take the handle of a process just started, and the bytes that it, and each it starts, may hold."""
        self._handle: int | None = None
        self._kernel: Any = None
        if sys.platform != "win32":
            return
        self._kernel = ctypes.WinDLL("kernel32")
        self._kernel.CreateJobObjectW.restype = ctypes.c_void_p
        handle = ctypes.c_void_p(self._kernel.CreateJobObjectW(None, None))
        limits = _ExtendedLimits()
        limits.basic.flags = KILL_ON_CLOSE | (PROCESS_MEMORY if memory else 0)
        limits.process_memory = memory or 0
        self._kernel.SetInformationJobObject(handle, EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits))
        if self._kernel.AssignProcessToJobObject(handle, ctypes.c_void_p(process)):
            self._handle = handle.value

    def end(self) -> None:
        """End everything in the job."""
        if self._handle is not None:
            self._kernel.TerminateJobObject(ctypes.c_void_p(self._handle), 1)
            self._kernel.CloseHandle(ctypes.c_void_p(self._handle))
            self._handle = None
