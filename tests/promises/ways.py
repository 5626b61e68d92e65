"""The four ways to a task: its operator, the typed function, its sub-command, and a job for that; on the file that is open."""

import io
import json
import math
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

import bpy

import twobone_addon
from tests.promises.tasks_under_test import TaskUnderTest
from twobone_addon.command_line.command import main


@dataclass(frozen=True)
class Ended:
    """How a call ended."""

    done: bool
    said: str
    """The sentence of a refusal; all that was said where it was done."""
    report: dict[str, Any] | None = None
    record: str = ""
    """What a function returned."""


def operator(task: TaskUnderTest, given: dict[str, Any], folder: Any = None) -> Ended:
    """As a script calls it."""
    del folder
    manager = bpy.context.window_manager
    manager.twobone_report = ""
    heard = io.StringIO()
    try:
        with redirect_stdout(heard):
            ended = getattr(bpy.ops.twobone, task.name)(**{**task.call, **given})
    except (RuntimeError, TypeError) as error:
        return Ended(done=False, said=str(error).strip().removeprefix("Error: "))
    return Ended(ended == {"FINISHED"}, heard.getvalue(), json.loads(manager.twobone_report or "null"))


def typed(task: TaskUnderTest, given: dict[str, Any], folder: Any = None) -> Ended:
    """As a pipeline's own Python calls it: nothing is active."""
    del folder
    heard, layer = io.StringIO(), bpy.context.view_layer
    usual = {"scope": "SCENE"} if task.name == "bake_all" else {}
    active = layer.objects.active
    if bpy.context.mode != "EDIT_ARMATURE":
        layer.objects.active = None
    try:
        with redirect_stdout(heard):
            report = getattr(twobone_addon, task.name)(**{**usual, **task.call, **given})
    except (twobone_addon.TwoBoneError, TypeError) as error:
        return Ended(done=False, said=str(error))
    finally:
        layer.objects.active = active
    return Ended(done=True, said=heard.getvalue(), report=json.loads(report.to_json()), record=type(report).__name__)


def command(task: TaskUnderTest, given: dict[str, Any], folder: Any) -> Ended:
    """As it is typed."""
    return run(task, [*task.words, *flags({**task.call, **given})], folder)


def job(task: TaskUnderTest, given: dict[str, Any], folder: Any) -> Ended:
    """As a pipeline asks for it."""
    path = folder / "job.json"
    path.write_text(json.dumps({"use": task.command, **task.job, **task.call, **given}), encoding="utf-8")
    return run(task, ["--job", str(path)], folder)


def run(task: TaskUnderTest, words: list[str], folder: Any) -> Ended:
    """A sub-command in this very process, on the file that is open, with its report."""
    path = folder / "report.json"
    path.unlink(missing_ok=True)
    said, complained = io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(said), redirect_stderr(complained):
            code = main([task.command, *words, "--report", str(path)])
    except Exception as error:  # noqa: BLE001 - what Blender prints of an operator, so that the next call can be tried as well.
        return Ended(done=False, said=f"Traceback\n{type(error).__name__}: {error}")
    report = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    heard = [line.removeprefix("twobone: ") for line in complained.getvalue().splitlines() if line.startswith("twobone: ")]
    return Ended(code == 0, "\n".join(heard) if code else said.getvalue() + "\n".join(heard), report)


def flags(given: dict[str, Any]) -> list[str]:
    """Settings as flags."""
    made = []
    for name, value in given.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            made.append(f"--{flag}" if value else f"--no-{flag}")
        elif isinstance(value, tuple):
            made += [f"--{flag}", *map(str, value)]
        else:
            made.append(f"--{flag}={value}")
    return made


def ways_of(task: TaskUnderTest) -> dict[str, Callable[..., Ended]]:
    """All ways to a task, by name."""
    found = {"operator": operator, "typed": typed, "command": command, "job": job}
    return found if task.command else {"operator": operator, "typed": typed}


def is_finite(report: Any) -> bool:
    """Whether every number of a report is one."""
    if isinstance(report, dict):
        return all(map(is_finite, report.values()))
    if isinstance(report, list):
        return all(map(is_finite, report))
    return not isinstance(report, float) or math.isfinite(report)
