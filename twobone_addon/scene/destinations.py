"""Where keys go: the armature's own action, a new one, or a strip on a new NLA track."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from .blender_types import CurveBag, Object
from .versions import assign_slot, ensure_action_bag, ensure_curve_bag, first_slot


@contextmanager
def open_destination(armature: Object, destination: str, name: str, start: float, end: float) -> Iterator[CurveBag]:
    """Yield what takes the curves; afterwards it is in place.

    `ACTION`: the armature's own action and slot, made where they are missing. `NEW_ACTION`: a copy of the present
    action, so that everything else goes on as before; the present one is kept in the file. `NLA`: a strip called
    `name` from `start` to `end`, on a new track above all others.
    """
    if destination == "NLA":
        action = bpy.data.actions.new(name)
        yield ensure_action_bag(action, armature)
        _add_strip(armature, action, name, start, end)
        return
    if destination == "NEW_ACTION":
        _renew_action(armature)
    yield ensure_curve_bag(armature)


def _renew_action(armature: Object) -> None:
    """Give the armature a copy of its action, if it has one."""
    data = armature.animation_data or armature.animation_data_create()
    old = data.action
    if old is None:
        return
    slot = getattr(data, "action_slot", None)
    identifier = slot.identifier if slot else ""
    # An action without users is not saved; the one that was here must not be lost.
    old.use_fake_user = True
    data.action = old.copy()
    data.action.use_fake_user = False
    if identifier:
        assign_slot(data, identifier)


def _add_strip(armature: Object, action: object, name: str, start: float, end: float) -> None:
    data = armature.animation_data or armature.animation_data_create()
    track = data.nla_tracks.new()
    track.name = name
    # A new strip begins at a whole frame; its true place is set afterwards.
    strip = track.strips.new(name, int(start), action)
    assign_slot(strip, first_slot(action))
    strip.extrapolation = "NOTHING"
    strip.blend_type = "REPLACE"
    strip.action_frame_start, strip.action_frame_end = start, end
    strip.frame_start_ui, strip.frame_end_ui = start, end
