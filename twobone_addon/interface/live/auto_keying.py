"""Auto-keying of live chains: what moved is keyed once the user has let go of it."""

from functools import partial

import bpy

from .follower import Key, following
from .keying import OWN_STEP, in_step_of, running_move
from .posing import holds, key_if_automatic

SECONDS_BETWEEN_LOOKS = 0.1
"""How often it is looked whether the user has let go of what moves."""


def key_when_let_go() -> float | None:
    """Key what moved once the user has let go, as auto-keying keys at the end of a move, and in the move's undo step."""
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
        # Undo evaluates what was tagged since the step before; what the move itself has tagged went with the step replaced.
        for thing in (bpy.data.objects.get(name) for name in following[key].moved):
            if thing is not None:
                thing.update_tag(refresh={"OBJECT", "DATA"})
