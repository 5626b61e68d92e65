"""Temporary scenes in which no other add-on's code runs."""

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
    """Suspend the handlers in the lists `names`, such as other add-ons', for a block whose changes do not concern them."""
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
    """Create drivers in the block without losing the user's unkeyed edits.

    After a change to a driver, a window that shows the context's scene evaluates all animation anew: later, when nothing
    can be restored any more. So the context's scene in the block is one that no window shows.
    """
    context: Context = bpy.context
    with empty_stage() as stage, context.temp_override(scene=stage):
        yield
