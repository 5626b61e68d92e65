"""Every task that people can ask for: a file to do it in, and how it is called.

They come from the list of tasks, their options from their own tables of settings: a new task is tested in all that it promises
without a further test, and is named here only where it needs a file of another kind.
"""

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy

from tests.tasks.rigs.control_rig import control_rig, drive_by_property
from tests.tasks.rigs.legs_with_ik import add_ik
from tests.tasks.rigs.person import person
from tests.tasks.rigs.walker import Walk, build_walker
from tests.tasks.scenes import LEG, BoneShape, add_empty, build_armature, key_channel, key_places, set_range
from twobone_addon.pipeline.story import Task
from twobone_addon.settings import OPTIONS
from twobone_addon.settings.options import Option
from twobone_addon.tasks import all_tasks
from twobone_addon.tasks.bake import BAKE

LAST = 8
"""Last frame of the legs that are baked: promises hold in short ranges as well."""

WALKED = 24
FOOT = BoneShape("foot", (0.1, 0.3, -0.7), (0.1, 0.0, -0.75), "lower")
LIMB = {"armature": "Rig", "upper": "upper", "lower": "lower"}
IN_PLANE = {"plane": "YZ", "plane_space": "ARMATURE", "bend": "POSITIVE"}


ON_CONTROLS = {"target": "Rig", "target_bone": "Foot.L", "plane": "POLE", "pole": "Rig", "pole_bone": "PoleTarget.L"}

OF_KEYS = frozenset({"Clear gives back", "held curves are refused"})
OF_WRITERS = OF_KEYS | {
    "starts from edited keys",
    "linked data is refused",
    "operator",
    "one undo step",
    "a dry run changes nothing",
}


@dataclass(frozen=True)
class TaskUnderTest:
    """One task, and what is needed to see it work."""

    name: str
    """Of its operator."""
    build: Callable[[], None]
    """Makes the file in which the task has something to do: an empty one is open."""
    call: dict[str, Any]
    """What the operator is given, and as flags and keys of a job the command, so that it does it."""
    options: tuple[Option, ...]
    """Its table of settings."""
    command: str = ""
    """Its sub-command, and the `use` of its jobs."""
    words: tuple[str, ...] = ()
    """Flags that its command needs besides."""
    job: dict[str, Any] = field(default_factory=dict)
    """Keys that its jobs need besides."""
    without: frozenset[str] = frozenset()
    """Promises that it has nothing to keep by: what keys nothing has no keys to give back."""
    in_actions: "TaskUnderTest | None" = None
    """The same where it has several actions to go through, if that takes another file."""
    thorough: dict[str, Any] = field(default_factory=dict)
    """Settings with which it has more to do."""
    drawn: int = 4
    """How many settings are drawn by chance to see that a second run changes nothing."""


def keyed_leg() -> bpy.types.Object:
    """A leg with an animator's own keys, of all sorts, in the range and beyond; a target, a pole and a plane."""
    set_range(1, LAST)
    rig = build_armature((*LEG, FOOT))
    for bone, angle in (("upper", 0.15), ("lower", 0.4)):
        pose = rig.pose.bones[bone]
        values = {frame: (1.0, angle * (1 + 0.1 * frame), 0.0, 0.0) for frame in (-2, 1, 3, 6, 8, 20)}
        key_channel(pose, "rotation_quaternion", values)
    shape_keys_by_hand(rig)
    target = add_empty("Target")
    key_places(target, [(0.1, 0.35 - 0.09 * step, -0.55 + 0.07 * step) for step in range(LAST)])
    add_empty("Pole").location = (0.1, -2.0, 0.2)
    add_empty("Board").rotation_euler = (1.5707964, 0.0, 1.5707964)
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target = "leg", "upper", "lower", target
    chain.plane, chain.frame_range = "YZ", "SCENE"
    activate(rig)
    return rig


def shape_keys_by_hand(rig: bpy.types.Object) -> None:
    """Give the keys the handles and interpolations that an animator leaves behind."""
    from tests.tasks.checks.targets import curves_of

    for curve in curves_of(rig):
        for key, interpolation in zip(
            curve.keyframe_points, ("BEZIER", "LINEAR", "BEZIER", "SINE", "CONSTANT", "BEZIER"), strict=True
        ):
            key.interpolation = interpolation
        free = curve.keyframe_points[2]
        free.handle_left_type = free.handle_right_type = "FREE"
        free.handle_left, free.handle_right = (free.co.x - 0.6, free.co.y + 0.02), (free.co.x + 0.9, free.co.y - 0.03)


def activate(thing: bpy.types.Object) -> None:
    bpy.context.view_layer.objects.active = thing
    bpy.context.scene.frame_set(1)
    bpy.context.view_layer.update()


def baked_leg() -> None:
    keyed_leg()
    assert bpy.ops.twobone.bake(**LIMB, target="Target", **IN_PLANE) == {"FINISHED"}


def leg_on_ik() -> None:
    rig = keyed_leg()
    add_ik(rig, "lower")
    rig.twobone.chains.clear()


def leg_with_controls() -> None:
    rig = control_rig()
    set_range(1, LAST)
    drive_by_property(rig)
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.tip = "leg", "upper", "lower", "foot"
    activate(rig)


def character() -> None:
    set_range(1, LAST)
    activate(person())


def walker() -> bpy.types.Object:
    armature, _ = build_walker(Walk(frames=WALKED, slide=0.02, raised=0.03))
    activate(armature)
    return armature


def walkers() -> None:
    """One that has the motion of another, which is as large and stands elsewhere; its feet slide and float."""
    source, _ = build_walker(Walk(frames=WALKED))
    source.name, source.location.x = "Walker source", 2.0
    for armature in (source, walker()):
        for chain, side in zip(armature.twobone.chains, ("LEFT", "RIGHT"), strict=True):
            chain.side = side
    spare = armature_in_file().twobone.chains.add()  # The list is spoiled at its end; a leg alone has no partner.
    spare.name, spare.upper, spare.lower, spare.enabled = "spare", "foot.L", "toe.L", False
    add_empty("Prop")


def walker_out_of_reach() -> None:
    """Its left foot has a target that is too far below for a while."""
    armature, _ = build_walker(Walk(frames=1))
    set_range(1, LAST)
    target = add_empty("Target.L")
    key_places(target, [(0.1, 0.0, 0.09 - 0.04 * max(0.0, 1.0 - abs(frame - 5) / 3.0)) for frame in range(1, LAST + 1)])
    armature.twobone.chains["leg.L"].target = target
    armature.twobone.chains.remove(1)
    activate(armature)


def walker_with_labels() -> None:
    """Its right foot stands at half of the frames, as a file says."""
    walker()
    rows = [[0, 0, int(2 * row < WALKED), int(2 * row < WALKED)] for row in range(WALKED)]
    LABELS.write_text(json.dumps({"foot_contacts": rows}))
    for chain, side in zip(armature_in_file().twobone.chains, ("LEFT", "RIGHT"), strict=True):
        chain.side = side


def walker_with_contacts() -> None:
    """The same with these contacts keyed, and no file."""
    walker_with_labels()
    assert bpy.ops.twobone.import_contacts(filepath=str(LABELS)) == {"FINISHED"}
    LABELS.unlink()


def armature_in_file() -> bpy.types.Object:
    return next(thing for thing in bpy.data.objects if thing.type == "ARMATURE")


LABELS = Path(tempfile.mkdtemp()) / "contacts.json"
OF_FILE = {"armature": "Walker", "filepath": str(LABELS)}


HOW: dict[str, dict[str, Any]] = {
    "bake": {"call": {**LIMB, "target": "Target", **IN_PLANE}, "options": OPTIONS},
    "convert": {"build": leg_on_ik, "call": {"armature": "Rig"}},
    "give": {
        "call": {**LIMB, "target": "Target", **IN_PLANE},
        "in_actions": TaskUnderTest("bake_target", leg_with_controls, {**LIMB, "tip": "foot", **ON_CONTROLS}, OPTIONS, "target"),
    },
    "switch": {"build": leg_with_controls, "call": {**LIMB, "tip": "foot", "to": "IK"}},
    "clear": {"build": baked_leg, "without": frozenset({"Clear gives back"})},
    "align": {"call": {**LIMB, **IN_PLANE}, "without": OF_KEYS},
    "find_limbs": {
        "build": character, "call": {"armature": "Rig"}, "without": OF_KEYS, "thorough": {"targets": True},
    },
    "import_contacts": {"build": walker_with_labels, "call": OF_FILE, "drawn": 0},
    "export_contacts": {
        "build": walker_with_contacts, "call": {**OF_FILE, "overwrite": True}, "without": OF_KEYS | {"one undo step"},
        "drawn": 0,
    },
    "nudge": {"build": keyed_leg, "call": {"armature": "Rig", "chain": "leg", "frame": 4.0, "offset": (0.02, 0.03, 0.05)}},
    "plant": {"drawn": 2, "thorough": {"keep_targets": True}},
    "finish_retarget": {"build": walkers, "call": {"armature": "Walker", "source": "Walker source"}, "drawn": 2},
    "fit_root": {"build": walker_out_of_reach},
}  # fmt: skip
"""What is told of a task: where it is not enough to name a leg, or a person who walks."""


def under_test(task: Task) -> TaskUnderTest:
    """A task with a file to do it in: what it is called, its options, and which promises are about it, tell it itself."""
    table, how = task.table, HOW.get(task.table.task, {})
    without = how.get("without", frozenset())
    if "actions" not in {option.name for option in table.own}:
        without |= {"several actions"}
    if table.is_read_only:
        without |= OF_WRITERS | {"several actions"}
    build, call = (keyed_leg, LIMB) if table.of_chains else (walker, {"armature": "Walker"})
    usual = {"build": build, "call": call, "options": (*table.own, *table.of_chains), "command": table.command}
    return TaskUnderTest(**{"name": table.operator, **usual, **how, "without": without})


TASKS = (
    *map(under_test, all_tasks.all_tasks()),
    TaskUnderTest("bake_all", keyed_leg, {}, BAKE.table.own, "bake", ("--stored",), {"stored": True}),
)
