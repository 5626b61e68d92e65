"""Contacts of a foot over time: as a state per frame, as a list of contacts with their frames, as runs of frames."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..array_types import Array, Codes, Mask


class ContactState(IntEnum):
    """Which points of the foot are on the ground; heel and ball are bits, `BOTH` has both."""

    NONE = 0
    HEEL = 1
    BALL = 2
    BOTH = 3


class Contact(NamedTuple):
    """Consecutive frames in which the same points of a foot are on the ground."""

    first: float
    """First frame on the ground."""
    last: float
    """Last frame on the ground; equal to `first` for a contact of one frame."""
    point: str
    """`HEEL`, `BALL` or `BOTH`."""


def on_heel(states: Codes) -> Mask:
    """Mask `(F,)` of frames with the heel on the ground."""
    return (np.asarray(states) & ContactState.HEEL) != 0


def on_ball(states: Codes) -> Mask:
    """Mask `(F,)` of frames with the ball on the ground."""
    return (np.asarray(states) & ContactState.BALL) != 0


def contacts_of_states(states: Codes, frames: Array) -> tuple[Contact, ...]:
    """Contacts in `states` `(F,)` at `frames` `(F,)`, in order; none for a foot that never stands."""
    states = np.asarray(states)
    if len(states) == 0:
        return ()
    starts = np.concatenate([[0], np.flatnonzero(np.diff(states)) + 1])
    ends = np.concatenate([starts[1:], [len(states)]]) - 1
    return tuple(
        Contact(first=float(frames[start]), last=float(frames[end]), point=ContactState(int(states[start])).name)
        for start, end in zip(starts, ends, strict=True)
        if states[start] != ContactState.NONE
    )


def states_of_contacts(contacts: Iterable[Contact], frames: Array) -> Codes:
    """States `(F,)` at `frames` `(F,)`; `NONE` outside contacts. Where contacts overlap, the later in the list counts."""
    frames = np.asarray(frames, dtype=float)
    states = np.full(len(frames), int(ContactState.NONE))
    for contact in contacts:
        states[(frames >= contact.first) & (frames <= contact.last)] = ContactState[contact.point]
    return states


def runs(mask: Mask) -> list[tuple[int, int]]:
    """First and last index of each run of true values in `mask` `(F,)`."""
    if not len(mask):
        return []
    edges = (np.flatnonzero(mask[1:] != mask[:-1]) + 1).tolist()
    edges = [*([0] if mask[0] else []), *edges, *([len(mask)] if mask[-1] else [])]
    return [(first, end - 1) for first, end in zip(edges[::2], edges[1::2], strict=True)]


def without_gaps(mask: Mask, longest: float) -> Mask:
    """`mask` `(F,)` with gaps of at most `longest` frames closed; before the first run and after the last there is no gap."""
    closed = mask.copy()
    for (_, before), (after, _) in pairwise(runs(mask)):
        if after - before - 1 <= longest:
            closed[before:after] = True
    return closed


def without_short(mask: Mask, shortest: float) -> Mask:
    """`mask` `(F,)` without runs of fewer than `shortest` frames; a run at the first or last frame stays, as it may be longer."""
    kept = mask.copy()
    for first, last in runs(mask):
        if last - first + 1 < shortest and first > 0 and last < len(mask) - 1:
            kept[first : last + 1] = False
    return kept
