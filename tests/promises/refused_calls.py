"""Calls that must not do anything, made from a task's table of settings and from what may be wrong with a file."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import bpy

from tests.promises.tasks_under_test import TaskUnderTest
from tests.tasks.checks.targets import curves_of
from twobone_addon.settings.options import Option, OptionKind

NOBODY = "Nobody"
HUGE = 1e30
ALL_WAYS = frozenset({"operator", "typed", "command", "job"})
LONG = 5e6
"""Frames: ten days of them."""


@dataclass(frozen=True)
class Call:
    """A call, or several, and how it must end."""

    what: str
    given: dict[str, Any] = field(default_factory=dict)
    may_be_done: bool = False
    """Whether it need not be refused, but may end in keys and a report that are finite."""
    changes_nothing: bool = False
    """Whether the file is as it was where it is done as well."""
    needs_word: str = ""
    """What must be said where it is done."""
    ways: frozenset[str] = ALL_WAYS
    spoil: Callable[[], None] | None = None
    """Makes the file one in which it cannot be done."""


def met(option: Option) -> dict[str, Any]:
    """What lets an option make a difference."""
    return {option.needs.setting: option.needs.values[0]} if option.needs else {}


def unknown_names(task: TaskUnderTest) -> Iterator[Call]:
    """A name that means nothing in the file, for every setting that is a name, and for every text beside the table."""
    for option in task.options:
        if option.kind in {OptionKind.OBJECT, OptionKind.BONE, OptionKind.NAME, OptionKind.PATH}:
            # A chain's name is a flag of its own, which begins the settings of the next chain.
            ways = ALL_WAYS if option.kind is not OptionKind.NAME else frozenset({"operator"})
            yield Call(option.name, {**met(option), option.name: NOBODY}, ways=ways)
            if option.needs:
                yield Call(f"{option.name}, not needed", {option.name: NOBODY}, may_be_done=True, needs_word=option.label)
    for name in own_properties(task, "STRING"):
        yield Call(name, {name: NOBODY}, ways=frozenset({"operator"}))


def no_numbers(task: TaskUnderTest) -> Iterator[Call]:
    """Every number that is none, too small or too large."""
    for option in task.options:
        if option.kind is OptionKind.VECTOR:
            yield Call(option.name, {**met(option), option.name: (0.0, math.nan, 0.0)})
        if option.kind is not OptionKind.NUMBER:
            continue
        wrong = [math.nan, math.inf, -math.inf]
        if math.isfinite(option.minimum):
            wrong.append(option.minimum if option.above else option.minimum - 0.25)
        if math.isfinite(option.maximum):
            wrong.append(option.maximum + 0.25)
        for value in wrong:
            # Blender itself makes its largest number of what is infinite, before an operator sees it.
            ways = ALL_WAYS - {"operator"} if is_limitless(option, value) else ALL_WAYS
            yield Call(f"{option.name} {value}", {**met(option), option.name: value}, ways=ways)


def is_limitless(option: Option, value: float) -> bool:
    """Whether an infinite value is beyond no limit of the option's own."""
    return math.isinf(value) and math.isinf(option.maximum if value > 0.0 else option.minimum)


def unknown_choices(task: TaskUnderTest) -> Iterator[Call]:
    """Every list of choices, asked for one that it does not have."""
    for option in task.options:
        if option.kind is OptionKind.CHOICE:
            yield Call(option.name, {**met(option), option.name: "NOTHING"})
    for name in own_properties(task, "ENUM"):
        yield Call(name, {name: "NOTHING"})


def ranges(task: TaskUnderTest) -> Iterator[Call]:
    """Ranges that end before they start, that are longer than anything, and that are but one frame."""
    if "frame_range" not in {option.name for option in task.options}:
        return
    pairs = ((10, 2), (1, HUGE), (HUGE, HUGE), (-HUGE, HUGE), (1, math.inf), (-math.inf, 5), (math.inf, math.inf), (1, LONG))
    for start, end in pairs:
        yield Call(f"{start:g} to {end:g}", {"frame_range": "CUSTOM", "frame_start": float(start), "frame_end": float(end)})
    yield Call("one frame", {"frame_range": "CUSTOM", "frame_start": 3.0, "frame_end": 3.0}, may_be_done=True)


def actions(task: TaskUnderTest) -> Iterator[Call]:
    """Names of actions that are not there, or that move nothing of the armature."""
    for option in task.options:
        if option.kind is OptionKind.ACTIONS:
            for text in (NOBODY, f"{NOBODY};Nothing", ";", "Camera"):
                yield Call(f"actions {text}", {option.name: text}, spoil=add_strange_action)


def impossible_places(_task: TaskUnderTest) -> Iterator[Call]:
    """An armature that is flat, or nowhere."""
    for what, values in (("no size", (0.0, 0.0, 0.0)), ("flat", (0.0, 1.0, 1.0)), ("size is no number", (math.nan, 1.0, 1.0))):
        yield Call(what, may_be_done=True, spoil=lambda values=values: place(scale=values))
    for what, value in (("nowhere", math.nan), ("infinitely far", math.inf)):
        yield Call(what, may_be_done=True, spoil=lambda value=value: place(location=(0.0, value, 0.0)))


def held_curves(_task: TaskUnderTest) -> Iterator[Call]:
    """Curves that nobody may write, or that would not be seen."""
    yield Call("locked curves", may_be_done=True, spoil=lambda: mark_curves("lock"))
    yield Call("muted curves", may_be_done=True, spoil=lambda: mark_curves("mute"))


def nothing_there(_task: TaskUnderTest) -> Iterator[Call]:
    """Nothing to work on."""
    yield Call("empty file", spoil=lambda: bpy.ops.wm.read_factory_settings(use_empty=True))
    yield Call("no bones", may_be_done=True, changes_nothing=True, spoil=remove_bones)
    yield Call("edit mode", ways=frozenset({"operator", "typed"}), spoil=lambda: bpy.ops.object.mode_set(mode="EDIT"))


def own_properties(task: TaskUnderTest, kind: str) -> list[str]:
    """Names of the operator's properties of a kind that are not in its table."""
    known = {option.name for option in task.options}
    found = getattr(bpy.ops.twobone, task.name).get_rna_type().properties
    return [each.identifier for each in found if each.type == kind and each.identifier not in known]


def armature() -> bpy.types.Object:
    """That of the file."""
    return next(thing for thing in bpy.data.objects if thing.type == "ARMATURE")


def add_strange_action() -> None:
    bpy.data.actions.new("Camera").use_fake_user = True


def place(**channels: Any) -> None:
    for name, value in channels.items():
        setattr(armature(), name, value)
    bpy.context.view_layer.update()


def mark_curves(name: str) -> None:
    for thing in bpy.data.objects:
        for curve in curves_of(thing):
            setattr(curve, name, True)


def remove_bones() -> None:
    rig = armature()
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in list(rig.data.edit_bones):
        rig.data.edit_bones.remove(bone)
    bpy.ops.object.mode_set(mode="OBJECT")
