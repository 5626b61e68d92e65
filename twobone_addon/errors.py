"""Errors in requests, one class per kind of problem that the user can fix.

Every message is a sentence or two: what is wrong, what was found, how to fix it. When one is raised, nothing has changed.

    raise ChainError('Armature "{armature}" has no bone "{bone}". Choose one of its bones.', armature=armature.name, bone=name)
"""

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
