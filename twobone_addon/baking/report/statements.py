"""What a bake says of a chain, in pieces that every language puts together alike: a text, what is put into it, and where."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Translate: TypeAlias = Callable[[str], str]
"""From an English text, with `{names}` where something is inserted, to the same in the language that is spoken."""


def in_english(text: str) -> str:
    """Leaves a text as it is."""
    return text


STATEMENTS = {
    "NOT_SHOWN": "What is seen does not follow: {bone} up to {distance} off the target at frame {frame}, use Switch to FK",
    "ALL_ON_TARGET": "{part} on target in all {frames} frames (< {distance})",
    "ALL_WITHIN": "{part} within {distance} of the target in all {frames} frames",
    "SOME_ON_TARGET": "{part} on target in {count} of {frames} frames",
    "NONE_ON_TARGET": "{part} on target in none of {frames} frames",
    "IN_REACH": "{part} in reach in {count} of {frames} frames, not measured",
    "OUT_OF_REACH": "{count} out of reach, up to {distance} at frame {frame}",
    "OUT_OF_REACH_UNMEASURED": "{count} out of reach",
    "BESIDE_PLANE": "{count} beside the plane, up to {distance} at frame {frame}",
    "BESIDE_LETTER_PLANE": "{count} beside the plane, up to {distance} at frame {frame}: use Current Pose",
    "HELD_BACK": "{count} held back by the reach settings, up to {distance} at frame {frame}",
    "INFLUENCE": "{count} with an influence below 1, up to {distance} at frame {frame}",
    "NOWHERE": "{count} without a target position",
    "OTHERWISE": "{count} off although in reach, up to {distance} at frame {frame}: something else moves the bones",
    "MOVED": "{part} moved by up to {distance} at frame {frame}: something else moves the bones",
    "OFF": "{count} off although in reach, up to {distance} at frame {frame}",
    "OVERRIDDEN": "{count} off although in reach, up to {distance} at frame {frame}: use Switch to FK",
    "BETWEEN": "{distance} off between keys, at frame {frame}",
    "HALFWAY": "left between FK and IK at frames {frames}",
    "IK_WAS_OFF": "the IK of {bone} was off",
    "IK_OFF_OUTSIDE": "the IK is off before frame {first} and after frame {last} as well",
    "ACTION_LONGER": "action {action} has keys from {first} to {last} now",
    "LIMBS_LEFT": "limbs left as they are: {count}",
    "OWN_KEYS": "it shows the keys that the FK bones have",
    "SEEN_TO_MOVE": "joints are seen to move by up to {distance}",
}
"""What can be said, by kind."""

AT_ONE_FRAME = {
    "ALL_ON_TARGET": "{part} on target (< {distance})",
    "ALL_WITHIN": "{part} within {distance} of the target",
    "NONE_ON_TARGET": "{part} not on target",
}
"""The same where only one frame is baked."""

GOOD = {"ALL_ON_TARGET", "ALL_WITHIN", "SOME_ON_TARGET", "NONE_ON_TARGET", "IN_REACH", "OWN_KEYS"}
"""Kinds that only count; all others give the reasons, and are what a person should look at."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing to say."""

    kind: str
    """One of `STATEMENTS`."""
    values: Mapping[str, str | int]
    """What is put into the text: distances in scene units, frames, counts, bones."""
    ranges: list[list[float]] = field(default_factory=list)
    """`[first, last]` frames that it is about; empty where it is about all."""

    @property
    def is_good(self) -> bool:
        """Whether it names nothing that a person should look at."""
        return self.kind in GOOD

    def text(self, translate: Translate = in_english) -> str:
        """The text, complete."""
        texts = {**STATEMENTS, **AT_ONE_FRAME} if self.values.get("frames") == 1 else STATEMENTS
        return translate(texts[self.kind]).format(**self.values)


def joined(statements: list[Statement], translate: Translate = in_english) -> str:
    """One sentence of several statements."""
    return "; ".join(statement.text(translate) for statement in statements)


def statement_of(data: dict) -> Statement:
    """A statement out of what JSON keeps of it."""
    return Statement(data["kind"], data["values"], data["ranges"])
