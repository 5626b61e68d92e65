"""Find an armature's actions, and play one after another on it, restoring everything afterwards.

Channels that an action does not key keep the values of the action before. So between two of them every bone's own
channels are set to rest, and everything else that any of the actions animates to its original value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import bpy
import numpy as np

from ..core.array_types import Array, KeyFrames
from ..core.curves.frames import FRAME_DECIMALS, NEAR_FRAME
from ..errors import ObjectError
from .blender_types import Action, AnimData, Channel, CurveBag, NlaStrip, NlaTrack, Object, Property, Scene
from .keys.destinations import animated_channels, trial_actions
from .keys.ledger import Ledger, is_set
from .keys.reading import AT_REST, is_keyed_to, read_frames
from .keys.tables import StraightKeys
from .keys.writing import write_keys
from .lookup import BONES, bone_in
from .restoring import Edit, apply_edits, edits_kept, present_values, unkeyed_edits
from .versions import (
    action_bag_of,
    all_bags,
    assign_slot,
    ensure_bag_of,
    ensure_curve_bag,
    identifier_of,
    object_slots,
    own_slot,
    played_slots,
)
from .writer import drop_curve, playing, unnoted

MOST_STRANGERS = 0.5
"""Fraction of an action's bones that the armature may lack, at most; else the action was made for another one."""


@dataclass(frozen=True, slots=True)
class OwnAction:
    """An action, and the slot in it with the armature's curves."""

    action: Action
    slot: str
    """Identifier of the slot; empty before Blender 4.4, which has none."""

    @property
    def name(self) -> str:
        """Name of the action."""
        return self.action.name

    @property
    def bag(self) -> CurveBag | None:
        """The armature's curves in the action; `None` where there are none yet."""
        return action_bag_of(self.action, self.slot)


def actions_of(armature: Object) -> list[OwnAction]:
    """Every action that animates the armature, sorted by name.

    These are its own, those of its strips, and those made for its bones that no other object plays; but not those of Action
    constraints, and not single poses of an asset library.
    """
    mine, others = _played_by(lambda thing: thing == armature), _played_by(lambda thing: thing != armature)
    of_constraints = _constraint_actions()
    actions = []
    for action in sorted(bpy.data.actions, key=lambda action: action.name):
        is_own = action in mine
        if not is_own and (action in of_constraints or _is_single_pose(action)):
            continue
        # Whoever else plays an action by a slot of its own leaves the armature's slot to it.
        own = own_action(armature, action, sure=is_own, without=() if is_own else others.get(action, ()))
        if own is not None:
            actions.append(own)
    return actions


def action_named(name: str) -> Action | None:
    """The action of that name."""
    return bpy.data.actions.get(name)


def own_action(armature: Object, action: Action, *, sure: bool = False, without: Collection[str] = ()) -> OwnAction | None:
    """The action with the slot that the armature plays, or would; `None` where nothing in it is for the armature.

    `sure`: the action is known to be the armature's, so that curves of any of its bones are enough; `without`: slots that are
    somebody else's.
    """
    slots = object_slots(action)
    if slots is None:
        return None
    assigned = _assigned_slots(armature, action)
    name = identifier_of(armature)
    # A slot that bears another armature's name was made for that one.
    others = {identifier_of(other) for other in bpy.data.objects if other.type == "ARMATURE" and other != armature}
    # The slot that it plays comes first, then the one of its own name.
    best = sorted(slots, key=lambda slot: (slot not in assigned, slot != name))
    for slot in best:
        if slot in assigned or (
            slot not in others and slot not in without and _fits(armature, action_bag_of(action, slot), sure=sure)
        ):
            return OwnAction(action, slot)
    return None


def _fits(armature: Object, bag: CurveBag | None, *, sure: bool) -> bool:
    """Whether most bones of the curves, or with `sure` any of them, are the armature's."""
    names = {name for fcurve in (bag.fcurves if bag else ()) if (name := bone_in(fcurve.data_path))}
    strangers = sum(name not in armature.pose.bones for name in names)
    return strangers < len(names) if sure else len(names) > 0 and strangers <= MOST_STRANGERS * len(names)


def _assigned_slots(armature: Object, action: Action) -> list[str]:
    """Identifiers of the slots by which the armature plays an action, now or in its strips."""
    data = armature.animation_data
    users = [data, *_strips(armature)] if data else []
    return [identifier for user in users if user.action == action for identifier in played_slots(user)]


def _played_by(is_meant: Callable[[Object], bool]) -> dict[Action, set[str]]:
    """The actions that these objects play, now or in their strips, with the identifiers of the slots."""
    played: dict[Action, set[str]] = {}
    for thing in bpy.data.objects:
        if thing.animation_data is not None and is_meant(thing):
            for user in (thing.animation_data, *_strips(thing)):
                if user.action is not None:
                    played.setdefault(user.action, set()).update(played_slots(user))
    return played


def _strips(thing: Object, *, muted: bool = True) -> Iterator[NlaStrip]:
    """The strips of an object, including those in meta strips; without `muted`, only those that the scene plays."""
    tracks = thing.animation_data.nla_tracks if thing.animation_data else ()
    waiting = [strip for track in tracks if muted or not track.mute for strip in track.strips]
    while waiting:
        strip = waiting.pop()
        if muted or not strip.mute:
            waiting += strip.strips
            yield strip


def _constraint_actions() -> set[Action]:
    bones = [bone for thing in bpy.data.objects if thing.pose for bone in thing.pose.bones]
    constraints = (constraint for bone in bones for constraint in bone.constraints if constraint.type == "ACTION")
    return {constraint.action for constraint in constraints if constraint.action is not None}


def _is_single_pose(action: Action) -> bool:
    start, end = action.frame_range
    return action.asset_data is not None and end - start <= 1.0


def key_span(action: Action) -> tuple[float, float] | None:
    """Frames of the first and the last key of an action, of all its slots; `None` without keys."""
    frames = [read_frames(fcurve) for bag in all_bags(action) for fcurve in bag.fcurves if fcurve.keyframe_points]
    return (float(min(frame[0] for frame in frames)), float(max(frame[-1] for frame in frames))) if frames else None


def strip_frames(armature: Object, first: float, last: float) -> Array:
    """Frames of the present action, ascending, that its strips play at whole frames of the scene, from `first` to `last`.

    Only those between whole frames: a strip may be scaled, reversed, or begin in between. The glTF importer mutes its tracks.
    """
    action, played = armature.animation_data.action if armature.animation_data else None, []
    for strip in _strips(armature, muted=False) if action is not None else ():
        length = strip.action_frame_end - strip.action_frame_start
        if strip.action != action or length <= 0.0 or strip.use_animated_time:
            continue
        frames = np.arange(np.ceil(strip.frame_start), np.floor(strip.frame_end) + 1.0)
        # A strip plays its action again and again, over its whole length.
        times = ((frames - strip.frame_start) / strip.scale) % length
        played.append(strip.action_frame_end - times if strip.use_reverse else strip.action_frame_start + times)
    frames = np.unique(np.round(np.concatenate([np.zeros(0), *played]), FRAME_DECIMALS))
    return frames[(frames > first) & (frames < last) & (np.abs(frames - np.round(frames)) > NEAR_FRAME)]


def is_held(own: OwnAction, path: str, value: float) -> bool:
    """Whether an action keeps the number at a data path at one value throughout."""
    return is_keyed_to(own.bag, path, value)


def hold(own: OwnAction, path: str, value: float, group: str) -> bool:
    """Key the number at a data path in an action, unless it has a curve for it; false where the action is not editable."""
    if own.bag is not None and own.bag.fcurves.find(path) is not None:
        return True
    if not own.action.is_editable:
        return False
    span = key_span(own.action)
    first = span[0] if span else 0.0
    bag: CurveBag = ensure_bag_of(own.action, own.slot)
    write_keys(bag, [StraightKeys(path, 0, group, np.array([first]), np.array([value]), "CONSTANT")], first, first)
    Ledger.of(bag).note_held(bag.fcurves.find(path))
    return True


@dataclass(frozen=True, slots=True)
class _Player:
    """An object that plays an action of the armature."""

    thing: Object
    action: Action | None
    """Action that it plays originally."""
    slot: str
    """Identifier of its slot, the same in every action; empty before Blender 4.4."""

    def play(self, action: Action | None, slot: str) -> None:
        data: AnimData = self.thing.animation_data
        data.action = action
        # Blender chooses a slot by names only, or none.
        if action is not None:
            assign_slot(data, slot)


@dataclass(frozen=True, slots=True)
class Companion:
    """An object that the armature follows, and that plays an action of its own."""

    player: _Player
    actions: dict[str, Action | None]
    """Its action for each of the armature's, by their names: the one that bears the same name, such as "Run gun" for "Run", or
    `None` if there is none; its present one for all where that bears none of their names."""

    @property
    def changes(self) -> bool:
        """Whether it has more than one action to play."""
        return len({action for action in self.actions.values() if action is not None}) > 1

    def play(self, name: str) -> None:
        """Play the action that goes with one of the armature."""
        action = self.actions.get(name)
        if action is not None and self.changes:
            slots = object_slots(action) or ("",)
            self.player.play(action, self.player.slot if self.player.slot in slots else slots[0])

    def refuse_alone(self, name: str) -> None:
        """Raise `ObjectError` where none of its actions goes with one of the armature."""
        if self.actions.get(name) is None:
            partner, played = next((name, action) for name, action in self.actions.items() if action == self.player.action)
            played_name = played.name if played else ""
            raise ObjectError(
                '"{object}", which the armature follows, plays "{own}" along with "{partner}", but has no action "{missing}" to '
                'play along with "{action}". Name its action so, or work on the active action only.',
                object=self.player.thing.name,
                own=played_name,
                partner=partner,
                missing=_named_after(partner).sub(lambda _: name, played_name),
                action=name,
            )


class Stage:
    """An armature on which actions are played in turn."""

    def __init__(self, armature: Object, actions: Sequence[OwnAction], followed: Iterable[Object] = ()) -> None:
        self.armature = armature
        self.written: set[str] = set()
        """Data paths of the armature that were keyed meanwhile."""
        self.renewed: dict[Action, Action] = {}
        """Copies that replace actions, by original."""
        self.others = _others(armature)
        self.companions = _companions(armature, actions, set(followed) - {other.thing for other in self.others})
        self.pose = _pose(armature)
        self._ledger = Ledger.present(armature)
        self.values = [
            *_values(armature, [_Play(chosen.action, chosen.slot) for chosen in actions]),
            *(
                value
                for other in self.others
                for value in _values(other.thing, [_Play(chosen.action, other.slot) for chosen in actions])
            ),
            *(
                value
                for companion in self.companions
                if companion.changes
                for value in _values(
                    companion.player.thing,
                    [_Play(action, companion.player.slot) for action in companion.actions.values() if action is not None],
                )
            ),
        ]

    def hold(self, paths: Iterable[Property]) -> None:
        """Reset these properties, too, to their present values whenever an action is played: they will get keys."""
        known = {(edit.datablock, edit.path) for edit in self.values}
        for owner, path in paths:
            if (owner, path) not in known and not _is_bones_own(path):
                self.values += present_values(owner, [Channel(path)])
        # What is not animated yet is noted, for clearing, as it was before any action was played.
        own_paths = [path for owner, path in paths if owner == self.armature and _is_bones_own(path)]
        apply_edits([edit for path in own_paths for edit in self._posed(path)])

    def _posed(self, path: str) -> list[Edit]:
        """The values that a bone's own channel had before any action was played."""
        number, channel = self.armature.pose.bones.find(bone_in(path)), path.rpartition(".")[2]
        width = len(AT_REST[channel])
        values = self.pose[channel][number * width :][:width].tolist() if number >= 0 else []
        return [Edit(self.armature, path, index, value) for index, value in enumerate(values)]

    def given_back(self) -> list[Edit]:
        """Values from before runs whose keys in the armature's own action have been cleared meanwhile."""
        before, now = self._ledger, Ledger.present(self.armature)
        if before is None:
            return []
        still_keyed, animated = now.channels.keys() if now else set(), animated_channels(self.armature)
        gone = [(channel, kept.value) for channel, kept in before.channels.items() if channel not in still_keyed]
        gone = [(channel, value) for channel, value in gone if value is not None and channel not in animated]
        sets = before.sets if now is None else {path: noted for path, noted in before.sets.items() if path not in now.sets}
        gone += [(Channel(path), value) for path, (_, value) in sets.items() if not is_set(path)]
        return [Edit(self.armature, *channel, value) for channel, value in gone]

    def play(self, action: Action, slot: str) -> None:
        """Play an action alone, with everything that it does not pose at rest."""
        _Player(self.armature, None, "").play(action, slot)
        for other in self.others:
            if other.slot in (object_slots(action) or ()):
                other.play(action, other.slot)
        original = next((before for before, renewed in self.renewed.items() if renewed == action), action)
        for companion in self.companions:
            companion.play(original.name)
        # Channels without curves keep what the action before had given them, so all are reset first.
        bones = len(self.armature.pose.bones)
        _set_pose(self.armature, {name: np.tile(values, bones).astype(np.float32) for name, values in AT_REST.items()})
        apply_edits(self.values)


@contextmanager
def staged(scene: Scene, armature: Object, actions: Sequence[OwnAction], followed: Iterable[Object] = ()) -> Iterator[Stage]:
    """A stage for the actions; afterwards the armature, and what plays actions along with it, are restored.

    followed : other objects that the armature depends on, which may play actions of their own

    Where a copy of its action was keyed instead, the armature plays that from then on.
    """
    was_animated, data = armature.animation_data is not None, armature.animation_data or armature.animation_data_create()
    stage = Stage(armature, actions, followed)
    players = [_player(armature), *stage.others, *(companion.player for companion in stage.companions)]
    play_again = [playing(player.thing.animation_data) for player in players]
    edits = [edit for player in players for edit in unkeyed_edits(scene, player.thing)]
    solo = next((track for track in data.nla_tracks if track.is_solo), None)
    mixing = data.use_nla, data.action_influence, data.action_blend_type
    # A solo track would play in place of the action.
    _turn_solo(solo, on=False)
    # What was mixed in would else be sampled with each action, and be keyed into it.
    data.use_nla, data.action_influence, data.action_blend_type = False, 1.0, "REPLACE"
    try:
        yield stage
    finally:
        data.use_nla, data.action_influence, data.action_blend_type = mixing
        _turn_solo(solo, on=True)
        _set_pose(armature, stage.pose)
        apply_edits(stage.values)
        for player, as_before in zip(players, play_again, strict=True):
            if player.action in stage.renewed:
                player.play(stage.renewed[player.action], player.slot)
            else:
                as_before()
        if not was_animated and data.action is None and not data.nla_tracks and not data.drivers:
            armature.animation_data_clear()
        for layer in scene.view_layers:
            layer.update()
        # Evaluation writes the values of curves to their properties, so what was set by hand and not keyed comes after it.
        apply_edits([edit for edit in edits if edit.datablock != armature or edit.path not in stage.written])
        apply_edits(stage.given_back())


@contextmanager
def played_instead(scene: Scene, values: Mapping[tuple[Object, Channel], Array], frames: Array) -> Iterator[None]:
    """Let channels play other values `(F,)` at `frames` `(F,)` during a block, and anything between these.

    They are played from copies of the actions, which stay as they are.
    """
    owners = list(dict.fromkeys(owner for owner, _ in values))
    with unnoted(), edits_kept(scene, owners, set()), trial_actions(owners):
        for (owner, channel), played in values.items():
            bag = ensure_curve_bag(owner)
            fcurve = bag.fcurves.find(channel.path, index=channel.array_index)
            if fcurve is not None:  # Its modifiers go with it.
                drop_curve(bag, fcurve)
            write_keys(bag, [StraightKeys(*channel, owner.name, KeyFrames(frames), played, "LINEAR")], frames[0], frames[-1])
        yield


def _player(thing: Object) -> _Player:
    data = thing.animation_data
    return _Player(thing, data.action, own_slot(data))


def _others(armature: Object) -> list[_Player]:
    """Other objects that play the armature's action by slots of their own, such as empties that it follows."""
    action = armature.animation_data.action if armature.animation_data else None
    if action is None or not hasattr(action, "slots"):
        return []
    others = (thing for thing in bpy.data.objects if thing != armature and thing.animation_data)
    players = [_player(thing) for thing in others if thing.animation_data.action == action]
    # Who plays the armature's own slot shares that action, and must not be made to share the others as well.
    present_slot = own_slot(armature.animation_data)
    return [player for player in players if player.slot != present_slot]


def _companions(armature: Object, actions: Sequence[OwnAction], followed: Collection[Object]) -> list[Companion]:
    """Those of the followed objects that play actions of their own."""
    present = armature.animation_data.action if armature.animation_data else None
    known = {own.name for own in (*actions, *actions_of(armature))} | ({present.name} if present is not None else set())
    # The present action says what goes with it; else the longer name is found first: "Run gun" before "Run".
    names = sorted(known, key=lambda name: (present is None or name != present.name, -len(name), name))
    companions = []
    for thing in sorted(followed, key=lambda thing: thing.name):
        action = thing.animation_data.action if thing.animation_data else None
        if action is None or any(action == chosen.action for chosen in actions):
            continue
        base = next((name for name in names if _named_after(name).search(action.name)), None)
        companions.append(
            Companion(_player(thing), {name: action if base is None else _partner(action, base, name) for name in names})
        )
    return companions


def _partner(action: Action, base: str, name: str) -> Action | None:
    """The action that has one name in place of another in the name of an action."""
    return bpy.data.actions.get(_named_after(base).sub(lambda _: name, action.name))


def _named_after(name: str) -> re.Pattern[str]:
    """Finds the name of an action as whole words of another one's."""
    return re.compile(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])")


class _Play(NamedTuple):
    """An action that an object may play, and the slot that it then uses."""

    action: Action
    slot: str


def _values(thing: Object, plays: Sequence[_Play]) -> list[Edit]:
    """Present values of the channels of an object that any of the actions animates, except bones' own channels."""
    bags = [action_bag_of(action, slot) for action, slot in plays if slot in (object_slots(action) or ())]
    channels = {Channel.of(fcurve) for bag in bags if bag is not None for fcurve in bag.fcurves}
    return present_values(thing, sorted(channel for channel in channels if not _is_bones_own(channel.path)))


def _is_bones_own(path: str) -> bool:
    return path.startswith(BONES) and path.rpartition(".")[2] in AT_REST


def _pose(armature: Object) -> dict[str, Array]:
    """Values of every bone's own channels, by channel."""
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
