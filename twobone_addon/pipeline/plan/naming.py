"""Name the chain in a refusal that is about it, where a request is about several chains."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from ...errors import TwoBoneError
from ...said import Sentence, Value
from ...settings import BakeSettings

OF_ARMATURE = 'Chain "{chain}" of "{armature}": {reason}'
ALONE = 'Chain "{chain}": {reason}'
"""Templates of refusals: of a chain whose settings name their armature, and of one that is on the active one."""


@contextmanager
def named_as(label: str, armature: str) -> Iterator[None]:
    """Raise a `TwoBoneError` of the block again, with the name of the chain that it is about; without a name as it is."""
    try:
        yield
    except TwoBoneError as error:
        if not label or error.sentence.template in {OF_ARMATURE, ALONE}:
            raise
        values: dict[str, Value] = {"chain": label, "reason": error.sentence}
        sentence = Sentence(OF_ARMATURE, {**values, "armature": armature}) if armature else Sentence(ALONE, values)
        raise type(error)(sentence) from error


def named(chain: BakeSettings) -> AbstractContextManager[None]:
    """`named_as` the chain of these settings is called, if it has a name."""
    return named_as(chain.label, chain.armature)
