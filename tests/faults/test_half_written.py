"""Whatever goes wrong while a run writes: the file is as it was before.

Something goes wrong at any change that the writer notes, and at any line of code that runs while there is a run to write: so a
change that goes round the writer is found too.
"""

import os
import random
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import bpy
import pytest

from tests.promises.promises import Bench, add_action
from tests.promises.tasks_under_test import IN_PLANE, LIMB, TASKS, TaskUnderTest, activate, keyed_leg, walker_out_of_reach
from tests.promises.ways import operator
from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.scenes import LEG, bent, build_armature, key_channel
from twobone_addon.errors import WriteError
from twobone_addon.scene import writer
from twobone_addon.tasks.all_tasks import all_tasks

POINTS = int(os.environ.get("TWOBONE_FAULT_POINTS", "10"))
"""How many of the changes and lines of each task something goes wrong at; 0 for all."""

ERRORS = (ZeroDivisionError, KeyboardInterrupt, SystemError, lambda: WriteError("No."))

ADDON = str(Path(writer.__file__).parents[1])

READERS = {task.table.operator for task in all_tasks() if task.table.is_read_only}


MORE: dict[str, tuple[dict[str, Any], ...]] = {
    "align_hinge": ({"roll": True},),
    "convert_ik": ({"actions": "ALL"},),
    "find_limbs": ({"targets": True},),
    "plant": ({"keep_targets": True},),
}
"""Settings with which tasks write more."""


def cells() -> Iterator[tuple[TaskUnderTest, dict[str, Any]]]:
    """Each task that writes, with each destination that it has, and with settings that let it write more."""
    for task in (task for task in TASKS if task.name not in READERS | {"export_contacts"}):
        destinations = next((each.choices for each in task.options if each.name == "destination"), ())
        destinations = () if task.name == "align_hinge" else destinations  # It says that it makes no difference.
        settings = [{"destination": choice.value} for choice in destinations] or [{}]
        for given in (*settings, *MORE.get(task.name, ())):
            yield replace(task, build=partial(build, task, given)), given
    yield from ((edit, {}) for edit in EDITS)


EDITS = (
    TaskUnderTest("add_target", keyed_leg, {"stored": "leg"}, ()),
    TaskUnderTest("add_pole", keyed_leg, {"stored": "leg"}, ()),
    TaskUnderTest("chain_mirror", walker_out_of_reach, {}, ()),
)
"""Operators that are no tasks and change much."""


def build(task: TaskUnderTest, given: dict[str, Any]) -> None:
    """The file of a task, in which strips can be seen, and what is cleared is where it is looked for."""
    keyed_leg() if task.name == "clear_baked" else rolled_leg() if given.get("roll") else task.build()
    if given.get("destination") == "NLA":
        for thing in [each for each in bpy.data.objects if each.animation_data and each.animation_data.action]:
            push_down(thing)
    if given.get("actions") == "ALL":
        add_action()
    if task.name == "clear_baked":
        assert bpy.ops.twobone.bake(**LIMB, target="Target", **IN_PLANE, **given) == {"FINISHED"}


def rolled_leg() -> None:
    """A leg whose knee bends about none of its axes."""
    shapes = bent(LEG, "lower", roll=0.5)
    rig = build_armature(shapes)
    key_channel(rig.pose.bones["lower"], "rotation_quaternion", {1: (1.0, 0.1, 0.0, 0.0), 8: (1.0, 0.4, 0.0, 0.0)})
    activate(rig)


def push_down(thing: bpy.types.Object) -> None:
    """Its action plays in a strip."""
    data, action = thing.animation_data, thing.animation_data.action
    data.nla_tracks.new().strips.new(action.name, int(action.frame_range[0]), action)
    data.action = None


each_cell = pytest.mark.parametrize(
    "task, given", [pytest.param(*cell, id=" ".join([cell[0].name, *map(str, cell[1].values())])) for cell in cells()]
)


@pytest.fixture(scope="module")
def bench(registered_addon, tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("faults"))


class Counter:
    """Counts places at which something may go wrong, and lets it go wrong at one of them."""

    def __init__(self, at: int | None = None, error: Callable[[], BaseException] = ZeroDivisionError) -> None:
        self.at, self.error = at, error
        self.count = 0
        self.where = ""

    def pass_by(self) -> None:
        self.count += 1
        if self.at is None or self.count <= self.at or self.where:
            return
        frames = traceback.extract_stack()[:-2]
        # Blender goes on where one of its handlers fails, or what it calls for a changed setting: this only notes what to do.
        if not any(each.name.startswith("_after_") or each.name == "setting_changed" for each in frames):
            self.where = " < ".join(f"{Path(each.filename).name}:{each.lineno}" for each in frames[-1:-4:-1])
            raise self.error()


@contextmanager
def failing_at_changes(counter: Counter) -> Iterator[None]:
    """Each change is a place before it is noted, and one after, when it is not made yet."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("note", "note_removal"):
            noted = getattr(writer.Transaction, name)

            def note(self: Any, step: Any, noted: Any = noted) -> None:
                counter.pass_by()
                noted(self, step)
                counter.pass_by()

            patch.setattr(writer.Transaction, name, note)
        yield


@contextmanager
def failing_at_lines(counter: Counter) -> Iterator[None]:
    """Each line of the add-on is a place, as long as changes are noted."""

    last: tuple[Any, int] | None = None

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal last
        if not frame.f_code.co_filename.startswith(ADDON):
            return None
        # Python 3.13 passes over all handlers where a round of a comprehension fails that is no call.
        is_next, last = last != (frame, frame.f_lineno), (frame, frame.f_lineno)
        if event == "line" and is_next and writer._now.transaction is not None:
            counter.pass_by()
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def chosen(count: int, seed: str) -> list[int]:
    dice = random.Random(seed)  # noqa: S311 - dice, not secrets
    return sorted(dice.sample(range(count), POINTS)) if 0 < POINTS < count else list(range(count))


def assert_places(task: TaskUnderTest, given: dict[str, Any], bench: Bench, failing: Callable[[Counter], Any]) -> None:
    """Count the places of a run; then let one after the other go wrong, in the same file, for it must stay as it is."""
    bench.open(task)
    counter = Counter()
    with failing(counter):
        ended = operator(task, given)
    assert ended.done, ended.said
    assert counter.count, "it has changed nothing"
    before, places, missed = bench.open(task), chosen(counter.count, f"{task.name} {given}"), 0
    for number, place in enumerate(places):
        error = ERRORS[number % (len(ERRORS) - (task in EDITS))]  # What refuses a motion need not refuse the target.
        counter = Counter(place, error)
        with failing(counter):
            ended = operator(task, given)
        if not counter.where:  # Some lines run only once, such as those that fill a memory.
            missed += 1
            before = bench.open(task)
            continue
        changed = differences(before, dump_file())
        assert not changed, f"{error} at place {place}, {counter.where}: {changed[:6]}"
        assert not ended.done, f"{error} at place {place}, {counter.where}: it went on"
        last = [line for line in ended.said.splitlines() if "Error" in line or "Interrupt" in line or line.endswith("No.")]
        assert type(error()).__name__ in last[-1] or "No." in last[-1], f"{error}, {counter.where}: {ended.said}"
    assert missed <= len(places) // 4


@each_cell
def test_a_change_that_fails_puts_all_before_it_back(bench, task, given):
    assert_places(task, given, bench, failing_at_changes)


@each_cell
def test_a_line_that_fails_while_changes_are_made_puts_them_back(bench, task, given):
    assert_places(task, given, bench, failing_at_lines)
