"""What a bake says of a chain: sentences that scripts recognise in the report by their kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...said import INFO, WARN, Sentence, Value

STATEMENTS = {
    "NOT_SHOWN": "Visible bone {bone} does not follow (up to {distance} off the target at frame {frame}). Use Switch to FK",
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
    "AS_ON_IK": "{upper} to {lower} move as on IK (within {distance})",
    "MOVED": "{part} moved by up to {distance} at frame {frame}: something else moves the bones",
    "OFF": "{count} off although in reach, up to {distance} at frame {frame}",
    "OVERRIDDEN": "{count} off although in reach, up to {distance} at frame {frame}: use Switch to FK",
    "BETWEEN": "{distance} off between keys, at frame {frame}",
    "HALFWAY": "skipped frames {frames}: blended between FK and IK",
    "IK_WAS_OFF": "the IK of {bone} was off",
    "IK_OFF_OUTSIDE": "IK is also off before frame {first} and after frame {last}",
    "ACTION_LONGER": "action {action} has keys from {first} to {last} now",
    "LIMBS_LEFT": "limbs not converted: {count}",
    "OWN_KEYS": "shows the existing FK keys",
    "TWIST_LOST": "{bone} loses its twist, up to {angle} degrees at frame {frame}: IK turns no bone about itself",
    "SEEN_TO_MOVE": "joints visibly move by up to {distance}",
}
"""What can be said, by kind."""

AT_ONE_FRAME = {
    "ALL_ON_TARGET": "{part} on target (< {distance})",
    "ALL_WITHIN": "{part} within {distance} of the target",
    "NONE_ON_TARGET": "{part} not on target",
}
"""The same where only one frame is baked."""

GOOD = {"ALL_ON_TARGET", "ALL_WITHIN", "SOME_ON_TARGET", "NONE_ON_TARGET", "IN_REACH", "AS_ON_IK", "OWN_KEYS"}
"""Kinds that only count; all others give the reasons, and are what a person should look at."""


def statement(kind: str, values: Mapping[str, Value], frames: Iterable[Sequence[float]] = ()) -> Sentence:
    """One thing to say, of a kind of `STATEMENTS`; `frames` are the `[first, last]` ranges that it is about."""
    texts = {**STATEMENTS, **AT_ONE_FRAME} if values.get("frames") == 1 else STATEMENTS
    spans = tuple((first, last) for first, last in frames)
    return Sentence(texts[kind], values, spans, INFO if kind in GOOD else WARN, kind)


def statement_of(data: Mapping) -> Sentence:
    """A statement out of what JSON keeps of it."""
    return statement(data["kind"], data["values"], data["ranges"])
