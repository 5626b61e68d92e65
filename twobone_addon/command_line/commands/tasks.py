"""The commands that run a task or only measure: open the shot, run, print, judge and save, shared by all of them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import bpy

from ...errors import ChainError, SettingError
from ...pipeline.completeness import missing_in_rig, missing_of_chains, what_is_missing
from ...pipeline.plan.completing import active_object, stored_chains, stored_values
from ...pipeline.plan.frame_choice import with_custom_range
from ...pipeline.report.reports import BakeReport, ChainReport, WholeReport, headed
from ...pipeline.run import run
from ...pipeline.task import Task
from ...said import in_english, joined
from ...settings import OPTION, BakeSettings
from ...settings.auditing import AuditSettings
from ...settings.options import ACTIVE, Settings, without_effect
from ...settings.tasks import BakeAllSettings, Table
from ...tasks.all_tasks import TASKS
from ...tasks.audit.task import AUDIT, clips_of
from ...tasks.bake.task import BAKE, INSPECT
from ...tasks.convert.plans import is_converted
from ...tasks.convert.task import CONVERT
from ...tasks.find_contacts.judge import ContactReport
from ...tasks.plant.report.plant_report import missed_by
from ...tasks.switch.switch_report import SwitchedLimbs, SwitchReport
from ..files.shot_files import window_in_context
from ..job import Job
from ..job_values import OF_COMMAND, ONCE
from ..outcomes import ExitCode, Outcome
from ..output import Voice, complain
from ..wanted import NamedSettings, named_in_refusals, wanted_chains
from .dry_run import dry_run_document, dry_run_lines
from .shot import asked_goal, opened, save

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Told:
    """The result of a command whose messages have already been printed."""

    document: Document
    """The report as a JSON document."""
    settings: Sequence[BakeSettings] = ()
    """The effective settings of each chain."""
    missing: list[str] | None = None
    """Sentences about missing things that move the chains; `None` for commands to which that does not matter."""
    missed: Sequence[str] = ()
    """Sentences about the result that make `--strict` fail."""


COLUMNS = ("name", "enabled", "armature", "upper", "lower", "target", "plane", "bend")
"""Columns of the table of stored chains."""

OF_RESULT = ("strict", "max_error", "allow_incomplete")
"""Keys of a job that say which results are good enough; commands that judge their result have the same flags."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The request made by flags and job."""

    arguments: argparse.Namespace
    job: Job | None
    voice: Voice

    @property
    def table(self) -> Table:
        """The option table of the command's task; that of a bake for commands without a task."""
        return OF_COMMAND.get(self.arguments.command, OF_COMMAND["bake"])

    @property
    def max_error(self) -> float | None:
        """Largest acceptable error in world units; `None` for any."""
        given = getattr(self.arguments, "max_error", None)
        return given if given is not None else (self.job.max_error if self.job else None)

    @property
    def is_strict(self) -> bool:
        """Whether to judge the result; false for commands without `--strict`."""
        asked = getattr(self.arguments, "strict", None)
        if asked is None:
            return False
        limits_error = self.max_error is not None and hasattr(self.arguments, "max_error")
        return asked or limits_error or bool(self.job and self.job.strict)

    @property
    def is_dry(self) -> bool:
        """Whether this is a dry run; announces it, except for bakes, which print their own lines."""
        is_dry = bool(getattr(self.arguments, "dry_run", False))
        if is_dry and self.arguments.command != "bake":
            self.voice.say("Dry run, nothing is changed. A run would report:")
        return is_dry

    def chains(self) -> list[NamedSettings]:
        """Return the chains with their settings.

        Settings from a job written for another use are not marked as asked for, so they may have no effect.
        """
        job, is_own_job = self.job, self.job is None or self.job.use == self.table.command
        chains = wanted_chains(self.arguments, job)
        given = {name for group in self.arguments.groups for name in group.values}
        by_flags = (replace(each.settings, asked=each.settings.asked & given) for each in chains)
        if is_own_job:
            return chains
        return [replace(each, settings=settings) for each, settings in zip(chains, by_flags, strict=True)]

    def settings(self, chains: Sequence[NamedSettings] = ()) -> Any:
        """Return the task's settings, flags winning over the job; say which have no effect.

        Raises `SettingError` for contradicting settings, and with `--strict-settings` for those without effect.
        """
        job, table = self.job, self.table
        shared = job.shared if job and not table.of_chains else {}
        given = {**shared, **(job.once if job else {}), **self.arguments.once}
        known = {option.name for option in table.own}
        for name in [name for name in given if name not in known] if job is None or job.use == table.command else ():
            self.voice.say(f"{(OPTION.get(name) or ONCE[name]).label} has no effect: {table.label} does not use it.")
        if job and job.use == table.command:
            for name in OF_RESULT:
                if getattr(job, name) and not hasattr(self.arguments, name):
                    self.voice.say(f'Key "{name}" of the job has no effect: {table.label} does not use it.')
        own = {name: value for name, value in given.items() if name in known}
        if "frame_range" in known:
            own = dict(with_custom_range(bpy.context.scene, own))
        of_chains = {"chains": tuple(each.settings for each in chains)} if table.of_chains else {}
        settings: Settings = table.settings(**own, **of_chains)
        unused = list(without_effect(settings, own).values())
        if unused and (self.arguments.strict_settings or bool(job and job.strict_settings and not table.of_chains)):
            raise SettingError("{reason} Leave it out, or change what it depends on.", reason=joined(unused))
        return settings


def task_command(arguments: argparse.Namespace, voice: Voice) -> Outcome:
    """Run the command on the shot, and save it if the result is good enough."""
    shot = opened(arguments, voice)
    with window_in_context(shot.scene):
        asked = Asked(arguments, shot.job, voice)
        told = COMMANDS[arguments.command](asked)
        code, document = ExitCode.DONE, told.document
        if getattr(arguments, "dry_run", False):
            document = {**document, "dry_run": True}
        if told.missing is not None:
            document = {**document, "incomplete": told.missing}
            allowed = arguments.allow_incomplete or bool(shot.job and shot.job.allow_incomplete)
            for sentence in told.missing:
                (voice.warn if allowed else complain)(sentence)
            code = ExitCode.INCOMPLETE if told.missing and not allowed else code
        if code is ExitCode.DONE and asked.is_strict and told.missed:
            for sentence in told.missed:
                complain(sentence)
            code = ExitCode.STRICT
        writes = hasattr(arguments, "save") and not getattr(arguments, "dry_run", False)
        saved = save(asked_goal(arguments), voice) if writes and code is ExitCode.DONE else None
    return Outcome(code, document, told.settings, shot.source, saved)


def _bake(asked: Asked) -> Told:
    """Bake the chains, or with `--dry-run` report what a bake would do."""
    chains = asked.chains()
    wanted: BakeAllSettings = asked.settings(chains)
    settings, is_dry = list(wanted.chains), asked.arguments.dry_run
    with named_in_refusals(chains):
        report = run(bpy.context.scene, BAKE, wanted, active_object(bpy.context), actions=wanted.actions, dry_run=is_dry)
        if is_dry:
            document = {"refused": [], "notes": []} | dry_run_document(chains, report, wanted.actions)
            goal = asked_goal(asked.arguments)
            document["save"] = str(goal) if goal is not None else None
            lines = list(dry_run_lines(document))
            for line in lines:
                asked.voice.say(line)
            told = {"chains": [{"action": "", **chain} for chain in document["chains"]], "sentence": "; ".join(lines)}
            document = headed("dry_run", document | told)
        else:
            _tell(report, asked.voice)
            document = json.loads(report.to_json())
    missing = what_is_missing if wanted.actions == ACTIVE else missing_of_chains
    largest = None if is_dry else asked.max_error
    return Told(document, settings, missing(settings, document["chains"]), shortcomings(document, largest))


def _report(asked: Asked) -> Told:
    """Measure the existing animation against the chains' targets."""
    chains = asked.chains()
    settings = [chain.settings for chain in chains]
    with named_in_refusals(chains):
        report = run(bpy.context.scene, INSPECT, BakeAllSettings(chains=tuple(settings)), active_object(bpy.context))
    for chain in report.chains:
        asked.voice.say(f"{chain.armature}: {chain.sentence()}")
    document = json.loads(report.to_json()) | {"kind": "inspect"}
    missing = what_is_missing(settings, document["chains"])
    return Told(document, settings, missing, shortcomings(document, asked.max_error))


def _convert(asked: Asked) -> Told:
    """Convert IK to baked chains; with `--again`, a rig that is already converted is no error but a warning."""
    try:
        return replace(_done(CONVERT, asked), settings=[asked.settings().bake()])
    except ChainError as error:
        if not (asked.arguments.again and is_converted(asked.settings().armature, active_object(bpy.context))):
            raise
        warning = f"{error} It is taken for converted already."
        asked.voice.warn(warning)
        empty = json.loads(BakeReport([], {}, "").to_json())
        return Told(empty | {"kind": "convert", "sentence": warning}, [asked.settings().bake()], [])


def _chains(asked: Asked) -> Told:
    """List the stored chains of the scene: print a table, and put every setting into the JSON document."""
    scene = bpy.context.scene
    chains: list[Document] = [
        {"name": chain.name, "enabled": chain.enabled, **stored_values(armature, chain)}
        for armature, chain in stored_chains(scene)
    ]
    rows = [COLUMNS, *(tuple(_cell(chain[column]) for column in COLUMNS) for chain in chains)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    for row in rows if chains else ():
        asked.voice.say("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    if not chains:
        asked.voice.say("No chain is stored in this scene.")
    return Told(headed("chains", {"scene": scene.name, "chains": chains}))


def _cell(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value) or "-"


def _done(task: Task, asked: Asked) -> Told:
    """Run a task, or its dry run."""
    table, chains = task.TABLE, asked.chains() if task.TABLE.of_chains else []
    wanted, active = asked.settings(chains), active_object(bpy.context)
    actions = getattr(wanted, "actions", ACTIVE)
    with named_in_refusals(chains):
        report = run(bpy.context.scene, task, wanted, active, actions=actions, dry_run=asked.is_dry)
    _tell(report, asked.voice)
    document, settings = json.loads(report.to_json()), [each.settings for each in chains]
    missed = [each for each in report.chains if not each.is_on_target] if table.is_strict else []
    missing = None
    if not table.is_of_any_shot:
        names = dict.fromkeys(each.armature or (active.name if active else "") for each in settings or [wanted])
        rigs = (sentence for name in names for sentence in missing_in_rig(name))
        of_chains = table.of_chains and isinstance(report, BakeReport)
        missing = missing_of_chains(settings, document["chains"]) if of_chains else list(rigs)
    return Told(document, settings, missing, [missed_by(each, in_english) for each in missed])


def _audit(asked: Asked) -> Told:
    """Measure clips and report whether each is fine, the worst first."""
    wanted: AuditSettings = asked.settings()
    report = run(bpy.context.scene, AUDIT, wanted, active_object(bpy.context), actions=wanted.actions)
    clips, missed = clips_of(report), []
    asked.voice.say(f"{report.sentence()}")
    for name, clip in clips:
        for said in clip.notes:
            asked.voice.say(f"  {name}{': ' if name else ''}{said.text()}")
        if not clip.is_fine:
            missed.append(f"{clip.armature}{f', {name}' if name else ''}: {clip.sentence()}.")
    missed += [f'"{each.action}" failed: {each.reason.text()}' for each in getattr(report, "refused", ())]
    return Told(json.loads(report.to_json()), (), missing_in_rig(clips[0][1].armature), missed)


COMMANDS: Mapping[str, Callable[[Asked], Told]] = {
    **{task.TABLE.command: partial(_done, task) for task in TASKS},
    "bake": _bake,
    "report": _report,
    "convert": _convert,
    "audit": _audit,
    "chains": _chains,
}


def shortcomings(report: Mapping[str, Any], max_error: float | None) -> list[str]:
    """Return one sentence for each chain and each reason why it is not good enough; empty if all are.

    report : the bake's report as a JSON document
    max_error : largest acceptable error in world units; `None` for any
    """
    found = []
    for chain in report["chains"]:
        name = f"{chain['upper']} to {chain['lower']} of {chain['armature']}"
        missed = chain["too_far"] + chain["too_near"]
        if missed:
            ranges = ", ".join(
                f"{first:g}" if first == last else f"{first:g} to {last:g}" for first, last in chain["out_of_reach"]
            )
            found.append(f"{name}: {missed} of {chain['frames']} frames are out of reach ({ranges}).")
        error = chain.get("max_error")
        if max_error is not None and error is None and chain["reached"]:
            found.append(f"{name}: the error was not measured. Leave --verify on.")
        if max_error is not None and error is not None and error > max_error:
            found.append(f"{name}: the tip is up to {error:.3g} off, more than {max_error:g}.")
    return found


def _tell(report: Any, voice: Voice) -> None:
    """Print the report; with `--verbose` also every chain and the duration of each stage."""
    of_chains: Sequence[ChainReport] = report.chains if isinstance(report, BakeReport) else ()
    entries = report.entries if isinstance(report, BakeReport) else ()
    seconds, evaluation = getattr(report, "seconds", None), getattr(report, "evaluation", "")
    if isinstance(report, SwitchedLimbs):
        for limb in report.limbs:
            voice.say(_switched(limb))
    else:
        armature = f"{report.armature}: " if isinstance(report, ContactReport) else ""
        voice.say(f"{armature}{report.summary.text() if isinstance(report, WholeReport) else report.sentence()}")
    if len(of_chains) > 1:
        for chain, entry in zip(of_chains, entries, strict=True):
            voice.detail(f"  {chain.armature}: {entry.sentence()}")
    for chain in of_chains:
        name = f"{chain.upper} to {chain.lower}: " if len(of_chains) > 1 else ""
        for said in chain.notes:
            voice.say(f"  {name}{said.text()}")
    for said in getattr(report, "notes", ()):
        voice.say(f"  {said.text()}")
    for chain in report.chains if isinstance(report, ContactReport) else ():
        contacts = ", ".join(f"{each.first:g}-{each.last:g} {each.point}" for each in chain.contacts)
        voice.detail(f"  {chain.chain}: {contacts}")
    if seconds is not None:
        stages = ", ".join(f"{stage} {took:.3f} s" for stage, took in seconds.items())
        voice.detail(f"  {stages}; evaluation {evaluation}")


def _switched(report: SwitchReport) -> str:
    name = f"{report.armature}: {report.upper} to {report.lower}"
    if not report.properties and not report.baked:
        return f"{name} is on {report.to} already"
    keyed = f", keyed from {' and from '.join(f'{first:g} to {last:g}' for first, last in report.ranges)}" if report.keys else ""
    moved = f"; joints visibly move by at most {report.max_moved:.3g}" if report.max_moved is not None else ""
    kept = "" if report.baked else "; shows the existing FK keys"
    return f"{name} switched to {report.to}{keyed}{moved}{kept}"
