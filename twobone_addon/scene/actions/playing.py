"""An armature that plays one action after another, each alone and from the same pose; then all is put back.

What an action does not key stays as the action before left it. So between two of them every bone's own channels are
cleared, and what else any of the actions animates is set to what it was at first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import bpy
import numpy as np

from ...array_types import Array
from ..blender_types import Action, AnimData, NlaTrack, Object, Scene
from ..keys.reading import AT_REST
from ..lookup import BONES
from ..versions import action_bag_of, assign_slot, object_slots, own_slot
from ..walk.restoring import Edit, apply_edits, present_values, unkeyed_edits
from .finding import OwnAction


@dataclass(frozen=True, slots=True)
class _Player:
    """Something that plays an action of the armature."""

    thing: Object
    action: Action | None
    """What it plays at first."""
    slot: str
    """Identifier of its slot, the same in every action; empty before Blender 4.4."""

    def play(self, action: Action | None, slot: str) -> None:
        data: AnimData = self.thing.animation_data
        data.action = action
        if action is not None:
            assign_slot(data, slot)


class Stage:
    """An armature on which actions are played."""

    def __init__(self, armature: Object, actions: Sequence[OwnAction]) -> None:
        self.armature = armature
        self.written: set[str] = set()
        """Data paths of the armature that were keyed meanwhile."""
        self.renewed: dict[Action, Action] = {}
        """Copies that are to be played instead of actions."""
        self.others = _others(armature)
        self.values = [
            *_values(armature, [(own.action, own.slot) for own in actions]),
            *(value for other in self.others for value in _values(other.thing, [(own.action, other.slot) for own in actions])),
        ]

    def play(self, action: Action, slot: str) -> None:
        """Play an action alone, with nothing posed that it does not pose itself."""
        _Player(self.armature, None, "").play(action, slot)
        for other in self.others:
            if other.slot in (object_slots(action) or ()):
                other.play(action, other.slot)
        bones = len(self.armature.pose.bones)
        _set_pose(self.armature, {name: np.tile(values, bones).astype(np.float32) for name, values in AT_REST.items()})
        apply_edits(self.values)


@contextmanager
def staged(scene: Scene, armature: Object, actions: Sequence[OwnAction]) -> Iterator[Stage]:
    """A stage for the actions; afterwards the armature, and what plays its action by another slot, are as before.

    Where a copy of its action was keyed instead, the armature goes on with that.
    """
    data = armature.animation_data or armature.animation_data_create()
    stage, pose = Stage(armature, actions), _pose(armature)
    players = [_player(armature), *stage.others]
    edits = [edit for player in players for edit in unkeyed_edits(scene, player.thing)]
    solo = next((track for track in data.nla_tracks if track.is_solo), None)
    mixing = data.use_nla, data.action_influence, data.action_blend_type
    _turn_solo(solo, on=False)
    data.use_nla, data.action_influence, data.action_blend_type = False, 1.0, "REPLACE"
    try:
        yield stage
    finally:
        data.use_nla, data.action_influence, data.action_blend_type = mixing
        _turn_solo(solo, on=True)
        _set_pose(armature, pose)
        apply_edits(stage.values)
        for player in players:
            player.play(stage.renewed.get(player.action, player.action), player.slot)
        for layer in scene.view_layers:
            layer.update()
        apply_edits([edit for edit in edits if edit.datablock != armature or edit.path not in stage.written])


def _player(thing: Object) -> _Player:
    data = thing.animation_data
    return _Player(thing, data.action, own_slot(data))


def _others(armature: Object) -> list[_Player]:
    """What plays the armature's action by slots of their own, such as the empties that it follows."""
    action = armature.animation_data.action if armature.animation_data else None
    if action is None or not hasattr(action, "slots"):
        return []
    others = (thing for thing in bpy.data.objects if thing != armature and thing.animation_data)
    return [_player(thing) for thing in others if thing.animation_data.action == action]


def _values(thing: Object, plays: Sequence[tuple[Action, str]]) -> list[Edit]:
    """What a thing holds now in the channels that any of the actions animates, but for the bones' own."""
    bags = [action_bag_of(action, slot) for action, slot in plays if slot in (object_slots(action) or ())]
    channels = {(fcurve.data_path, fcurve.array_index) for bag in bags if bag is not None for fcurve in bag.fcurves}
    return present_values(thing, sorted(channel for channel in channels if not _is_bones_own(channel[0])))


def _is_bones_own(path: str) -> bool:
    return path.startswith(BONES) and path.rpartition(".")[2] in AT_REST


def _pose(armature: Object) -> dict[str, Array]:
    """Every bone's own channels."""
    bones = armature.pose.bones
    pose = {name: np.empty(len(bones) * len(values), dtype=np.float32) for name, values in AT_REST.items()}
    for name, values in pose.items():
        bones.foreach_get(name, values)
    return pose


def _set_pose(armature: Object, pose: dict[str, Array]) -> None:
    for name, values in pose.items():
        armature.pose.bones.foreach_set(name, values)
    armature.update_tag()


def _turn_solo(track: NlaTrack | None, *, on: bool) -> None:
    if track is not None:
        track.is_solo = on
