"""What panels show that takes long to find: found once after each change of the scene, for panels are drawn far more often."""

from functools import lru_cache
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ...baking.report.freshness import chain_digest
from ...errors import TwoBoneError
from ...scene.rig.chain_finding import chain_from_names
from ...scene.rig.showing import Shown, shown_bone
from ...settings import BakeSettings

KEPT = 64
"""Chains of which it is remembered."""


def visible_bone(armature: str, upper: str, lower: str, tip: str, tip_end: str) -> Shown | None:
    """What is seen of a chain now; `None` where nothing deforms there, or there is no such limb."""
    _notice_changes()
    return _visible_bone(armature, upper, lower, tip, tip_end)


def present_digest(settings: BakeSettings) -> str:
    """The digest of the animation that a chain has now; raises a `TwoBoneError` where there is no such chain."""
    _notice_changes()
    return _present_digest(settings)


@lru_cache(maxsize=KEPT)
def _visible_bone(armature: str, upper: str, lower: str, tip: str, tip_end: str) -> Shown | None:
    thing = bpy.data.objects[armature]
    try:
        return shown_bone(thing, chain_from_names(thing, upper, lower, tip, tip_end))
    except TwoBoneError:
        return None  # There is no such limb, which is said elsewhere.


@lru_cache(maxsize=KEPT)
def _present_digest(settings: BakeSettings) -> str:
    return chain_digest(settings)


@persistent
def _forget(*_: Any) -> None:
    _visible_bone.cache_clear()
    _present_digest.cache_clear()


def _handlers() -> list[Any]:
    handlers = bpy.app.handlers
    changes = [handlers.depsgraph_update_post, handlers.frame_change_post, handlers.undo_post, handlers.redo_post]
    return [*changes, handlers.load_post]


def _notice_changes() -> None:
    """Be told of changes; loading factory settings takes all handlers away."""
    for functions in _handlers():
        if _forget not in functions:
            functions.append(_forget)
            _forget()


def register() -> None:
    """Nothing is noticed before a panel is drawn."""


def unregister() -> None:
    """Notice nothing any more."""
    for functions in _handlers():
        if _forget in functions:
            functions.remove(_forget)
    _forget()
