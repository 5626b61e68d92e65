"""Opening and saving the shot, shared by all commands."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from ...pipeline.completeness import change_by_saving, lost_libraries
from ..files.outputs import is_same, refuse_used_outputs
from ..files.shot_files import (
    open_shot,
    refuse_unknown_scene,
    save_claimed_shot,
    save_goal,
    source_of,
    unrun_scripts,
    used_files,
)
from ..job import Job, load_job
from ..job_values import USES
from ..outcomes import FileError
from ..output import Voice, hand_over
from ..provenance import linked_contents, source_file
from ..wanted import of_last_chain


@dataclass(frozen=True, slots=True)
class OpenedShot:
    """The opened shot that a command works on."""

    job: Job | None
    scene: str
    """Name of the scene to work in; empty for the active one."""
    source: dict[str, str] | None
    """Path and SHA-256 from `source_file`; `None` if nothing needs them."""


def opened(arguments: argparse.Namespace, voice: Voice) -> OpenedShot:
    """Read the job, then open the shot and refuse outputs that it uses; the job comes first because it is quicker to check."""
    use = arguments.command if arguments.command in USES else USES[0]
    job = load_job(arguments.job, use) if getattr(arguments, "job", None) else None
    hint = of_last_chain(arguments)
    if hint:
        voice.say(hint)
    source = _known_source(arguments)
    open_shot(arguments.file, scripts=arguments.scripts)
    scene = arguments.scene or (job.scene if job else "")
    refuse_unknown_scene(scene)
    voice.stop.obey()
    goal = asked_goal(arguments)
    written = [arguments.report, getattr(arguments, "linked", None), str(goal) if goal else None]
    refuse_used_outputs([name for name in written if name is not None], used_files())
    if goal is not None:
        _check_version_change(goal, arguments, voice)
    kept_from_running = unrun_scripts()
    if kept_from_running:
        voice.warn(f"Scripts in this file did not run ({kept_from_running}). Drivers may be wrong: see --scripts.")
    for sentence in lost_libraries():
        voice.warn(sentence)
    linked = getattr(arguments, "linked", None)
    if linked is not None:
        hand_over(linked, linked_contents())
    return OpenedShot(job, scene, source)


def _check_version_change(goal: Path, arguments: argparse.Namespace, voice: Voice) -> None:
    """Warn if saving changes the file's Blender version; raises `FileError` when saving over the shot without `--upgrade`."""
    source = source_of(arguments.file)
    change = change_by_saving() if source is not None else ""
    if change and source is not None and is_same(goal, source) and not arguments.upgrade:
        raise FileError(
            'Shot "{source}": {change} Use that Blender, save to another file, or allow it with --upgrade.',
            source=source,
            change=change,
        )
    if change:
        voice.warn(change)


def _known_source(arguments: argparse.Namespace) -> dict[str, str] | None:
    """Return the shot's path and SHA-256 if a report or `--sha256` needs them; raises `FileError` if the hashes differ."""
    wanted = getattr(arguments, "sha256", None)
    if arguments.report is None and wanted is None:
        return None
    source = source_file(source_of(arguments.file))
    if wanted is not None and (source is None or source["sha256"] != wanted.lower()):
        path = source["path"] if source else arguments.file
        raise FileError('Shot "{path}" has changed: its SHA-256 is different. Freeze the list of shots again.', path=path)
    return source


def asked_goal(arguments: argparse.Namespace) -> Path | None:
    """Return the file that `--save` means; `None` without the flag."""
    asked = getattr(arguments, "save", None)
    return save_goal(asked, source_of(arguments.file)) if asked is not None else None


def save(goal: Path | None, voice: Voice) -> Path | None:
    """Save the shot as `goal`, say so and return it; for `None` only say that the result is not saved."""
    voice.stop.obey()
    if goal is None:
        voice.say("Not saved: --save keeps the result.")
        return None
    for sentence in save_claimed_shot(goal):
        voice.warn(sentence)
    voice.say(f'Saved "{goal}"')
    return goal
