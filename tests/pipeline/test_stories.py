"""What a task's story may ask the runner for, and in which order; a mistake in it is an error before anything is written."""

import math
from contextlib import contextmanager

import bpy
import numpy as np
import pytest

from tests.promises.tasks_under_test import keyed_leg
from tests.tasks.checks.file_dump import differences, dump_file
from twobone_addon.errors import TwoBoneError
from twobone_addon.pipeline.beginning import ToWrite
from twobone_addon.pipeline.run import run, run_steps
from twobone_addon.pipeline.story import Agree, Make, Sample, StartOver, StoryError, Write, answered, part_of_story
from twobone_addon.records import replace
from twobone_addon.scene.keys.tables import StraightKeys
from twobone_addon.scene.keys.writing import Change
from twobone_addon.scene.sampling.quantities import Quantity
from twobone_addon.tasks.clear import CLEAR

FRAMES = np.arange(1.0, 5.0)
PATH = 'pose.bones["upper"].location'
WITHIN = (1.0, 4.0)


@pytest.fixture
def rig(empty_file):
    return keyed_leg()


def sample(**more):
    return Sample([Quantity("WORLD", "Rig")], FRAMES, **more)


class Log:
    """What a story has caused."""

    def __init__(self):
        self.done = []

    def write(self):
        return Write([], lambda: "report", also=lambda: self.done.append("written"))

    def make(self):
        @contextmanager
        def context():
            self.done.append("made")
            yield "it"

        return Make(context())

    def agree(self):
        def decide(values):
            self.done.append("agreed")
            return values

        return Agree(1, decide)

    def request(self, name):
        start = {"start over": lambda: StartOver(()), "sample": sample, "nothing": lambda: None}
        named = {**start, "make": self.make, "agree": self.agree, "write": self.write}
        return named[name]() if isinstance(name, str) and name in named else name


def toy(story):
    return replace(CLEAR, story=story, joined=lambda results: list(results.done), by_armature=lambda *_: {})


def told(names, log, **how):
    """Run the task that yields these requests one after the other."""

    def story(*_):
        for name in names:
            yield log.request(name)
        return "the end"

    return run(bpy.context.scene, toy(story), CLEAR.table.settings(), None, **how)


BEFORE_WRITING = {
    "an unknown request": (["do what I mean"], "'do what I mean'"),
    "a class instead of a request": ([Sample], "Sample"),
    "a bare yield": (["nothing"], "None"),
    "an unknown request while solving": (["start over", "sample", {}], "{}"),
    "starting over twice": (["start over", "start over"], "StartOver"),
    "starting over after a sample": (["sample", "start over"], "StartOver"),
    "starting over after a sample of solving": (["start over", "sample", "start over"], "StartOver"),
    "starting over once something is made": (["make", "start over"], "StartOver"),
    "starting over after progress": ([0.5, "start over"], "StartOver"),
    "agreeing twice": (["agree", "agree"], "Agree"),
    "a sample when all agree": (["start over", "agree", "sample"], "Sample"),
    "something made when all agree": (["agree", "make"], "Make"),
    "starting over when all agree": (["agree", "start over"], "StartOver"),
    "progress when all agree": (["agree", 0.5], "float"),
    "True as progress": ([True], "True"),
    "False as progress": (["start over", False], "False"),
    "a truth of NumPy as progress": ([np.array([1]).any()], "True"),
    "progress below 0": ([-0.1], "float with a progress up to -0.1"),
    "progress above 1": (["start over", 1.5], "float with a progress up to 1.5"),
    "progress in percent": ([50], "float with a progress up to 50"),
    "no number": ([math.nan], "float with a progress up to nan"),
    "endless progress": ([math.inf], "float with a progress up to inf"),
    "a sample that goes on beyond 1": ([sample(start=0.5)], "Sample with a progress up to 1.5"),
    "a sample that goes back": ([sample(start=0.5, share=-0.2)], "Sample with a progress up to 0.3"),
}


@pytest.mark.parametrize("case", BEFORE_WRITING)
def test_a_mistake_ends_the_run_before_anything_is_written(rig, case):
    names, named = BEFORE_WRITING[case]
    log, before = Log(), dump_file()
    with pytest.raises(StoryError) as caught:
        told([*names, "write"], log)
    assert "Task clear" in str(caught.value)
    assert named in str(caught.value)
    assert not isinstance(caught.value, TwoBoneError)
    assert "written" not in log.done
    assert differences(before, dump_file()) == []


def test_a_dry_run_finds_the_same_mistake(rig):
    with pytest.raises(StoryError, match="yields StartOver"):
        told(["start over", "start over"], Log(), dry_run=True)


IN_THE_PROOF = {
    "a second write": ("write", "Write"),
    "starting over": ("start over", "StartOver"),
    "something made": ("make", "Make"),
    "agreeing": ("agree", "Agree"),
    "progress": (0.5, "float"),
    "a bare yield": ("nothing", "None"),
}


@pytest.mark.parametrize("case", IN_THE_PROOF)
def test_the_proof_only_samples(rig, case):
    name, named = IN_THE_PROOF[case]
    log = Log()
    with pytest.raises(StoryError, match=r"Task clear.*written.*Expected Sample\."):
        told(["start over", "write", name, "sample"], log)
    assert log.done == ["written"]
    with pytest.raises(StoryError, match=f"yields {named}"):
        told(["write", "sample", name], Log())


RIGHT = {
    "only reading": ([], []),
    "reading with progress": ([0, 0.25, 1, 1.0], []),
    "writing at once": (["write"], ["written"]),
    "everything in turn": (
        ["start over", "sample", "make", 0.5, "sample", "agree", "write", "sample", "sample"],
        ["made", "agreed", "written"],
    ),
    "parts of a progress": ([sample(start=0.25, share=0.75), np.float64(1.0), "write"], ["written"]),
}


@pytest.mark.parametrize("case", RIGHT)
def test_what_a_story_may_ask_for_is_done(rig, case):
    names, done = RIGHT[case]
    log = Log()
    assert told(names, log) == ["the end"]
    assert log.done == done


def lifted(rig, again):
    """A story that keys a bone, so that the next run tells it anew; `again` gives what is yielded the second time."""
    tellings, log = [], Log()

    def story(*_):
        tellings.append(len(tellings))
        if len(tellings) == 3:
            for name in again:
                yield log.request(name)
            return "anew"
        yield StartOver([ToWrite(rig.name, {PATH}, WITHIN)])
        keys = [StraightKeys(PATH, axis, "upper", FRAMES, FRAMES + len(tellings), "LINEAR") for axis in range(3)]
        yield Write([Change(rig.name, keys, WITHIN, "clear")], lambda: "report")
        return "the end"

    task = toy(story)
    assert run(bpy.context.scene, task, CLEAR.table.settings(), None) == ["the end"]
    before = dump_file()
    with pytest.raises(StoryError) as caught:
        run(bpy.context.scene, task, CLEAR.table.settings(), None)
    assert len(tellings) == 3
    assert log.done == []
    assert differences(before, dump_file()) == []
    return str(caught.value)


def test_a_story_told_anew_starts_over_once_more_and_only_once(rig):
    assert "yields StartOver" in lifted(rig, ["start over", "start over", "write"])


@pytest.mark.parametrize("again", [["write"], ["sample", "start over"], ["make"], [0.5], ["nothing"]])
def test_a_story_told_anew_asks_for_the_same_first(rig, again):
    said = lifted(rig, again)
    assert "begun anew, yields" in said
    assert said.endswith("Expected StartOver.")


def test_a_story_told_anew_does_not_end_where_it_started_over(rig):
    assert lifted(rig, []).endswith("begun anew, ends. Expected StartOver.")


@pytest.mark.parametrize("wrong", [1.5, -0.5, math.nan, True, None, "more", StartOver(()), sample(start=0.5)])
def test_a_part_hides_no_mistake(rig, wrong):
    """A part's 1.5 is 0.75 of the whole, which would be fine."""

    def part():
        yield wrong

    def story(*_):
        yield StartOver(())
        yield from part_of_story(part(), 0, 2)
        return "the end"

    with pytest.raises(StoryError):
        run(bpy.context.scene, toy(story), CLEAR.table.settings(), None)


def test_parts_are_told_one_after_the_other(rig):
    def part(value):
        yield 0.5
        samples = yield sample(start=0.5, share=0.5)
        return value, samples.frames.tolist()

    def story(*_):
        first = yield from part_of_story(part(1), 0, 2)
        second = yield from part_of_story(part(2), 1, 2)
        return first, second

    done = run(bpy.context.scene, toy(story), CLEAR.table.settings(), None)
    assert done == [((1, FRAMES.tolist()), (2, FRAMES.tolist()))]


@pytest.mark.parametrize("name", ["make", "write", "agree", "start over", "nothing", True, 2.0])
def test_outside_a_run_only_samples_are_answered(rig, name):
    log, ended = Log(), []

    def part():
        try:
            yield log.request(name)
        finally:
            ended.append(name)

    with pytest.raises(StoryError):
        answered(bpy.context.scene, part())
    assert log.done == []
    assert ended == [name]


def test_outside_a_run_progress_is_told_to_nobody(rig):
    def part():
        assert (yield 0.5) is None
        samples = yield sample()
        assert (yield 1.0) is None
        return samples.frames.tolist()

    assert answered(bpy.context.scene, part()) == FRAMES.tolist()


@pytest.mark.parametrize("bad", ["start over", "nothing"])
def test_a_mistake_in_one_of_several_actions_writes_none(rig, bad):
    rig.animation_data.action.copy()
    log, before, names = Log(), dump_file(), []

    def story(_scene, _settings, _active, own):
        names.append(own.name)
        yield StartOver(())
        if len(names) > 1:
            yield log.request(bad)
        yield log.write()
        return "the end"

    task = replace(toy(story), by_armature=lambda settings, active: {active: settings})
    with pytest.raises(StoryError, match="Task clear"):
        run(bpy.context.scene, task, CLEAR.table.settings(), rig, actions="ALL")
    assert len(names) == 2
    assert log.done == []
    assert differences(before, dump_file()) == []


def test_progress_is_not_at_its_end_while_samples_follow(rig):
    """However many samplings a story asks for, each has a part of its own: what follows the first is not all at 100 %."""
    parts = []

    def story(*_):
        yield StartOver(())
        for _ in range(3):
            parts.append([])
            yield replace(sample(evaluation="SCENE"), frames=np.arange(1.0, 101.0))
        return "the end"

    for part in run_steps(bpy.context.scene, toy(story), CLEAR.table.settings(), None):
        parts[-1].append(part)
    assert all(parts)
    told = [part for of_sampling in parts for part in of_sampling]
    assert told == sorted(told)
    assert 0.0 < max(parts[0]) < max(parts[1]) < max(parts[2]) < 1.0
