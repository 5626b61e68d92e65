"""What panels show that takes milliseconds to find: found once after a change, for panels are drawn far more often.

After a change panels go on showing what was found before, until a timer has found it anew. While something is moved or
played, which changes the scene all the time, nothing is.
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
"""How long panels show what was there before a change."""

KEPT = 64
"""Chains of which it is remembered."""

Found = TypeVar("Found")


class Memory(Generic[Found]):
    """What was found by what it was asked for."""

    def __init__(self) -> None:
        self._found: dict[object, Found] = {}
        self._current: set[object] = set()
        self._asked: dict[object, Callable[[], Found]] = {}

    def recall(self, key: object, find: Callable[[], Found]) -> Found:
        """What was found; after a change it is found anew a little later, or at once where no timer runs."""
        known = key in self._found and (key in self._current or is_busy(bpy.data.window_managers[0]))
        if key in self._found and not known and timers_run():
            self._asked[key] = find
            _later()
        elif not known:
            if len(self._found) >= KEPT:
                self.forget()
            self._found[key] = find()
            self._current.add(key)
        return self._found[key]

    def catch_up(self) -> bool:
        """Find anew what was asked for since the last change; tells whether anything was."""
        asked, self._asked = self._asked, {}
        for key, find in asked.items():
            try:
                self._found[key] = find()
                self._current.add(key)
            except TwoBoneError:
                self._found.pop(key, None)  # whoever draws it next will say what is wrong
        return bool(asked)

    def doubt(self) -> None:
        """Something has changed."""
        self._current.clear()

    def forget(self) -> None:
        """Know nothing any more."""
        self._found.clear()
        self._current.clear()
        self._asked.clear()


@dataclass(frozen=True, slots=True)
class Visible:
    """Visible state of a chain."""

    shown: Shown | None = None
    """`None` where nothing deforms there, or there is no such limb."""
    hidden: tuple[tuple[str, str], ...] = ()
    """Armature modifiers that are hidden in the viewport, each with its mesh."""
    has_ik: bool = False
    """Whether the limb, which follows the chain now, may follow the IK of its rig instead."""


visible: Memory[Visible] = Memory()
digests: Memory[str] = Memory()


def visible_limb(armature: str, upper: str, lower: str, tip: str, tip_end: str) -> Visible:
    """Visible state of a chain now."""
    _notice_changes()
    return visible.recall((armature, upper, lower, tip, tip_end), lambda: _visible_limb(armature, upper, lower, tip, tip_end))


def present_digest(settings: BakeSettings) -> str:
    """The digest of the animation that a chain has now; raises a `TwoBoneError` where there is no such chain."""
    _notice_changes()
    return digests.recall(settings, lambda: chain_digest(settings))


def _visible_limb(armature: str, upper: str, lower: str, tip: str, tip_end: str) -> Visible:
    try:
        thing = find_armature(armature, None)
        skins = Skins()
        names = chain_from_names(thing, upper, lower, tip, tip_end)
        shown = shown_bone(thing, names, skins)
    except TwoBoneError:
        return Visible()  # There is no such limb, which is said elsewhere.
    has_ik = shown is not None and shown.follows and RigReader(thing, names).may_follow_ik()
    return Visible(shown, tuple(skins.hidden(thing)), has_ik)


def timers_run() -> bool:
    """Whether Blender has a window, and calls timers."""
    return not bpy.app.background


def _later() -> None:
    if not bpy.app.timers.is_registered(catch_up):
        bpy.app.timers.register(catch_up, first_interval=PAUSE_IN_SECONDS)


def catch_up() -> float | None:
    """Look at what has changed, once Blender is idle: seconds until the next try, or `None` once it is done."""
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
    visible.doubt()  # Influences may be animated; the animation itself stays what it is.


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
    """Be told of changes; loading factory settings takes all handlers away."""
    for functions, function in _handlers():
        if function not in functions:
            functions.append(function)
            _after_load()


def register() -> None:
    """Nothing is noticed before a panel is drawn."""


def unregister() -> None:
    """Notice nothing any more."""
    if bpy.app.timers.is_registered(catch_up):
        bpy.app.timers.unregister(catch_up)
    for functions, function in _handlers():
        if function in functions:
            functions.remove(function)
    _after_load()
