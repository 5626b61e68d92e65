"""`bake` and `report`: open, gather, do, judge, save."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy

from ...baking.actions.choosing import ACTIVE
from ...baking.bake import bake
from ...baking.completeness import lost_libraries, missing_of_chains, what_is_missing
from ...baking.file_versions import change_by_saving
from ...baking.inspecting import inspect
from ...baking.plan.completing import active_object
from ...baking.rehearsing import rehearse
from ...baking.report.records import BakeReport
from ...settings import BakeSettings
from ..batch.fingerprints import linked_contents
from ..batch.processes.lifeline import end_with_parent
from ..files.outputs import refuse_used_outputs
from ..files.shot_files import (
    open_shot,
    refuse_unknown_scene,
    save_claimed_shot,
    save_goal,
    source_of,
    unrun_scripts,
    used_files,
    window_in_context,
)
from ..jobs.job import Job, load_job
from ..jobs.uses import USES
from ..outcomes import ExitCode, FileError, Outcome
from ..output import Voice, complain, hand_over
from ..provenance import source_file
from ..wanted import NamedSettings, asked_actions, named_in_refusals, of_last_chain, settings_of, wanted_chains
from .dry_run import dry_run_document, dry_run_lines
from .strictness import shortcomings

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class OpenedShot:
    """The shot that a command works on."""

    job: Job | None
    scene: str
    """Name of the scene to work in; empty for the one that is open."""
    source: dict[str, str] | None
    """As `source_file` has it, where a report is wanted."""


def bake_command(arguments: argparse.Namespace, voice: Voice) -> Outcome:
    """Bake the chains, or with `--dry-run` say what that would do."""
    shot = opened(arguments, voice)
    with window_in_context(shot.scene):
        return _bake(arguments, shot, voice)


def _bake(arguments: argparse.Namespace, shot: OpenedShot, voice: Voice) -> Outcome:
    job = shot.job
    chains = settings_of(wanted_chains(arguments, job))
    settings = [chain.settings for chain in chains]
    goal = asked_goal(arguments)
    last_wins = arguments.last_wins or bool(job and job.last_wins)
    actions = asked_actions(arguments, job)
    if arguments.dry_run:
        with named_in_refusals(chains):
            document = _dry_run(chains, voice, goal, actions, last_wins=last_wins)
        document = _with_missing(document, settings, actions)
        return Outcome(judged(document, arguments, job, voice), document, settings, shot.source)
    with named_in_refusals(chains):
        report = bake(bpy.context.scene, settings, active_object(bpy.context), last_wins=last_wins, actions=actions)
    tell(report, voice)
    document = _with_missing(json.loads(report.to_json()), settings, actions)
    code = judged(document, arguments, job, voice)
    saved = save(goal, voice) if code is ExitCode.DONE else None
    return Outcome(code, document, settings, shot.source, saved)


def _with_missing(document: Document, settings: list[BakeSettings], actions: str = ACTIVE) -> Document:
    missing = what_is_missing if actions == ACTIVE else missing_of_chains
    return {**document, "incomplete": missing(settings, document["chains"])}


def report_command(arguments: argparse.Namespace, voice: Voice) -> Outcome:
    """Measure the present animation against the chains' targets."""
    shot = opened(arguments, voice)
    with window_in_context(shot.scene):
        chains = settings_of(wanted_chains(arguments, shot.job))
        settings = [chain.settings for chain in chains]
        with named_in_refusals(chains):
            report = inspect(bpy.context.scene, settings, active_object(bpy.context))
    for chain in report.chains:
        voice.say(f"{chain.armature}: {chain.sentence()}")
    document = _with_missing(json.loads(report.to_json()), settings)
    return Outcome(judged(document, arguments, shot.job, voice), document, settings, shot.source)


def opened(arguments: argparse.Namespace, voice: Voice) -> OpenedShot:
    """Read the job before the shot, since it is the quicker one to refuse; then have the shot open."""
    use = arguments.command if arguments.command in USES else USES[0]
    job = load_job(arguments.job, use) if getattr(arguments, "job", None) else None
    alone = of_last_chain(arguments)
    if alone:
        voice.say(alone)
    lifeline = getattr(arguments, "lifeline", None)
    if lifeline is not None:
        end_with_parent(lifeline)
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
    if change and source is not None and goal == source.resolve() and not arguments.upgrade:
        raise FileError(f'Shot "{source}": {change} Use that Blender, save to another file, or allow it with --upgrade.')
    if change:
        voice.warn(change)


def _known_source(arguments: argparse.Namespace) -> dict[str, str] | None:
    """The shot's path and contents before it is opened, where somebody wants to know; raises `FileError` if they are others."""
    wanted = getattr(arguments, "sha256", None)
    if arguments.report is None and wanted is None:
        return None
    source = source_file(source_of(arguments.file))
    if wanted is not None and (source is None or source["sha256"] != wanted.lower()):
        path = source["path"] if source else arguments.file
        raise FileError(f'Shot "{path}" has changed: its SHA-256 is different. Freeze the list of shots again.')
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


def judged(document: Document, arguments: argparse.Namespace, job: Job | None, voice: Voice) -> ExitCode:
    """`INCOMPLETE` or `STRICT` where the result is not to be trusted, or not good enough, each reason said."""
    if completeness(document["incomplete"], arguments, job, voice) is ExitCode.INCOMPLETE:
        return ExitCode.INCOMPLETE
    return _strictness(document, arguments, job)


def completeness(missing: list[str], arguments: argparse.Namespace, job: Job | None, voice: Voice) -> ExitCode:
    """`INCOMPLETE` where something is missing, unless that is allowed: then it is a warning."""
    allowed = arguments.allow_incomplete or bool(job and job.allow_incomplete)
    for sentence in missing:
        (voice.warn if allowed else complain)(sentence)
    return ExitCode.INCOMPLETE if missing and not allowed else ExitCode.DONE


def _strictness(document: Document, arguments: argparse.Namespace, job: Job | None) -> ExitCode:
    """`STRICT` where strictness was asked for and not met. A dry run measures nothing."""
    max_error = arguments.max_error if arguments.max_error is not None else (job.max_error if job else None)
    if not (arguments.strict or max_error is not None or (job and job.strict)):
        return ExitCode.DONE
    found = shortcomings(document, None if document.get("dry_run") else max_error)
    for sentence in found:
        complain(sentence)
    return ExitCode.STRICT if found else ExitCode.DONE


def _dry_run(chains: list[NamedSettings], voice: Voice, goal: Path | None, actions: str, *, last_wins: bool) -> Document:
    settings = [chain.settings for chain in chains]
    rehearsal = rehearse(bpy.context.scene, settings, active_object(bpy.context), last_wins=last_wins, actions=actions)
    document = dry_run_document(chains, rehearsal, actions)
    document["save"] = str(goal) if goal is not None else None
    for line in dry_run_lines(document):
        voice.say(line)
    return document


def tell(report: BakeReport, voice: Voice) -> None:
    """Say what became of each chain, and with `--verbose` how long it took."""
    voice.say(report.sentence())
    if len(report.chains) > 1:
        for chain, entry in zip(report.chains, report.entries, strict=True):
            voice.detail(f"  {chain.armature}: {entry.sentence()}")
    for chain in report.chains:
        name = f"{chain.upper} to {chain.lower}: " if len(report.chains) > 1 else ""
        for note in chain.notes:
            voice.say(f"  {name}{note}")
    stages = ", ".join(f"{stage} {seconds:.3f} s" for stage, seconds in report.seconds.items())
    voice.detail(f"  {stages}; evaluation {report.evaluation}")
