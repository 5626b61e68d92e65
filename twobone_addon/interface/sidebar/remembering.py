"""Caches for what panels show and takes milliseconds to compute, since panels are redrawn very often.

After a change, panels show the old values until a timer has recomputed them. During moves and playback, which change the
scene all the time, nothing is recomputed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import bpy
from bpy.app.handlers import persistent

from ...errors import TwoBoneError
from ...pipeline.report.freshness import chain_digest
from ...scene.lookup import find_armature
from ...scene.rig.chain_finding import chain_from_names
from ...scene.visible.rig_ik import RigReader
from ...scene.visible.skin import Skins
from ...scene.visible.visible_bone import Shown, shown_bone
from ...settings import BakeSettings
from ..stored.where import is_busy, redraw_viewports

PAUSE_IN_SECONDS = 0.1
"""Seconds from the first redraw after a change until values are recomputed, and between retries while the user is busy."""

KEPT = 64
"""Maximum number of entries in a cache."""

Found = TypeVar("Found")


class Memory(Generic[Found]):
    """A cache that goes on returning old values until they are recomputed."""

    def __init__(self) -> None:
        self._found: dict[object, Found] = {}
        self._current: set[object] = set()
        self._asked: dict[object, Callable[[], Found]] = {}

    def recall(self, key: object, find: Callable[[], Found]) -> Found:
        """Return the value of a key; after a change it is recomputed a little later, or at once if timers do not run.

        find : computes the value; may raise a `TwoBoneError`
        """
        known = key in self._found and (key in self._current or is_busy(bpy.data.window_managers[0]))
        if key in self._found and not known and timers_run():
            self._asked[key] = find
            _schedule_catch_up()
        elif not known:
            if len(self._found) >= KEPT:
                self.forget()
            self._found[key] = find()
            self._current.add(key)
        return self._found[key]

    def catch_up(self) -> bool:
        """Recompute the values that were recalled since the last change; return whether there were any."""
        asked, self._asked = self._asked, {}
        for key, find in asked.items():
            try:
                self._found[key] = find()
                self._current.add(key)
            except TwoBoneError:
                self._found.pop(key, None)  # The next `recall` raises the error.
        return bool(asked)

    def doubt(self) -> None:
        """Mark all values as possibly out of date."""
        self._current.clear()

    def forget(self) -> None:
        """Clear the cache."""
        self._found.clear()
        self._current.clear()
        self._asked.clear()


@dataclass(frozen=True, slots=True)
class Visible:
    """Whether and how the visible limb follows a chain."""

    shown: Shown | None = None
    """The visible bone of the limb; `None` if no bone deforms a mesh there, or there is no such chain."""
    hidden: tuple[tuple[str, str], ...] = ()
    """Names of Armature modifiers hidden in the viewport, and of their meshes."""
    has_ik: bool = False
    """Whether the limb follows the chain now, but could follow the rig's IK instead."""


visible: Memory[Visible] = Memory()
digests: Memory[str] = Memory()


def visible_limb(armature: str, upper: str, lower: str, tip: str, tip_end: str) -> Visible:
    """Return the visible state of a chain at the present frame, from the cache."""
    _notice_changes()
    return visible.recall((armature, upper, lower, tip, tip_end), lambda: _visible_limb(armature, upper, lower, tip, tip_end))


def present_digest(settings: BakeSettings) -> str:
    """Return the digest of a chain's present animation, from the cache; raises a `TwoBoneError` if there is no such chain."""
    _notice_changes()
    return digests.recall(settings, lambda: chain_digest(settings))


def _visible_limb(armature: str, upper: str, lower: str, tip: str, tip_end: str) -> Visible:
    try:
        thing = find_armature(armature, None)
        skins = Skins()
        names = chain_from_names(thing, upper, lower, tip, tip_end)
        shown = shown_bone(thing, names, skins)
    except TwoBoneError:
        return Visible()  # There is no such chain, which is reported elsewhere.
    has_ik = shown is not None and shown.follows and RigReader(thing, names).may_follow_ik()
    return Visible(shown, tuple(skins.hidden(thing)), has_ik)


def timers_run() -> bool:
    """Whether Blender runs timers, which it does not in the background."""
    return not bpy.app.background


def _schedule_catch_up() -> None:
    if not bpy.app.timers.is_registered(catch_up):
        bpy.app.timers.register(catch_up, first_interval=PAUSE_IN_SECONDS)


def catch_up() -> float | None:
    """Timer: recompute recalled values once Blender is idle; return the seconds until the next try, or `None` when done."""
    manager = bpy.context.window_manager
    if is_busy(manager):
        return PAUSE_IN_SECONDS
    if any([visible.catch_up(), digests.catch_up()]):
        redraw_viewports(manager)
    return None


@persistent
def _after_change(*_: Any) -> None:
    visible.doubt()
    digests.doubt()


@persistent
def _after_frame_change(*_: Any) -> None:
    visible.doubt()  # Constraint influences may be animated; the digest of the animation does not depend on the frame.


@persistent
def _after_load(*_: Any) -> None:
    visible.forget()
    digests.forget()


def _handlers() -> list[tuple[list[Any], Callable[..., None]]]:
    handlers = bpy.app.handlers
    changes = [handlers.depsgraph_update_post, handlers.undo_post, handlers.redo_post]
    return [
        *((functions, _after_change) for functions in changes),
        (handlers.frame_change_post, _after_frame_change),
        (handlers.load_post, _after_load),
    ]


def _notice_changes() -> None:
    """Add the handlers that are missing, such as after loading factory settings, which removes them; then clear the caches."""
    for functions, function in _handlers():
        if function not in functions:
            functions.append(function)
            _after_load()


def register() -> None:
    """Do nothing: handlers are added when a panel is first drawn."""


def unregister() -> None:
    """Remove the timer and the handlers, and clear the caches."""
    if bpy.app.timers.is_registered(catch_up):
        bpy.app.timers.unregister(catch_up)
    for functions, function in _handlers():
        if function in functions:
            functions.remove(function)
    _after_load()
