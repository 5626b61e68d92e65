"""A scene of our own, for as long as it is needed, in which nobody else's code runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import bpy
from bpy.app import handlers

from ..blender_types import Context, Scene

STAGE_NAME = ".twobone_stage"

FRAME_HANDLERS = ("frame_change_pre", "frame_change_post")
UPDATE_HANDLERS = ("depsgraph_update_pre", "depsgraph_update_post")


@contextmanager
def empty_stage() -> Iterator[Scene]:
    """A new, empty scene, removed afterwards."""
    stage = bpy.data.scenes.new(STAGE_NAME)
    try:
        yield stage
    finally:
        bpy.data.scenes.remove(stage)


@contextmanager
def unheard(names: Sequence[str]) -> Iterator[None]:
    """Keep what happens in the block from other add-ons that listen to `names`: it happens where it concerns nobody."""
    listening = [functions for functions in (getattr(handlers, name) for name in names) if functions]
    kept = [functions[:] for functions in listening]
    for functions in listening:
        functions.clear()
    try:
        yield
    finally:
        for functions, before in zip(listening, kept, strict=True):
            functions.extend(before)


@contextmanager
def unkeyed_kept() -> Iterator[None]:
    """Make drivers in the block without the user losing what they have not keyed yet.

    After a change to a driver, a window evaluates all animation anew if it shows the scene that was the context's: later,
    when nothing can be put back any more. So the context's scene is one that no window shows.
    """
    context: Context = bpy.context
    with empty_stage() as aside, context.temp_override(scene=aside):
        yield
