"""All differences between Blender 4.2 and 5.2, in one place.

Actions got layers and slots in 4.4 and lost their own F-curves in 5.0; the selection of bones moved from the
armature's data to the pose in 5.0. Nothing outside this file checks Blender's version.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import bpy
import numpy as np

from ..core.array_types import Array
from .blender_types import Action, AnimData, CurveBag, FCurve, NlaStrip, Object, PoseBone
from .lookup import animated_datablocks
from .writer import animate, drop_empty_group, make, play


def is_hidden(bone: PoseBone) -> bool:
    """Whether the bone itself is hidden in Pose Mode; its collections may hide it as well."""
    return bone.hide if hasattr(bone, "hide") else bone.bone.hide


def selection_flags(armature: Object) -> tuple[Any, Array]:
    """The armature's bones that store the selection, and which of them are selected, `(B,)` of bool."""
    # From 5.0 on a pose bone is selected, before its bone, which all objects with the armature share.
    on_pose = "select" in bpy.types.PoseBone.bl_rna.properties
    holders = armature.pose.bones if on_pose else armature.data.bones
    flags = np.empty(len(holders), dtype=bool)
    holders.foreach_get("select", flags)
    return holders, flags


def curve_bag(datablock: Object) -> CurveBag | None:
    """Holder of the datablock's present F-curves: its action before 4.4, its slot's channelbag since; `None` without any."""
    data: AnimData | None = datablock.animation_data
    if data is None or data.action is None:
        return None
    if not hasattr(data.action, "layers"):
        return data.action
    return action_bag(data.action, data.action_slot)


def present_fcurves(datablock: Object) -> Sequence[FCurve]:
    """The F-curves that a datablock plays now; none without an action."""
    bag = curve_bag(datablock)
    return bag.fcurves if bag else ()


def action_bag(action: Action, slot: Any) -> CurveBag | None:
    """The F-curves of one slot of an action; `slot` is ignored before 4.4."""
    if not hasattr(action, "layers"):
        return action
    if slot is None:
        return None
    for layer in action.layers:
        for strip in layer.strips:
            bag = strip.channelbag(slot)
            if bag is not None:
                return bag
    return None


def ensure_curve_bag(datablock: Object) -> CurveBag:
    """Like `curve_bag`, created where missing as `keyframe_insert` would: a new action, a slot of the datablock's own."""
    data = animate(datablock)
    if data.action is None:
        play(data, new_action(f"{datablock.name}Action"), "")
        _add_slot_quickly(data.action, datablock)
    if hasattr(data.action, "layers") and data.action_slot is None:
        play(data, data.action, _new_slot(data.action, datablock).identifier)
    return _slot_bag(data.action, getattr(data, "action_slot", None))


def new_action(name: str) -> Action:
    """A new action."""
    return make(partial(bpy.data.actions.new, name), bpy.data.actions.remove)


def _new_slot(action: Action, datablock: Object) -> Any:
    return make(partial(action.slots.new, id_type=datablock.id_type, name=datablock.name), action.slots.remove)


def _add_slot_quickly(action: Action, datablock: Object) -> None:
    """Give a new action, which is assigned to its datablock, a slot for it, where Blender has a quick way (4.5).

    `slots.new` takes longer in bigger files: 2.5 ms beside five thousand characters. A slot created along with a curve does not.
    """
    if hasattr(action, "fcurve_ensure_for_datablock"):
        fcurve = action.fcurve_ensure_for_datablock(datablock, "location", index=0)
        _slot_bag(action, datablock.animation_data.action_slot).fcurves.remove(fcurve)


def ensure_action_bag(action: Action, datablock: Object) -> CurveBag:
    """The holder for curves of `datablock` in a new action that is not assigned to it."""
    return _slot_bag(action, _new_slot(action, datablock) if hasattr(action, "layers") else None)


def _slot_bag(action: Action, slot: Any) -> CurveBag:
    if not hasattr(action, "layers"):
        return action
    # Blender refuses a second layer, and a second strip on it, so there is none but the first.
    layer = action.layers[0] if action.layers else make(partial(action.layers.new, "Layer"), action.layers.remove)
    strip = layer.strips[0] if layer.strips else make(partial(layer.strips.new, type="KEYFRAME"), layer.strips.remove)
    return strip.channelbag(slot) or make(partial(strip.channelbag, slot, ensure=True), strip.channelbags.remove)


def first_slot(action: Action) -> str:
    """Identifier of an action's first slot; empty before 4.4."""
    return action.slots[0].identifier if getattr(action, "slots", None) else ""


def own_slot(data: AnimData) -> str:
    """Identifier of the slot of its action that a datablock plays; empty where it plays none, and before 4.4."""
    slot = getattr(data, "action_slot", None)
    return slot.identifier if slot else ""


def object_slots(action: Action) -> list[str] | None:
    """Identifiers of the slots that objects can play; before 4.4 one empty one, or `None` where it is not for objects."""
    if not hasattr(action, "slots"):
        return [""] if not action.fcurves or action.id_root == "OBJECT" else None
    return [slot.identifier for slot in action.slots if slot.target_id_type in {"OBJECT", "UNSPECIFIED"}]


def played_slots(user: Any) -> list[str]:
    """Identifiers, one or none, of the slot that animation data or an NLA strip plays; before 4.4 one empty one."""
    if not hasattr(user, "action_slot"):
        return [""]
    return [user.action_slot.identifier] if user.action_slot else []


def identifier_of(thing: Object) -> str:
    """Identifier of the slot that Blender makes for an object."""
    return f"OB{thing.name}"


def action_bag_of(action: Action, identifier: str) -> CurveBag | None:
    """The F-curves of the slot with that identifier; before 4.4 those of the action."""
    return action_bag(action, action.slots.get(identifier) if identifier else None)


def ensure_bag_of(action: Action, identifier: str) -> CurveBag:
    """Like `action_bag_of`, created where missing."""
    return _slot_bag(action, action.slots.get(identifier) if identifier else None)


def all_bags(action: Action) -> list[CurveBag]:
    """The F-curves of all slots of an action."""
    slots = getattr(action, "slots", None)
    bags = [action] if slots is None else [action_bag(action, slot) for slot in slots]
    return [bag for bag in bags if bag is not None]


def assign_slot(user: Any, identifier: str) -> None:
    """Let an NLA strip use the slot of its action with that identifier; does nothing before 4.4."""
    if identifier and hasattr(user, "action_slot"):
        user.action_slot = user.action.slots[identifier]


def new_fcurve(bag: CurveBag, path: str, index: int, group: str) -> FCurve:
    """A new F-curve in the bag, in the group of that name."""
    group_of_curve = _group(bag, group)
    if isinstance(bag, bpy.types.Action):
        return make(partial(bag.fcurves.new, path, index=index, action_group=group), bag.fcurves.remove)
    fcurve = make(partial(bag.fcurves.new, path, index=index), bag.fcurves.remove)
    # `fcurves.new` of a channelbag takes a group only from 5.0 on; this works in all.
    fcurve.group = group_of_curve
    return fcurve


def _group(bag: CurveBag, name: str) -> Any:
    return bag.groups.get(name) or make(partial(bag.groups.new, name), lambda _: drop_empty_group(bag, name))


def copied_fcurve(source: FCurve, bag: CurveBag, path: str, index: int, group: str) -> FCurve | None:
    """A new F-curve that is a copy of another one with its keys; `None` where Blender cannot copy curves (before 5.0)."""
    if isinstance(bag, bpy.types.Action) or not hasattr(bag.fcurves, "new_from_fcurve"):
        return None
    # No channel has this path: there may be no second curve at the source's own one, not even for a moment.
    group_of_curve = _group(bag, group)
    fcurve = make(partial(bag.fcurves.new_from_fcurve, source, data_path="~"), bag.fcurves.remove)
    fcurve.data_path, fcurve.array_index, fcurve.group = path, index, group_of_curve
    return fcurve


def slot_users(data: AnimData) -> int:
    """Number of datablocks animated by the same curves as this one, itself included."""
    if data.action is None:
        return 0
    if hasattr(data, "action_slot"):
        return len(data.action_slot.users()) if data.action_slot else 0
    # An action's own user count includes NLA strips.
    return sum(other.animation_data.action == data.action for other in animated_datablocks())


def strip_bag(strip: Any) -> CurveBag | None:
    """The F-curves of the action in an NLA strip."""
    if strip.action is None:
        return None
    return action_bag(strip.action, getattr(strip, "action_slot", None))


def strip_curves(strip: NlaStrip) -> Sequence[FCurve]:
    """The F-curves of the action in an NLA strip; none where it has none."""
    bag = strip_bag(strip)
    return bag.fcurves if bag else ()


def strips_in(strips: Iterable[NlaStrip]) -> Iterator[NlaStrip]:
    """All these NLA strips; those in a meta strip follow it."""
    for strip in strips:
        yield strip
        yield from strips_in(strip.strips)


def mixes_layers(action: Action) -> bool:
    """Whether an action has more than one strip of keys on one layer; before 4.4 none has."""
    layers = getattr(action, "layers", ())
    return len(layers) > 1 or any(
        len(layer.strips) > 1 or any(strip.type != "KEYFRAME" for strip in layer.strips) for layer in layers
    )


def version_text() -> str:
    """Version of this Blender as Blender writes it, such as `5.2.3 LTS`."""
    return bpy.app.version_string


def own_version() -> tuple[int, int]:
    """Version of this Blender, such as (5, 2)."""
    return bpy.app.version[0], bpy.app.version[1]


def file_version() -> tuple[int, int]:
    """Version of the Blender that saved the open file."""
    version: Any = bpy.data.version
    return version[0], version[1]


def oldest_reader() -> tuple[int, int]:
    """Oldest Blender that reads files saved by this one, as recorded in these files (`FileGlobal.minversion`)."""
    return (4, 5) if bpy.app.version >= (5, 0) else (3, 6)


def slot_key(bag: CurveBag) -> str:
    """Text that identifies the slot of these curves in its action, even after it was renamed; empty before 4.4."""
    return "" if isinstance(bag, bpy.types.Action) else str(bag.slot_handle)


def node_inputs(modifier: Any) -> list[Any]:
    """Values that a modifier passes to its geometry nodes: its own properties from 5.2 on, its custom properties before."""
    inputs = getattr(getattr(modifier, "properties", None), "inputs", None)
    if inputs is None:
        return list(modifier.values())
    sockets = (getattr(inputs, entry.identifier) for entry in inputs.bl_rna.properties if entry.type == "POINTER")
    return [socket.value for socket in sockets if hasattr(socket, "value")]
