"""States in which the file of a task may be when the task is called."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy

from tests.promises.promises import add_action
from tests.promises.refused_calls import armature
from tests.promises.tasks_under_test import TaskUnderTest, shape_keys_by_hand
from tests.promises.ways import Ended
from tests.tasks.checks.targets import curves_of

Run = Callable[..., Ended]
"""Calls the task of the cell; other settings may be given."""


def nothing(run: Run) -> None:
    """The file as it is built: its limb has its animator's keys, with handles of all sorts."""
    del run


@dataclass(frozen=True)
class State:
    """What is done to the file first."""

    make: Callable[[Run], None] = nothing
    given: dict[str, Any] = field(default_factory=dict)
    """Settings that belong to it."""
    needs: frozenset[str] = frozenset()
    """Settings that a task must have for it."""
    is_given_back: bool = True
    """Whether Clear gives back the file in this state; not where a baked key has become somebody's own."""

    def suits(self, task: TaskUnderTest) -> bool:
        return self.needs <= {option.name for option in task.options} | set(task.call)


def generated(thing: bpy.types.Object) -> list[tuple[Any, int]]:
    """Curve and number of each generated key."""
    return [
        (curve, number)
        for curve in curves_of(thing)
        for number, key in enumerate(curve.keyframe_points)
        if key.type == "GENERATED" and "rotation" in curve.data_path
    ]


def edited(run: Run) -> None:
    """Run, and then one generated key moved by hand."""
    run()
    for curve, number in generated(armature())[1:2]:
        key = curve.keyframe_points[number]
        key.co.y += 0.05
        key.handle_left.y, key.handle_right.y = key.handle_left.y + 0.05, key.handle_right.y + 0.05
        curve.update()


def deleted(run: Run) -> None:
    """Run, and then one generated key removed by hand."""
    run()
    for curve, number in generated(armature())[1:2]:
        curve.keyframe_points.remove(curve.keyframe_points[number])
        curve.update()


def again(run: Run) -> None:
    run()


def key_chain_settings(run: Run) -> None:
    """Influence and bend of the stored chain are keyed."""
    del run
    rig = armature()
    for chain in list(rig.twobone.chains)[:1]:
        for frame, influence, bend in ((1, 1.0, "POSITIVE"), (6, 0.5, "NEGATIVE")):
            chain.influence, chain.bend = influence, bend
            for name in ("influence", "bend"):
                rig.keyframe_insert(f"twobone.chains[0].{name}", frame=frame)


def second_character(run: Run) -> None:
    """Another character of the same rig, on which the task was done a moment ago."""
    first = armature()
    second = first.copy()
    second.name = "Rig2"
    bpy.context.scene.collection.objects.link(second)
    if first.animation_data and first.animation_data.action:
        second.animation_data.action = first.animation_data.action.copy()
        if hasattr(second.animation_data, "action_slot"):
            second.animation_data.action_slot = second.animation_data.action.slots[0]
    bpy.context.view_layer.objects.active = second
    run(armature="Rig2")
    bpy.context.view_layer.objects.active = first


def push_down(run: Run) -> None:
    """One's own action plays in a strip."""
    del run
    data = armature().animation_data
    if data is not None and data.action is not None:
        action = data.action
        data.nla_tracks.new().strips.new(action.name, int(action.frame_range[0]), action)
        data.action = None


def two_actions(run: Run) -> None:
    del run
    if armature().animation_data and armature().animation_data.action:
        add_action()


def without_keys(run: Run) -> None:
    """Nothing is keyed on the rig."""
    del run
    armature().animation_data_clear()


def sparse_free_handles(run: Run) -> None:
    """Keys of one's own between frames, and free handles on all of them."""
    del run
    for curve in curves_of(armature()):
        if "rotation" in curve.data_path and len(curve.keyframe_points) == 6:
            shape_keys_by_hand(armature())
            break
    for curve in curves_of(armature()):
        for number, key in enumerate(curve.keyframe_points):
            if number % 3 == 1:
                key.co.x += 0.4
            key.handle_left_type = key.handle_right_type = "FREE"
            key.handle_right = (key.co.x + 0.7, key.co.y + 0.03)
        curve.update()


def muted_and_locked(run: Run) -> None:
    """One curve is muted, a group locked, one bone's rotation locked about an axis."""
    del run
    rig = armature()
    curves = [curve for curve in curves_of(rig) if "rotation" in curve.data_path]
    for curve in curves[:1]:
        curve.mute = True
    for curve in curves[-1:]:
        curve.lock = True
    for bone in list(rig.pose.bones)[-1:]:
        bone.lock_rotation[1] = True


def override(run: Run) -> None:
    """The file is a library; its objects are overridden in another one, with an action of their own."""
    del run
    names, active = [thing.name for thing in bpy.data.objects], armature().name
    first, last = bpy.context.scene.frame_start, bpy.context.scene.frame_end
    path = str(Path(bpy.data.filepath).with_name("library.blend"))
    bpy.ops.wm.save_as_mainfile(filepath=path, check_existing=False, copy=True)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = list(names)
    scene = bpy.context.scene
    for linked in [thing for thing in bpy.data.objects if thing.library]:
        scene.collection.objects.link(linked)
    rig = bpy.data.objects[active].override_create(remap_local_usages=True)
    if rig.animation_data and rig.animation_data.action:
        slot = getattr(rig.animation_data, "action_slot", None)
        identifier = slot.identifier if slot else None
        rig.animation_data.action = rig.animation_data.action.copy()
        if identifier:
            rig.animation_data.action_slot = rig.animation_data.action.slots[identifier]
    scene.frame_start, scene.frame_end = first, last
    bpy.context.view_layer.objects.active = rig
    scene.frame_set(1)


RANGE = frozenset({"frame_range", "frame_start", "frame_end"})


def custom(start: float, end: float, **more: Any) -> dict[str, Any]:
    return {"frame_range": "CUSTOM", "frame_start": start, "frame_end": end, **more}


STATES: dict[str, State] = {
    "fresh": State(),
    "again": State(again),
    "a baked key edited": State(edited, is_given_back=False),
    "a baked key deleted": State(deleted, is_given_back=False),
    "keyed chain settings": State(key_chain_settings, needs=frozenset({"influence"})),
    "two characters of one rig": State(second_character, needs=frozenset({"armature"})),
    "one frame": State(given=custom(3.0, 3.0), needs=RANGE),
    "a range that is not the target's": State(given=custom(-4.0, 5.0), needs=RANGE),
    "subframes": State(given=custom(1.5, 6.25, step=0.75), needs=RANGE | {"step"}),
    "NLA": State(push_down, given={"destination": "NLA"}, needs=frozenset({"destination"})),
    "new action": State(given={"destination": "NEW_ACTION"}, needs=frozenset({"destination"})),
    "several actions": State(two_actions, given={"actions": "ALL"}, needs=frozenset({"actions"})),
    "no keys": State(without_keys),
    "own keys with free handles": State(sparse_free_handles),
    "muted and locked": State(muted_and_locked),
    "override": State(override),
}
