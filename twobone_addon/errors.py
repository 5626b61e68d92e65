"""Errors in requests, one class per kind of problem that the user can fix.

Every message is a sentence or two: what is wrong, what was found, how to fix it. When one is raised, nothing has changed.

    raise ChainError('Armature "{armature}" has no bone "{bone}". Choose one of its bones.', armature=armature.name, bone=name)
"""

import errno
from pathlib import PurePath

from .said import Sentence, Value


class TwoBoneError(Exception):
    """A request that cannot be carried out; its sentence says how to fix it. `str` gives it in English."""

    def __init__(self, sentence: str | Sentence, /, **values: Value | PurePath) -> None:
        converted = {name: str(value) if isinstance(value, PurePath) else value for name, value in values.items()}
        self.sentence = Sentence(sentence, converted) if isinstance(sentence, str) else sentence
        super().__init__(self.sentence)

    def __str__(self) -> str:
        return self.sentence.text()


class SettingError(TwoBoneError):
    """A setting has an invalid value (not a number, out of range, unknown name)."""


class SelectionError(TwoBoneError):
    """The selection does not determine a chain."""


class ChainError(TwoBoneError):
    """The named bones do not form a chain."""


class ObjectError(TwoBoneError):
    """A named object is missing or of the wrong kind."""


class DependencyError(TwoBoneError):
    """The target depends on the chain that should follow it."""


class WriteError(TwoBoneError):
    """Keys cannot be written to their destination."""


class RangeError(TwoBoneError):
    """The frames to bake cannot be determined."""


class FileError(TwoBoneError):
    """A file cannot be opened, read or written."""


class AgainError(FileError):
    """A temporary obstacle, so that a retry may succeed: another run writes the same file, or the disk is full."""


FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
NO_RIGHT = {errno.EACCES, errno.EPERM}


def refused_by_system(path: PurePath, done: str, error: OSError) -> FileError:
    """Return the error for a path that could not be `done` (a participle such as "written" or "made"), with a remedy."""
    values = {"path": str(path), "done": Sentence(done), "reason": error.strerror or str(error)}
    if error.errno in FULL:
        return AgainError('"{path}" cannot be {done}, because the disk is full. Make room, and try again.', **values)
    if error.errno in NO_RIGHT:
        return FileError(
            '"{path}" may not be {done}: this user lacks permission. Change its permissions, or choose another.', **values
        )
    if error.errno == errno.EROFS:
        return FileError('"{path}" cannot be {done}, because its disk is read-only. Choose another.', **values)
    if error.errno == errno.ENOENT:
        return FileError(
            '"{path}" cannot be {done}, because its folder does not exist. Make it first, or choose another.', **values
        )
    return FileError('"{path}" cannot be {done} ({reason}). Choose another.', **values)
