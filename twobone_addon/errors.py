"""What can be wrong with a request, one class per thing a person can put right.

Every message is a sentence or two: what is wrong, what was found, how to put it right. When one is raised, nothing has changed.

    raise ChainError('Armature "{armature}" has no bone "{bone}". Choose one of its bones.', armature=armature.name, bone=name)
"""

from pathlib import PurePath

from .said import Sentence, Value


class TwoBoneError(Exception):
    """A request that cannot be carried out; the sentence says what to do about it. As `str` it is English."""

    def __init__(self, sentence: str | Sentence, /, **values: Value | PurePath) -> None:
        told = {name: str(value) if isinstance(value, PurePath) else value for name, value in values.items()}
        self.sentence = Sentence(sentence, told) if isinstance(sentence, str) else sentence
        super().__init__(self.sentence)

    def __str__(self) -> str:
        return self.sentence.text()


class SettingError(TwoBoneError):
    """A setting has a value that has no meaning (not a number, out of range, unknown name)."""


class SelectionError(TwoBoneError):
    """The selection does not say which chain is meant."""


class ChainError(TwoBoneError):
    """The named bones do not form a chain."""


class ObjectError(TwoBoneError):
    """A named object is missing or of the wrong kind."""


class DependencyError(TwoBoneError):
    """The target depends on the chain that is to follow it."""


class WriteError(TwoBoneError):
    """The place where the keys should go cannot take them."""


class RangeError(TwoBoneError):
    """The frames to bake cannot be found."""
