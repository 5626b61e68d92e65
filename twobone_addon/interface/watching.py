"""What is shown and takes long to find is kept; a change of the scene makes it old, and a pause of the user finds it again.

Panels and viewports are redrawn very often. After a change they show the old values until a timer has found the new ones.
During moves and playback, which change the scene all the time, nothing is found again. Only this module listens to changes
for that.
"""

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

import bpy
from bpy.app.handlers import persistent

from ..errors import TwoBoneError
from ..scene.sampling.stage import STAGE_NAME
from .stored.where import is_busy, redraw_viewports

PAUSE_IN_SECONDS = 0.2
"""Seconds from the first redraw after a change until values are found again, and between retries while the user is busy."""

KEPT = 64
"""Maximum number of values in a memory."""

Found = TypeVar("Found")


class Memory(Generic[Found]):
    """Values by key; it goes on returning old ones until they are found again.

    concerns : whether the value of a key depends on a changed datablock, Blender's `DepsgraphUpdate`
    follows_frames : whether another frame makes values old, too
    meanwhile : shown for a key without a value, where finding one takes a pass over all frames: then only the value that
        was asked for last is found and kept; without it, a first value is found at once
    """

    def __init__(
        self,
        *,
        concerns: Callable[[Any, Any], bool] = lambda _key, _change: True,
        follows_frames: bool = False,
        meanwhile: Callable[[], Found] | None = None,
    ) -> None:
        self.version = 0
        """Incremented with every value that is found or forgotten."""
        self.follows_frames = follows_frames
        self._concerns, self._meanwhile = concerns, meanwhile
        self._found: dict[Hashable, Found] = {}
        self._current: set[Hashable] = set()
        self._asked: dict[Hashable, Callable[[], Found]] = {}

    def recall(self, key: Hashable, find: Callable[[], Found]) -> Found:
        """Return the value of a key; after a change it is found again a little later, or at once if timers do not run.

        find : finds the value; may raise a `TwoBoneError`
        """
        _listen_for(self)
        has_value = key in self._found
        # While the user is busy, an old value is good enough.
        is_known = has_value and (key in self._current or is_busy(bpy.data.window_managers[0]))
        if not is_known and timers_run() and (has_value or self._meanwhile is not None):
            if self._meanwhile is not None:
                self._asked.clear()
            self._asked[key] = find
            if not bpy.app.timers.is_registered(catch_up):
                bpy.app.timers.register(catch_up, first_interval=PAUSE_IN_SECONDS)
        elif not is_known:
            self._keep(key, find())
        if key in self._found or self._meanwhile is None:
            return self._found[key]
        return self._meanwhile()

    def is_current(self, key: Hashable) -> bool:
        """Whether the value of a key was found since the last change."""
        return key in self._current

    def catch_up(self) -> bool:
        """Find the values that were recalled since the last change; return whether there were any."""
        asked, self._asked = self._asked, {}
        for key, find in asked.items():
            try:
                self._keep(key, find())
            except TwoBoneError:
                self._found.pop(key, None)  # The next `recall` raises the error.
        return bool(asked)

    def doubt(self, changes: list[Any] | None = None) -> None:
        """Mark the values that depend on changed datablocks as old; all values if nobody knows what has changed."""
        if changes is None:
            self._current.clear()
        else:
            self._current -= {key for key in self._current if any(self._concerns(key, change) for change in changes)}

    def forget(self) -> None:
        """Drop all values."""
        self.version += 1
        self._found.clear()
        self._current.clear()
        self._asked.clear()

    def _keep(self, key: Hashable, value: Found) -> None:
        if len(self._found) >= KEPT or self._meanwhile is not None:
            self._found.clear()
            self._current.clear()
        self._found[key] = value
        self._current.add(key)
        self.version += 1


memories: list[Memory[Any]] = []
"""Every memory that was asked since the add-on was enabled."""


def timers_run() -> bool:
    """Whether Blender runs timers, which it does not in the background."""
    return not bpy.app.background


def catch_up() -> float | None:
    """Timer: find old values once Blender is idle; return the seconds until the next try, or `None` when done."""
    manager = bpy.context.window_manager
    if is_busy(manager):
        return PAUSE_IN_SECONDS
    has_news = [memory.catch_up() for memory in memories]
    if any(has_news):
        redraw_viewports(manager)
    return None


@persistent
def _after_change(scene: bpy.types.Scene, depsgraph: Any = None) -> None:
    if scene is not None and scene.name.startswith(STAGE_NAME):
        return
    changes = list(depsgraph.updates) if depsgraph is not None else None
    for memory in memories:
        memory.doubt(changes)


@persistent
def _after_undo(*_: Any) -> None:
    for memory in memories:
        memory.doubt()


@persistent
def _after_frame_change(*_: Any) -> None:
    for memory in memories:
        if memory.follows_frames:
            memory.doubt()


@persistent
def _after_load(*_: Any) -> None:
    for memory in memories:
        memory.forget()


def _handlers() -> list[tuple[list[Any], Callable[..., None]]]:
    handlers = bpy.app.handlers
    return [
        (handlers.depsgraph_update_post, _after_change),
        (handlers.undo_post, _after_undo),
        (handlers.redo_post, _after_undo),
        (handlers.frame_change_post, _after_frame_change),
        (handlers.load_post, _after_load),
    ]


def _listen_for(memory: Memory[Any]) -> None:
    """Add the handlers that are missing, such as after loading factory settings, which removes them."""
    if memory not in memories:
        memories.append(memory)
    missing = [(functions, function) for functions, function in _handlers() if function not in functions]
    for functions, function in missing:
        functions.append(function)
    if missing:  # Nobody has listened meanwhile.
        _after_load()


def register() -> None:
    """Do nothing: handlers are added when a value is first recalled."""


def unregister() -> None:
    """Remove the timer and the handlers, and drop all values."""
    if bpy.app.timers.is_registered(catch_up):
        bpy.app.timers.unregister(catch_up)
    for functions, function in _handlers():
        if function in functions:
            functions.remove(function)
    _after_load()
    memories.clear()
