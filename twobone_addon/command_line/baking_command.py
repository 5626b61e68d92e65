"""`bake` and `report`: open, gather, do, judge, save."""

from __future__ import annotations

import argparse
import json
from typing import Any

import bpy

from ..baking.bake import bake
from ..baking.inspecting import inspect
from ..baking.rehearsing import rehearse
from .jobs import Job, load_job
from .outcomes import ExitCode
from .output import Voice, complain
from .preview import preview_document, preview_lines
from .shot_files import open_shot, save_goal, save_shot, unrun_scripts, window_in_context
from .strictness import shortcomings
from .wanted import active_object, settings_of, wanted_chains

Document = dict[str, Any]


def bake_command(arguments: argparse.Namespace, voice: Voice) -> tuple[ExitCode, Document]:
    """Bake the chains, or with `--dry-run` say what that would do. Returns exit code and report."""
    job = opened(arguments, voice)
    with window_in_context():
        return _bake(arguments, job, voice)


def _bake(arguments: argparse.Namespace, job: Job | None, voice: Voice) -> tuple[ExitCode, Document]:
    chains = settings_of(wanted_chains(arguments, job))
    goal = save_goal(arguments.save) if arguments.save is not None else None
    if arguments.dry_run:
        return _dry_run(chains, voice, goal)
    settings = [chain.settings for chain in chains]
    report = bake(bpy.context.scene, settings, active_object())
    _tell(report, voice)
    document = json.loads(report.to_json())
    code = judged(document, arguments, job)
    if goal is not None and code is ExitCode.DONE:
        save_shot(goal)
        voice.say(f'Saved "{goal}"')
    return code, document


def report_command(arguments: argparse.Namespace, voice: Voice) -> tuple[ExitCode, Document]:
    """Measure the present animation against the chains' targets."""
    job = opened(arguments, voice)
    with window_in_context():
        settings = [chain.settings for chain in settings_of(wanted_chains(arguments, job))]
        report = inspect(bpy.context.scene, settings, active_object())
    for chain in report.chains:
        voice.say(f"{chain.armature}: {chain.sentence()}")
    document = json.loads(report.to_json())
    return judged(document, arguments, job), document


def opened(arguments: argparse.Namespace, voice: Voice) -> Job | None:
    """Read the job before the shot, since it is the quicker one to refuse; then have the shot open."""
    job = load_job(arguments.job) if arguments.job else None
    open_shot(arguments.file, scripts=arguments.scripts)
    kept_from_running = unrun_scripts()
    if kept_from_running:
        voice.warn(f"Scripts in this file did not run ({kept_from_running}). Drivers may be wrong: see --scripts.")
    return job


def judged(document: Document, arguments: argparse.Namespace, job: Job | None) -> ExitCode:
    """`STRICT` where strictness was asked for and not met, each reason said."""
    max_error = arguments.max_error if arguments.max_error is not None else (job.max_error if job else None)
    if not (arguments.strict or max_error is not None or (job and job.strict)):
        return ExitCode.DONE
    found = shortcomings(document, max_error)
    for sentence in found:
        complain(sentence)
    return ExitCode.STRICT if found else ExitCode.DONE


def _dry_run(chains: list[Any], voice: Voice, goal: Any) -> tuple[ExitCode, Document]:
    rehearsal = rehearse(bpy.context.scene, [chain.settings for chain in chains], active_object())
    document = preview_document([chain.label for chain in chains], rehearsal)
    document["save"] = str(goal) if goal is not None else None
    for line in preview_lines(document):
        voice.say(line)
    return ExitCode.DONE, document


def _tell(report: Any, voice: Voice) -> None:
    voice.say(report.sentence())
    if len(report.chains) > 1:
        for chain in report.chains:
            voice.detail(f"  {chain.armature}: {chain.sentence()}")
    for chain in report.chains:
        for note in chain.notes:
            voice.say(f"  {note}")
    stages = ", ".join(f"{stage} {seconds:.3f} s" for stage, seconds in report.seconds.items())
    voice.detail(f"  {stages}; evaluation {report.evaluation}")
