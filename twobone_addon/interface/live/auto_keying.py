"""Auto-keying of live chains: channels that changed are keyed when the user's move ends."""

from functools import partial

import bpy

from .follower import Key, following
from .keying import OWN_STEP, in_step_of, running_move
from .posing import holds, key_if_automatic

SECONDS_BETWEEN_LOOKS = 0.1
"""Interval of the timers that wait until the user's move has ended, in seconds."""


def key_when_let_go() -> float | None:
    """Timer: key what changed once the user's move has ended, in the move's undo step; a cancelled move is not keyed."""
    if running_move(bpy.data.window_managers[0]):
        return SECONDS_BETWEEN_LOOKS
    moved = [
        key for key, follower in following.items() if follower.unkeyed and not holds(bpy.data.objects[key[0]], follower.unmoved)
    ]
    if moved:
        in_step_of(next((following[key].move for key in moved if following[key].move), OWN_STEP), partial(_key_moved, moved))
    for follower in following.values():
        follower.unkeyed, follower.move = [], ""
    return None


def _key_moved(keys: list[Key]) -> None:
    for key in keys:
        key_if_automatic(bpy.context, bpy.data.objects[key[0]], following[key].unkeyed)
        # Undo re-evaluates what was tagged since the previous step; the move's own tags were lost with the step it replaced.
        for thing in (bpy.data.objects.get(name) for name in following[key].moved):
            if thing is not None:
                thing.update_tag(refresh={"OBJECT", "DATA"})
