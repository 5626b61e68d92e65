"""What a refusal of too much that is played names is something that the task has, and it helps: any task, any source."""

import bpy
import pytest

from tests.interface.baking.playing import playing
from tests.matrix.outside import STATES, of_all, strips_of
from tests.matrix.test_outside import TRIED
from tests.promises.promises import Bench, settle
from tests.promises.refused_calls import armature
from tests.promises.tasks_under_test import TASKS
from twobone_addon.interface import refusing, translating
from twobone_addon.interface.rows import reason_of
from twobone_addon.pipeline import played
from twobone_addon.said import Sentence

FEW, LAST = 30, 120
"""Frames that are too many to key here, and the last one of a scene that has more."""

TOO_MANY = "which is too many to key"
PART = {"frame_range": "CUSTOM", "frame_start": 17.0, "frame_end": 20.0}
PRESSED = {"destination", "frame_range", "frame_start", "frame_end", "loop"}
"""Settings that buttons of such refusals change."""

TRIES = 4
"""Times that the button is pressed: a limb, its target and its parent may be played by three different things."""

HELPED = {**TRIED, "finish_retarget": next(task for task in TASKS if task.name == "finish_retarget")}
SOURCES = {"cycle": "cycles before and after", "line": "linear extrapolation", "clip": "clip below"}


NOTHING_PLAYED = {
    "cycle": {"switch", "fit_root"},
    "line": {"switch", "fit_root", "plant", "finish_retarget"},
    "clip": {"switch", "fit_root"},
}
"""Tasks that key nothing there that is played beside their keys: controls that have none, and keys held at both ends."""


@pytest.fixture(scope="module")
def bench(registered_addon, tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("remedies"))


@pytest.fixture
def refusals(monkeypatch):
    """The sentences with which operators are refused, last one last."""
    told, report = [], refusing.refuse
    monkeypatch.setattr(played, "MOST_FRAMES", FEW)
    monkeypatch.setattr(refusing, "refuse", lambda operator, sentence: told.append(sentence) or report(operator, sentence))
    return told


def call_of(task) -> dict:
    if task.name == "nudge":
        return {**task.call, "frame": 18.0, "before": 1.5, "after": 1.5, "loop": "OFF"}
    more = {"key_before": True, "key_after": True} if any(option.name == "key_before" for option in task.options) else {}
    return {**task.call, **PART, **more}


def open_file(bench, task, source: str) -> None:
    bench.open(task)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    STATES[SOURCES[source]](of_all)
    for thing in bpy.data.objects if source == "clip" else ():
        for strip in strips_of(thing) if thing.animation_data is not None else ():
            strip.repeat = 9.0
    bpy.context.view_layer.objects.active = armature()
    settle()


def refused(task, call: dict, refusals: list) -> str:
    """The sentence with which a call is refused; empty where it is done."""
    count = len(refusals)
    try:
        getattr(bpy.ops.twobone, task.name)(**call)
    except RuntimeError as error:
        if "Traceback" in str(error):
            raise
    return refusals[-1].text() if len(refusals) > count else ""


def templates_of(sentence: Sentence) -> set[str]:
    """All texts that a sentence is made of."""
    return {sentence.template}.union(*(templates_of(value) for value in sentence.values.values() if isinstance(value, Sentence)))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("task", HELPED.values(), ids=lambda task: task.name)
def test_each_remedy_is_one_that_the_task_has_and_it_helps(bench, task, source, refusals):
    open_file(bench, task, source)
    call, names = call_of(task), {option.name for option in task.options}
    said = refused(task, call, refusals)
    assert (TOO_MANY in said) is not (task.name in NOTHING_PLAYED[source])
    if not said:
        return
    for known in translating.sentences().values():
        assert templates_of(reason_of(refusals[-1])) <= {english for _, english in known}
    assert ("destination NLA Strip" not in said) or "destination" in names
    assert ("Choose the frames" not in said) or "frame_range" in names
    assert ("Turn Loop on" not in said) or "loop" in names
    before = said
    for _ in range(TRIES):
        acting = playing(getattr(bpy.types, f"TWOBONE_OT_{task.name}"), **call)
        reason = reason_of(refusals[-1])
        if not acting.take_remedy(reason):
            assert not reason.kind
            break
        call |= {name: getattr(acting, name) for name in names & PRESSED}
        said = refused(task, call, refusals)
        assert said != before
        before = said
        if TOO_MANY not in said:
            break
    else:
        raise AssertionError(said)
    open_file(bench, task, source)
    if "shorten" in refusals[0].text().lower():
        bpy.context.scene.frame_start, bpy.context.scene.frame_end = 16, 21
    for thing in bpy.data.objects if "strips" in refusals[0].text() else ():
        for strip in strips_of(thing) if thing.animation_data is not None else ():
            strip.action_frame_end, strip.repeat = strip.action_frame_start + 5.0, 1.0
    said = refused(task, call_of(task), refusals)
    assert TOO_MANY not in said
