"""Keys on trial: actions that are thrown away again, so that Blender can say what keys would do before any is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import bpy

from ..blender_types import Action, Object
from ..versions import assign_slot, ensure_curve_bag, own_slot
from .writing import ChannelKeys, write_keys

TRIAL_NAME = ".twobone_trial"


@dataclass(frozen=True, slots=True)
class _Kept:
    """What an object's animation was."""

    thing: Object
    was_animated: bool
    action: Action | None
    slot: str
    trial: Action


@contextmanager
def trial_actions(things: Sequence[Object]) -> Iterator[None]:
    """Give each of the objects a copy of its action for a while; afterwards its own one is back, and the copy is gone."""
    kept: list[_Kept] = []
    try:
        kept.extend(_on_trial(thing) for thing in things)
        yield
    finally:
        for each in kept:
            _give_back(each)


def try_keys(thing: Object, channels: Sequence[ChannelKeys], start: float, end: float) -> None:
    """Put keys into the action that an object has on trial."""
    write_keys(ensure_curve_bag(thing), channels, start, end)


def _on_trial(thing: Object) -> _Kept:
    data = thing.animation_data
    was_animated, data = data is not None, data or thing.animation_data_create()
    action = data.action
    identifier = own_slot(data)
    trial = action.copy() if action else bpy.data.actions.new(TRIAL_NAME)
    kept = _Kept(thing, was_animated, action, identifier, trial)
    data.action = trial
    assign_slot(data, identifier)
    return kept


def _give_back(kept: _Kept) -> None:
    data = kept.thing.animation_data
    data.action = kept.action
    if kept.action is not None:
        assign_slot(data, kept.slot)
    if not kept.was_animated:
        kept.thing.animation_data_clear()
    bpy.data.actions.remove(kept.trial)
