"""`bake` and `report`: open, gather, do, judge, save."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import bpy

from ..baking.bake import bake
from ..baking.inspecting import inspect
from ..baking.rehearsing import rehearse
from ..baking.report import BakeReport
from .fingerprints import linked_contents
from .jobs import Job, load_job
from .outcomes import ExitCode
from .output import Voice, complain
from .preview import preview_document, preview_lines
from .shot_files import open_shot, save_goal, save_shot, unrun_scripts, window_in_context
from .strictness import shortcomings
from .text_files import write_text
from .wanted import active_object, settings_of, wanted_chains

Document = dict[str, Any]


def bake_command(arguments: argparse.Namespace, voice: Voice) -> tuple[ExitCode, Document]:
    """Bake the chains, or with `--dry-run` say what that would do. Returns exit code and report."""
    job = opened(arguments, voice)
    if arguments.linked is not None:
        write_text(arguments.linked, json.dumps(linked_contents(), indent=2) + "\n")
    with window_in_context():
        return _bake(arguments, job, voice)


def _bake(arguments: argparse.Namespace, job: Job | None, voice: Voice) -> tuple[ExitCode, Document]:
    chains = settings_of(wanted_chains(arguments, job))
    goal = asked_goal(arguments)
    if arguments.dry_run:
        return _dry_run(chains, voice, goal)
    settings = [chain.settings for chain in chains]
    report = bake(bpy.context.scene, settings, active_object())
    tell(report, voice)
    document = json.loads(report.to_json())
    code = judged(document, arguments, job)
    if code is ExitCode.DONE:
        save(goal, voice)
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
    job = load_job(arguments.job) if getattr(arguments, "job", None) else None
    open_shot(arguments.file, scripts=arguments.scripts)
    kept_from_running = unrun_scripts()
    if kept_from_running:
        voice.warn(f"Scripts in this file did not run ({kept_from_running}). Drivers may be wrong: see --scripts.")
    return job


def asked_goal(arguments: argparse.Namespace) -> Path | None:
    """The file that `--save` means; `None` without it. Raises where it cannot be written."""
    return save_goal(arguments.save) if arguments.save is not None else None


def save(goal: Path | None, voice: Voice) -> None:
    """Save the shot as `goal`, if there is one, and say so."""
    if goal is not None:
        save_shot(goal)
        voice.say(f'Saved "{goal}"')


def judged(document: Document, arguments: argparse.Namespace, job: Job | None) -> ExitCode:
    """`STRICT` where strictness was asked for and not met, each reason said."""
    max_error = arguments.max_error if arguments.max_error is not None else (job.max_error if job else None)
    if not (arguments.strict or max_error is not None or (job and job.strict)):
        return ExitCode.DONE
    found = shortcomings(document, max_error)
    for sentence in found:
        complain(sentence)
    return ExitCode.STRICT if found else ExitCode.DONE


def _dry_run(chains: list[Any], voice: Voice, goal: Path | None) -> tuple[ExitCode, Document]:
    rehearsal = rehearse(bpy.context.scene, [chain.settings for chain in chains], active_object())
    document = preview_document([chain.label for chain in chains], rehearsal)
    document["save"] = str(goal) if goal is not None else None
    for line in preview_lines(document):
        voice.say(line)
    return ExitCode.DONE, document


def tell(report: BakeReport, voice: Voice) -> None:
    """Say what became of each chain, and with `--verbose` how long it took."""
    voice.say(report.sentence())
    if len(report.chains) > 1:
        for chain in report.chains:
            voice.detail(f"  {chain.armature}: {chain.sentence()}")
    for chain in report.chains:
        for note in chain.notes:
            voice.say(f"  {note}")
    stages = ", ".join(f"{stage} {seconds:.3f} s" for stage, seconds in report.seconds.items())
    voice.detail(f"  {stages}; evaluation {report.evaluation}")
