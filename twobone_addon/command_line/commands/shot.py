"""One shot from opening to saving, as every command does it."""

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
    """The shot that a command works on."""

    job: Job | None
    scene: str
    """Name of the scene to work in; empty for the one that is open."""
    source: dict[str, str] | None
    """As `source_file` has it, where a report is wanted."""


def opened(arguments: argparse.Namespace, voice: Voice) -> OpenedShot:
    """Read the job before the shot, since it is the quicker one to refuse; then have the shot open."""
    use = arguments.command if arguments.command in USES else USES[0]
    job = load_job(arguments.job, use) if getattr(arguments, "job", None) else None
    alone = of_last_chain(arguments)
    if alone:
        voice.say(alone)
    source = _known_source(arguments)
    open_shot(arguments.file, scripts=arguments.scripts)
    scene = arguments.scene or (job.scene if job else "")
    refuse_unknown_scene(scene)
    voice.stop.obey()
    goal = asked_goal(arguments)
    written = [arguments.report, getattr(arguments, "linked", None), str(goal) if goal else None]
    refuse_used_outputs([name for name in written if name is not None], used_files())
    if goal is not None:
        _heed_change_of_version(goal, arguments, voice)
    kept_from_running = unrun_scripts()
    if kept_from_running:
        voice.warn(f"Scripts in this file did not run ({kept_from_running}). Drivers may be wrong: see --scripts.")
    for sentence in lost_libraries():
        voice.warn(sentence)
    linked = getattr(arguments, "linked", None)
    if linked is not None:
        hand_over(linked, linked_contents())
    return OpenedShot(job, scene, source)


def _heed_change_of_version(goal: Path, arguments: argparse.Namespace, voice: Voice) -> None:
    """Warn where saving makes the shot a file of another version; over the shot itself that must be allowed."""
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
    """The shot's path and contents before it is opened, where somebody wants to know; raises `FileError` if they differ."""
    wanted = getattr(arguments, "sha256", None)
    if arguments.report is None and wanted is None:
        return None
    source = source_file(source_of(arguments.file))
    if wanted is not None and (source is None or source["sha256"] != wanted.lower()):
        path = source["path"] if source else arguments.file
        raise FileError('Shot "{path}" has changed: its SHA-256 is different. Freeze the list of shots again.', path=path)
    return source


def asked_goal(arguments: argparse.Namespace) -> Path | None:
    """The file that `--save` means; `None` without it."""
    asked = getattr(arguments, "save", None)
    return save_goal(asked, source_of(arguments.file)) if asked is not None else None


def save(goal: Path | None, voice: Voice) -> Path | None:
    """Save the shot as `goal`, say so, and return it; without one, say that the result is gone."""
    voice.stop.obey()
    if goal is None:
        voice.say("Not saved: --save keeps the result.")
        return None
    for sentence in save_claimed_shot(goal):
        voice.warn(sentence)
    voice.say(f'Saved "{goal}"')
    return goal
