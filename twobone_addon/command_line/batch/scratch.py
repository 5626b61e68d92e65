"""What a batch has to itself while it runs: a folder for logs and reports, and its summary."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..files.claims import claimed, is_abandoned

PREFIX = "twobone-batch-"
OWNER = "owner"
"""The name in a scratch folder whose claim its batch holds."""


@contextmanager
def claimed_summary(path: Path | None) -> Iterator[None]:
    """While the block runs, no other batch writes this summary; raises `FileError` where one does already."""
    if path is None:
        yield
        return
    with claimed(path, role="batch", everything=False):
        yield


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder that is gone after the block; those of batches that were killed go with it."""
    _remove_abandoned(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        with claimed(folder / OWNER):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(parent: Path) -> None:
    """Remove our folders whose batch is no more; other people's, and those just being made, stay."""
    for folder in parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            is_ours = not hasattr(os, "getuid") or folder.lstat().st_uid == os.getuid()
            if is_ours and not folder.is_symlink() and is_abandoned(folder / OWNER):
                shutil.rmtree(folder, ignore_errors=True)
