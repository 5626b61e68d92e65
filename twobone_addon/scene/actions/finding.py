"""Which actions are an armature's: what it plays, what its strips play, and what was made for its bones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import bpy

from ..blender_types import Action, CurveBag, NlaStrip, Object
from ..keys.reading import read_frames
from ..lookup import BONES
from ..versions import action_bag_of, all_bags, identifier_of, object_slots, played_slots

MOST_STRANGERS = 0.5
"""Part of the bones in an action that the armature may lack: more, and the action was made for another one."""


@dataclass(frozen=True, slots=True)
class OwnAction:
    """An action, and where in it the armature's curves are."""

    action: Action
    slot: str
    """Identifier of the slot; empty before Blender 4.4, which has none."""

    @property
    def name(self) -> str:
        """Of the action."""
        return self.action.name

    @property
    def bag(self) -> CurveBag | None:
        """The armature's curves in the action; `None` where there are none yet."""
        return action_bag_of(self.action, self.slot)


def actions_of(armature: Object) -> list[OwnAction]:
    """Every action that moves the armature, by name.

    Its own, those of its strips, and those that nobody else plays and that are made for its bones; but not what Action
    constraints play, and not the single poses of an asset library.
    """
    players, serving = _players(), _serving_constraints()
    found = []
    for action in sorted(bpy.data.actions, key=lambda each: each.name):
        playing = players.get(action, set())
        if armature not in playing and (playing or action in serving or _is_single_pose(action)):
            continue
        own = own_action(armature, action, sure=armature in playing)
        if own is not None:
            found.append(own)
    return found


def action_named(name: str) -> Action | None:
    """The action of that name."""
    return bpy.data.actions.get(name)


def own_action(armature: Object, action: Action, *, sure: bool = False) -> OwnAction | None:
    """The action with the slot that the armature plays, or would; `None` where nothing in it is for the armature.

    `sure`: somebody has said that the action is the armature's, so curves of any of its bones are enough.
    """
    slots = object_slots(action)
    if slots is None:
        return None
    assigned = _assigned_slots(armature, action)
    name = identifier_of(armature)
    others = {identifier_of(thing) for thing in bpy.data.objects if thing.type == "ARMATURE" and thing != armature}
    best = sorted(slots, key=lambda slot: (slot not in assigned, slot != name))
    for slot in best:
        if slot in assigned or (slot not in others and _fits(armature, action_bag_of(action, slot), sure=sure)):
            return OwnAction(action, slot)
    return None


def _fits(armature: Object, bag: CurveBag | None, *, sure: bool) -> bool:
    """Whether most bones of the curves, or any where that is enough, are the armature's."""
    names = {name for fcurve in (bag.fcurves if bag else ()) if (name := _bone_of(fcurve.data_path))}
    strangers = sum(name not in armature.pose.bones for name in names)
    return strangers < len(names) if sure else len(names) > 0 and strangers <= MOST_STRANGERS * len(names)


def _bone_of(path: str) -> str:
    """Name of the bone in a data path; empty without one."""
    if not path.startswith(BONES):
        return ""
    return bpy.utils.unescape_identifier(path.removeprefix(BONES).partition('"]')[0])


def _assigned_slots(armature: Object, action: Action) -> list[str]:
    """Identifiers of the slots by which the armature plays an action, now or in its strips."""
    data = armature.animation_data
    users = [data, *_strips(armature)] if data else []
    return [identifier for user in users if user.action == action for identifier in played_slots(user)]


def _players() -> dict[Action, set[Object]]:
    """Which armatures play each action, now or in their strips."""
    players: dict[Action, set[Object]] = {}
    for thing in bpy.data.objects:
        if thing.type == "ARMATURE" and thing.animation_data is not None:
            for user in (thing.animation_data, *_strips(thing)):
                if user.action is not None:
                    players.setdefault(user.action, set()).add(thing)
    return players


def _strips(thing: Object) -> Iterator[NlaStrip]:
    """The strips of an object, those in meta strips included."""
    tracks = thing.animation_data.nla_tracks if thing.animation_data else ()
    waiting = [strip for track in tracks for strip in track.strips]
    while waiting:
        strip = waiting.pop()
        waiting += strip.strips
        yield strip


def _serving_constraints() -> set[Action]:
    """The actions that Action constraints play."""
    bones = [bone for thing in bpy.data.objects if thing.pose for bone in thing.pose.bones]
    constraints = (constraint for bone in bones for constraint in bone.constraints if constraint.type == "ACTION")
    return {constraint.action for constraint in constraints if constraint.action is not None}


def _is_single_pose(action: Action) -> bool:
    start, end = action.frame_range
    return action.asset_data is not None and end - start <= 1.0


def key_span(action: Action) -> tuple[float, float] | None:
    """Frames of the first and the last key of an action, of all its slots; `None` without keys."""
    frames = [read_frames(fcurve) for bag in all_bags(action) for fcurve in bag.fcurves if fcurve.keyframe_points]
    return (float(min(each[0] for each in frames)), float(max(each[-1] for each in frames))) if frames else None
