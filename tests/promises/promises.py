"""What every task promises. Each promise is a function of a task; it fails where the task does not keep it.

They are those of the runner: whatever is not carried out changes nothing; what has no effect is said; several actions are
as one by one; again changes nothing; Clear gives back; what a report says was measured; every way offers every option.
"""

import io
import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from typing import Any

import bpy
import jsonschema
import numpy as np
import pytest

from tests.blank import empty
from tests.promises import measured, refused_calls
from tests.promises.limits import on_a_leash
from tests.promises.refused_calls import Call
from tests.promises.tasks_under_test import TaskUnderTest
from tests.promises.ways import Ended, command, is_finite, job, operator, typed, ways_of
from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.checks.targets import curves_of
from tools import make_docs
from tools.make_stub import records_of
from twobone_addon.calls import TABLE_OF
from twobone_addon.command_line.command import main
from twobone_addon.command_line.job import load_job
from twobone_addon.command_line.outcomes import UsageError
from twobone_addon.command_line.schemas import schema
from twobone_addon.errors import TwoBoneError
from twobone_addon.pipeline.run import SkipCheckError
from twobone_addon.scene.sampling import stepping
from twobone_addon.settings.options import Option, OptionKind

SEED = 20_07

UNDO_STEP = True
"""What makes a call from a script an undo step, as one from the interface is."""


class Bench:
    """Opens the file of a task, as often as it is asked for."""

    def __init__(self, folder: Any) -> None:
        self.folder = folder
        self.made: dict[int, str] = {}

    def open(self, task: TaskUnderTest, *, twin: bool = False) -> dict[str, Any]:
        """The file anew, and what is in it; with a `twin` it has two chains of one name, and a limb that is in no list."""
        if id(task) not in self.made:
            empty()
            task.build()
            path = str(self.folder / f"{task.name} {len(self.made)}.blend")
            bpy.ops.wm.save_as_mainfile(filepath=path, check_existing=False)
            self.made[id(task)] = path
        bpy.ops.wm.open_mainfile(filepath=self.made[id(task)])
        if twin:
            spoil_list(refused_calls.armature())
        return dump_file()


def spoil_list(rig: bpy.types.Object) -> None:
    """What a task might put in order before it is refused: names that are there twice, as scripts make them, and a lost limb."""
    chains = rig.twobone.chains
    if len(chains) > 1:
        chains.remove(len(chains) - 1)
    for first in list(chains):
        name, upper, lower = first.name, first.upper, first.lower
        twin = chains.add()
        twin.name, twin.upper, twin.lower, twin.enabled = name, upper, lower, False


# What is refused, stopped or tried out changes nothing.


def refuses(calls: Callable[[TaskUnderTest], Iterator[Call]]) -> Callable[[TaskUnderTest, Bench], None]:
    """The promise that such calls end in one sentence, and that the file is as it was."""

    def keeps(task: TaskUnderTest, bench: Bench) -> None:
        wrong, before = [], bench.open(task, twin=True)
        for call in calls(task):
            for way in call.ways & ways_of(task).keys():
                if call.spoil:
                    bench.open(task, twin=True)
                    call.spoil()
                    before = dump_file()
                with on_a_leash():
                    ended = ways_of(task)[way](task, call.given, bench.folder)
                found = fault(call, ended, before)
                if found:
                    wrong.append(f"{call.what} by {way}: {found}")
                if found or ended.done:
                    before = bench.open(task, twin=True)
            # One look for all ways, unless the file was another one each time.
            left = [] if call.spoil else differences(before, dump_file())
            if left:
                wrong.append(f"{call.what}: refused, but changed {left[:3]}")
                before = bench.open(task, twin=True)
        assert not wrong, "\n".join(wrong)

    return keeps


def fault(call: Call, ended: Ended, before: dict[str, Any]) -> str:
    """What is wrong with the way in which a call ended; empty where nothing is."""
    if "Traceback" in ended.said:
        return next(line for line in reversed(ended.said.splitlines()) if "Error: " in line)
    if ended.done and not call.may_be_done:
        return "done"
    if ended.done:
        if call.needs_word and call.needs_word not in f"{ended.said} {ended.report}":
            return f"done, and {call.needs_word} is not mentioned"
        if call.changes_nothing and differences(before, dump_file()):
            return "done, and it has changed something"
        return "" if is_finite(ended.report) and keys_are_finite() else "keys or report are not finite"
    changed = differences(before, dump_file()) if call.spoil else []
    return f"refused, but changed: {changed[:4]}" if changed else ""


def keys_are_finite() -> bool:
    curves = [curve for thing in bpy.data.objects for curve in curves_of(thing)]
    return all(np.isfinite(key.co[:]).all() for curve in curves for key in curve.keyframe_points)


def linked_changes_nothing(task: TaskUnderTest, bench: Bench) -> None:
    """An armature that is linked from another file, and one whose action is."""
    bench.open(task)
    names, active = [thing.name for thing in bpy.data.objects], refused_calls.armature().name
    first, last = bpy.context.scene.frame_start, bpy.context.scene.frame_end
    path = bench.made[id(task)]
    empty()
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = list(names)
    for name in names:
        bpy.context.scene.collection.objects.link(bpy.data.objects[name])
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = first, last
    bpy.context.view_layer.objects.active = bpy.data.objects[active]
    before = dump_file()
    for way, ask in ways_of(task).items():
        ended = ask(task, {}, bench.folder)
        assert "Traceback" not in ended.said, f"{way}: {ended.said}"
        assert not ended.done, way
        assert differences(before, dump_file()) == [], way


def stops_without_a_trace(task: TaskUnderTest, bench: Bench) -> None:
    """Esc, a crash or a file that is loaded meanwhile: before the keys are written nothing has changed."""
    total = steps_of(task, bench)
    assert total > 0, "it cannot be stopped"
    stopped = 0
    for number in sorted({0, 1, total // 4, total // 2, total - 1}):
        before = bench.open(task, twin=True)
        if interrupted(task, number, escape):
            stopped += 1
            assert differences(before, dump_file()) == [], f"Esc after {number} of {total} steps"
            for how in (close, crash):
                before = bench.open(task, twin=True)
                interrupted(task, number, how)
                assert differences(before, dump_file()) == [], f"{how.__name__} after {number} of {total} steps"
    assert stopped, "Esc never comes before the keys"


def a_dry_run_changes_nothing(task: TaskUnderTest, bench: Bench) -> None:
    """`--dry-run` says what would be done, and that is that."""
    before = bench.open(task, twin=True)
    assert task.command, "it has no command"
    ended = command(task, {"dry_run": True}, bench.folder)
    assert ended.done, ended.said
    assert ended.report["dry_run"] is True
    assert differences(before, dump_file()) == []


def a_dry_run_leaves_the_disk(task: TaskUnderTest, bench: Bench) -> None:
    """With `--dry-run` no file that it would write is there afterwards, and none beside it."""
    bench.open(task)
    disk = bench.folder / f"disk of {task.name}"
    disk.mkdir()
    ends = {"picture": ".svg", "filepath": ".json"}
    named = [option.name for option in task.options if option.kind is OptionKind.PATH and option.is_written]
    files = {name: str(disk / f"new{ends[name]}") for name in named}
    ended = command(task, {**files, "dry_run": True}, bench.folder)
    assert ended.done, ended.said
    assert list(disk.iterdir()) == []


# What is on the way can be stopped.


class StoppedHereError(TwoBoneError):
    """Ends an operator from within, as a refusal does."""


def driven(monkeypatch: pytest.MonkeyPatch, drive: Callable[[Any], Any]) -> None:
    """Let the operators' work be driven by this instead of at once, in bits that do not depend on the machine's speed."""
    monkeypatch.setattr(stepping, "SHORT", 0.0)
    for name, module in list(sys.modules.items()):
        if name.startswith("twobone_addon.interface") and hasattr(module, "at_once"):
            monkeypatch.setattr(module, "at_once", drive)


def steps_of(task: TaskUnderTest, bench: Bench) -> int:
    """How many bits of work it has."""
    count = 0

    def drive(steps: Any) -> Any:
        nonlocal count
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return end.value
            count += 1

    bench.open(task)
    with pytest.MonkeyPatch.context() as patch:
        driven(patch, drive)
        ended = operator(task, frame_by_frame(task))
    assert ended.done, ended.said
    return count


def no_block_is_long(task: TaskUnderTest, bench: Bench) -> None:
    """Between two looks at the keyboard no more than a tenth of all frames are evaluated, or so few that it takes no time."""
    blocks = [0]

    def count(*_: Any) -> None:
        blocks[-1] += 1

    def drive(steps: Any) -> Any:
        while True:
            blocks.append(0)
            try:
                next(steps)
            except StopIteration as end:
                return end.value

    bench.open(task)
    bpy.app.handlers.frame_change_pre.append(count)
    try:
        with pytest.MonkeyPatch.context() as patch:
            driven(patch, drive)
            patch.setattr(stepping, "FIRST_STEP", 1)
            ended = operator(task, {**frame_by_frame(task), **task.thorough})
    finally:
        bpy.app.handlers.frame_change_pre.remove(count)
    assert ended.done, ended.said
    assert max(blocks) <= max(0.1 * sum(blocks), FEW_FRAMES), f"{max(blocks)} of {sum(blocks)} frames in one block"


FEW_FRAMES = 4
"""Frames that are evaluated to put everything back where it was."""


def escape(steps: Any) -> bool:
    """As Esc does it; whether it was in time."""
    try:
        steps.throw(SkipCheckError())
    except SkipCheckError:
        return True
    except StopIteration as end:
        return end.value is None
    return False


def close(steps: Any) -> bool:
    steps.close()
    return True


def crash(steps: Any) -> bool:
    steps.throw(ZeroDivisionError())
    return True


def interrupted(task: TaskUnderTest, number: int, how: Callable[[Any], bool]) -> bool:
    """Whether the task was stopped after so many bits of its work, before it was done."""
    in_time = False

    def drive(steps: Any) -> Any:
        nonlocal in_time
        for _ in range(number):
            next(steps)
        in_time = how(steps)
        raise StoppedHereError("Stopped.")

    with pytest.MonkeyPatch.context() as patch:
        driven(patch, drive)
        operator(task, frame_by_frame(task))
    return in_time


def frame_by_frame(task: TaskUnderTest) -> dict[str, Any]:
    """Settings with which there is a walk over time that can be stopped."""
    return {option.name: "SCENE" for option in task.options if option.name == "evaluation"}


# What has no effect is said.


def says_what_has_no_effect(task: TaskUnderTest, bench: Bench) -> None:
    """Every option that needs another one, given while that is something else."""
    wrong = []
    for option in (option for option in task.options if option.needs):
        bench.open(task)
        given = {**unmet(task, option), option.name: another(option)}
        ended = operator(task, given)
        if not ended.done:  # for another reason: then it is what is refused where that is asked for
            ended = command(task, {**given, "strict_settings": True}, bench.folder)
        if not re.search(rf"{option.label}.{{0,60}}no effect", f"{ended.said} {ended.report}"):
            wrong.append(f"{given}: {ended.said[:100]}")
    assert not wrong, "\n".join(wrong)


def unmet(task: TaskUnderTest, option: Option) -> dict[str, Any]:
    """What keeps an option from making a difference: the other one's default, or else its first value that does."""
    other = next(each for each in task.options if each.name == option.needs.setting)
    last = "ALL" if other.kind is OptionKind.ACTIONS else not other.default
    values = [other.default, *(choice.value for choice in other.choices), last]
    return {other.name: next(value for value in values if value not in option.needs.values)}


def another(option: Option) -> Any:
    """A value that is right, and not the default."""
    if option.kind is OptionKind.CHOICE:
        return next(choice.value for choice in option.choices if choice.value != option.default)
    if option.kind is OptionKind.SWITCH:
        return not option.default
    if option.kind is OptionKind.VECTOR:
        return (0.0, 0.5, 0.0)
    if option.kind is OptionKind.NUMBER:
        return next(value for value in (option.default + 0.5, option.default - 0.5, 0.5) if is_allowed(option, value))
    if option.kind is OptionKind.BONE:
        return refused_calls.armature().data.bones[0].name
    return next(thing.name for thing in bpy.data.objects if thing.type != "ARMATURE" or len(bpy.data.objects) == 1)


def is_allowed(option: Option, value: float) -> bool:
    above = value > option.minimum if option.above else value >= option.minimum
    return above and value <= option.maximum and value != option.default


# The operator's part.


def is_an_operator_like_others(task: TaskUnderTest, bench: Bench) -> None:
    """Undo and redo panel, progress, Esc; and Blender may give it up before it has begun."""
    bench.open(task)
    made = getattr(bpy.types, f"TWOBONE_OT_{task.name}")
    assert {"REGISTER", "UNDO"} <= made.bl_options
    missing = [name for name in ("execute", "invoke", "modal", "cancel", "draw") if not hasattr(made, name)]
    assert not missing, missing
    mixins = tuple(each for each in made.__bases__ if each is not bpy.types.Operator)
    own = {name: value for name, value in vars(made).items() if callable(value)}
    type("NeverBegun", mixins, own)().cancel(bpy.context)


def is_one_undo_step(task: TaskUnderTest, bench: Bench) -> None:
    """One undo takes all of it back, one redo does it again."""
    bench.open(task)
    settle()
    bpy.ops.ed.undo_push(message="before")
    before = dump_file()
    assert getattr(bpy.ops.twobone, task.name)("EXEC_DEFAULT", UNDO_STEP, **task.call) == {"FINISHED"}
    settle()
    after = dump_file()
    assert not nearly_equal(before, after), "it has done nothing"
    bpy.ops.ed.undo()
    settle()
    assert nearly_equal(before, dump_file()), changed(before, dump_file())
    bpy.ops.ed.redo()
    settle()
    assert nearly_equal(after, dump_file()), changed(after, dump_file())


def settle() -> None:
    """Let everything be as its keys say at this frame."""
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)
    bpy.context.view_layer.update()


TOLERANCE = 1e-5
"""Blender's own: reading and writing aligned handles moves them by so much."""


def changed(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Paths of what differs by more than single precision."""
    paths = differences(before, after)
    return [path for path in paths if not is_close(before.get(path, "-"), after.get(path, "-"))]


def nearly_equal(before: dict[str, Any], after: dict[str, Any]) -> bool:
    return not changed(before, after)


def is_close(first: Any, second: Any) -> bool:
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(is_close(value, second[name]) for name, value in first.items())
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(is_close, first, second))
    if isinstance(first, float) and isinstance(second, float):
        return abs(first - second) <= TOLERANCE * max(1.0, abs(first))
    return first == second


# Several actions, again, and back.


def several_actions_are_as_one_by_one(task: TaskUnderTest, bench: Bench) -> None:
    """The same keys in every action, whether all are meant at once or one after the other is played."""
    task = task.in_actions or task
    one_by_one = []
    for name in ("First", "Second"):
        bench.open(task)
        add_action()
        play_action(name)
        ended = operator(task, {})
        assert ended.done, ended.said
        one_by_one.append(keys_of_action(name))
    bench.open(task)
    add_action()
    ask = command if task.name == "bake" else operator
    ended = ask(task, {"actions": "First;Second"}, bench.folder)
    assert ended.done, ended.said
    for name, wanted in zip(("First", "Second"), one_by_one, strict=True):
        found = keys_of_action(name)
        assert is_close(list(found.items()), list(wanted.items())), name


def add_action() -> None:
    """Make the armature's action the first of two; the second is the same motion, less of it."""
    data = refused_calls.armature().animation_data
    scene = bpy.context.scene
    data.action.name = "First"
    second = data.action.copy()
    second.name, second.use_fake_user = "Second", True
    data.action.use_fake_user = True
    play_action("Second")
    for curve in curves_of(refused_calls.armature()):
        for key in curve.keyframe_points:
            key.co.y *= 0.95
        curve.update()
    for name in ("First", "Second"):
        action = bpy.data.actions[name]
        action.use_frame_range, action.frame_start, action.frame_end = True, scene.frame_start, scene.frame_end
    play_action("First")


def play_action(name: str) -> None:
    data, action = refused_calls.armature().animation_data, bpy.data.actions[name]
    data.action = action
    if hasattr(action, "slots"):
        data.action_slot = action.slots[0]
    settle()


def keys_of_action(name: str) -> dict[Any, Any]:
    """The armature's keys in an action, curve by curve; not how constraints end, which no action decides alone."""
    play_action(name)
    curves = [curve for curve in curves_of(refused_calls.armature()) if ".constraints[" not in curve.data_path]
    return {
        (curve.data_path, curve.array_index): [(*key.co, *key.handle_left, *key.handle_right) for key in curve.keyframe_points]
        for curve in sorted(curves, key=lambda curve: (curve.data_path, curve.array_index))
    }


SEEN = 1e-4
"""World units between two poses: nobody sees less."""


def again_changes_nothing(task: TaskUnderTest, bench: Bench) -> None:
    """With settings drawn by chance a second run leaves all keys as they are, and so all poses, at and between frames."""
    chance, tried = random.Random(SEED), 0  # noqa: S311 - the same settings every time
    wrong = []
    for drawn in [{}, *(draw(task, chance) for _ in range(4 * task.drawn))]:
        bench.open(task)
        if tried > task.drawn or not operator(task, drawn).done:
            continue
        tried += 1
        settle()
        once, poses = dump_file(), all_poses()
        operator(task, drawn)
        settle()
        other = [path for path in changed(once, dump_file()) if not path.endswith((".report", ".planted"))]
        if other:
            wrong.append(f"{drawn}: {len(other)} differ, such as {other[:3]}")
        elif np.abs(all_poses() - poses).max() > SEEN:
            wrong.append(f"{drawn}: poses differ by {np.abs(all_poses() - poses).max():.2g}")
    assert tried > task.drawn // 2, "hardly anything that was drawn can be done"
    assert not wrong, "\n".join(wrong)


def draw(task: TaskUnderTest, chance: random.Random) -> dict[str, Any]:
    """Some settings at some values."""
    kinds = {OptionKind.CHOICE, OptionKind.SWITCH, OptionKind.NUMBER}
    free = [option for option in task.options if option.kind in kinds and option.name not in task.call.keys() | RANGE]
    return {option.name: drawn_value(option, chance) for option in chance.sample(free, min(3, len(free)))}


RANGE = {"frame_range", "frame_start", "frame_end", "verify", "evaluation", "destination"}
"""What says where and when, not what; where a second run makes a second action or strip."""


def drawn_value(option: Option, chance: random.Random) -> Any:
    if option.kind is OptionKind.CHOICE:
        return chance.choice(option.choices).value
    if option.kind is OptionKind.SWITCH:
        return chance.random() < 0.5
    low, high = max(option.minimum, option.default - 1.0), min(option.maximum, option.default + 1.0)
    return round(chance.uniform(low, high), 3) if not option.above else round(chance.uniform(0.3 * high, high), 3)


def all_poses() -> np.ndarray:
    """`(M, B, 4, 4)` of every bone at every half frame, world space."""
    scene, rig = bpy.context.scene, refused_calls.armature()
    found, now = [], scene.frame_current
    for half in range(2 * scene.frame_start, 2 * scene.frame_end + 1):
        scene.frame_set(half // 2, subframe=0.5 * (half % 2))
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(seen.matrix_world @ bone.matrix) for bone in seen.pose.bones])
    scene.frame_set(now)
    return np.array(found)


def starts_from_edited_keys(task: TaskUnderTest, bench: Bench) -> None:
    """After one of its keys was edited, a second run is done or refused in a sentence, and gives a report, by every way."""
    wrong = []
    for way, ask in ways_of(task).items():
        bench.open(task)
        before = {where(curve): len(curve.keyframe_points) for thing in bpy.data.objects for curve in curves_of(thing)}
        ask(task, {}, bench.folder)
        keyed = [
            curve
            for thing in bpy.data.objects
            for curve in curves_of(thing)
            if len(curve.keyframe_points) != before.get(where(curve))
        ]
        for curve in keyed:
            curve.keyframe_points[len(curve.keyframe_points) // 2].co.y += 0.05
            curve.update()
        settle()
        ended = ask(task, {}, bench.folder)
        if "Traceback" in ended.said or (ended.done and not {"kind", "sentence", "notes"} <= (ended.report or {}).keys()):
            wrong.append(f"{way}: {ended.said[-300:]}")
    assert not wrong, "\n".join(wrong)


def where(curve: bpy.types.FCurve) -> tuple[str, str, int]:
    return curve.id_data.name, curve.data_path, curve.array_index


def clear_gives_back(task: TaskUnderTest, bench: Bench) -> None:
    """After one run, and after two, Clear leaves the file that there was before: keys, handles, interpolation, all."""
    wrong = []
    for runs in (1, 2):
        bench.open(task)
        settle()
        before = dump_file()
        for _ in range(runs):
            operator(task, {})
        clear()
        settle()
        left = changed(before, dump_file())
        if left:
            wrong.append(f"after {runs}: {len(left)} differ, such as {left[:3]}")
    assert not wrong, "\n".join(wrong)


def clear() -> None:
    """Press Clear for every limb that is listed, or for the only one."""
    rig = refused_calls.armature()
    limbs = [(chain.upper, chain.lower) for chain in rig.twobone.chains] or [("upper", "lower")]
    for upper, lower in limbs:
        bpy.ops.twobone.clear_baked(armature=rig.name, upper=upper, lower=lower, all_frames=True)


# What the report says.


def reports_what_is_so(task: TaskUnderTest, bench: Bench) -> None:
    """The numbers of the report are those that Blender's own evaluation shows."""
    bench.open(task)
    assert task.name in measured.MEASURES, "nobody has measured it"
    for what, said, own, tolerance in measured.MEASURES[task.name](task):
        assert said is not None, f"{what} is not told"
        assert said == (pytest.approx(own, abs=tolerance) if tolerance else own), f"{what}: {said}, measured {own}"


def report_has_its_parts(task: TaskUnderTest, bench: Bench) -> None:
    """Kind, version, a sentence and notes, from the operator as from the command."""
    wrong = []
    for way, ask in ways_of(task).items():
        bench.open(task)
        ended = ask(task, {}, bench.folder)
        assert ended.done, f"{way}: {ended.said}"
        missing = [name for name in ("kind", "version", "sentence", "notes") if name not in (ended.report or {})]
        if missing:
            wrong.append(f"{way}: without {', '.join(missing)}")
    assert not wrong, "\n".join(wrong)


def report_follows_its_schema(task: TaskUnderTest, bench: Bench) -> None:
    """What the command writes is what the schema that it prints allows; a missing key, another type, an unknown key are not."""
    assert task.command, "it has no command"
    bench.open(task)
    document = command(task, {}, bench.folder).report
    shape = jsonschema.Draft202012Validator(schema(document["kind"]))
    assert not list(shape.iter_errors(document))
    assert list(shape.iter_errors({**document, "surprise": 1})), "an unknown key passes"
    passing = [name for name in document if shape.is_valid({key: value for key, value in document.items() if key != name})]
    assert not passing, f"may be missing: {passing}"


def defaults_act(task: TaskUnderTest, bench: Bench) -> None:
    """Naming every default changes nothing: as an operator, as flags and as a job, it does what it does without them."""
    bench.open(task)
    properties = getattr(bpy.ops.twobone, task.name).get_rna_type().properties
    vectors = {option.name for option in task.options if option.kind is OptionKind.VECTOR}
    of_operator = {name: tuple(each.default_array) if name in vectors else each.default for name, each in properties.items()
                   if name in {option.name for option in task.options}}  # fmt: skip
    of_table = {option.name: option.default for option in task.options if option.default not in {"", None}}
    for way, defaults in ((operator, of_operator), (command, of_table), (job, of_table)):
        ended = []
        for given in ({}, {name: value for name, value in defaults.items() if name not in task.call}):
            bench.open(task)
            done = way(task, given, bench.folder)
            assert done.done, f"{way.__name__}, {len(given)} settings: {done.said}"
            ended.append((told(done.report), dump_file()))
        (report, file), (named_report, named_file) = ended
        unequal = [f"{name}: {named_report.get(name)!s:.200} instead of {value!s:.200}" for name, value in report.items()
                   if named_report.get(name) != value]  # fmt: skip
        unequal += [path for path in changed(file, named_file) if not path.endswith((".report", "session_uid"))]
        assert not unequal, f"{way.__name__}: {unequal[:5]}"


def typed_call_is_as_the_operator(task: TaskUnderTest, bench: Bench) -> None:
    """The same file and report, with nothing active."""
    ended, vectors = [], [name for name, value in task.call.items() if isinstance(value, tuple)]
    single = {name: tuple(np.float32(task.call[name]).tolist()) for name in vectors}
    for way, given in ((operator, {}), (typed, single)):  # Blender keeps an operator's vectors in single precision.
        bench.open(task)
        done = way(task, given, bench.folder)
        assert done.done, f"{way.__name__}: {done.said}"
        ended.append((told(done.report), dump_file()))
    assert done.record in {name.rpartition(".")[2] for name in records_of(TABLE_OF[task.name].task)}
    (report, file), (typed_report, typed_file) = ended
    assert [name for name in report if not is_close(typed_report.get(name), report[name])] == []
    assert not [path for path in changed(file, typed_file) if not path.endswith((".report", "session_uid"))]


UNEQUAL = {"seconds", "fingerprint"}
"""Parts of a report that no two runs share."""


def told(report: dict[str, Any]) -> Any:
    """A report without what differs from run to run: seconds."""
    if isinstance(report, dict):
        return {key: told(value) for key, value in report.items() if key not in UNEQUAL}
    return [told(value) for value in report] if isinstance(report, list) else report


def every_way_has_every_option(task: TaskUnderTest, bench: Bench) -> None:
    """A property, a flag, a key and a line in the documentation for each option of the table."""
    bench.open(task)
    names = [option.name for option in task.options]
    properties = getattr(bpy.ops.twobone, task.name).get_rna_type().properties.keys()
    lost = [f"property {name}" for name in names if name not in properties]
    assert task.command, "it has no command"
    said = help_of(task)
    lost += [f"flag {name}" for name in names if f"--{name.replace('_', '-')}" not in said]
    page = make_docs.options_page()
    lost += [f"line {name}" for name in names if f"| `{name}` |" not in page]
    for option in task.options:
        value = list(option.default) if option.kind is OptionKind.VECTOR else option.default
        document = {"use": task.command, option.name: value, **task.job, **task.call}
        (bench.folder / "one.json").write_text(json.dumps(document), encoding="utf-8")
        try:
            load_job(bench.folder / "one.json", task.command)
        except UsageError as error:
            lost.append(f"key {option.name} ({error})")
    assert not lost, ", ".join(lost)


def table_has_every_property(task: TaskUnderTest, bench: Bench) -> None:
    """Nothing is declared beside the table."""
    bench.open(task)
    known = {option.name for option in task.options} | {"rna_type"}
    properties = getattr(bpy.ops.twobone, task.name).get_rna_type().properties
    assert not [each.identifier for each in properties if each.identifier not in known and not each.is_hidden]


def help_of(task: TaskUnderTest) -> str:
    said = io.StringIO()
    with redirect_stdout(said), pytest.raises(SystemExit):
        main([task.command, "--help"])
    return said.getvalue()


PROMISES: dict[str, Callable[[TaskUnderTest, Bench], None]] = {
    "unknown names are refused": refuses(refused_calls.unknown_names),
    "wrong numbers are refused": refuses(refused_calls.no_numbers),
    "unknown choices are refused": refuses(refused_calls.unknown_choices),
    "impossible ranges are refused": refuses(refused_calls.ranges),
    "unknown actions are refused": refuses(refused_calls.actions),
    "impossible places are refused": refuses(refused_calls.impossible_places),
    "held curves are refused": refuses(refused_calls.held_curves),
    "nothing to work on is refused": refuses(refused_calls.nothing_there),
    "linked data is refused": linked_changes_nothing,
    "stopping changes nothing": stops_without_a_trace,
    "a dry run changes nothing": a_dry_run_changes_nothing,
    "a dry run leaves the disk": a_dry_run_leaves_the_disk,
    "no block is long": no_block_is_long,
    "what has no effect is said": says_what_has_no_effect,
    "operator": is_an_operator_like_others,
    "one undo step": is_one_undo_step,
    "several actions": several_actions_are_as_one_by_one,
    "again changes nothing": again_changes_nothing,
    "starts from edited keys": starts_from_edited_keys,
    "Clear gives back": clear_gives_back,
    "the report is so": reports_what_is_so,
    "the report has its parts": report_has_its_parts,
    "the report follows its schema": report_follows_its_schema,
    "defaults act": defaults_act,
    "the typed call is as the operator": typed_call_is_as_the_operator,
    "every way has every option": every_way_has_every_option,
    "the table has every property": table_has_every_property,
}
