"""The commands that open a shot: what is asked of them, what they do and print, and what becomes of the shot."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy

from ..desk.doing import carried_out
from ..desk.judging import shortcomings
from ..desk.meant import Chains, Meant, chains_given, chains_in_scope, meant
from ..desk.shapes import ContentOfFile
from ..errors import ChainError, FileError, SettingError
from ..pipeline.completeness import change_by_saving, lost_libraries, missing_in_rig, missing_of_chains, what_is_missing
from ..pipeline.plan.stored import active_armature, stored_chains, stored_values
from ..pipeline.report.reports import FORMAT, BakeReport, report_together, skipped_chains
from ..records import replace
from ..said import joined
from ..settings import OPTION, BakeSettings
from ..settings.options import ACTIVE, OptionKind, Settings, without_effect
from ..settings.tasks import Table
from ..tasks.audit import clips_of
from ..tasks.bake import INSPECT
from ..tasks.convert.plans import is_converted
from ..tasks.convert.task import ConvertReport
from .batch.shots import ShotRecord, write_record
from .exit_codes import ExitCode
from .flags import ChainGroup, flag
from .job import OF_COMMAND, ONCE, USES, Job, load_job
from .outcomes import Outcome, UsageError
from .output import Voice, complain
from .outputs import is_same, refuse_shared_outputs, refuse_used_outputs
from .provenance import source_file
from .shot_files import open_shot, save_shot, source_of, window_in_context

BONES = ("upper", "lower", "tip", "tip_end")
"""Settings that name a chain's bones, so stored chains cannot share them."""

STORED = {"ACTIVE", "SELECTED", "SCENE"}
"""Values of `scope` that select stored chains."""

TWO_CHAINS = 2
"""Number of groups with the shared one and a single chain, whose flags cannot be meant for another chain."""


def wanted_chains(arguments: argparse.Namespace, job: Job | None, table: Table) -> Chains:
    """Return every chain given by flags or job, or, if requested, stored in the shot.

    Flags override the job; within each, a chain's own settings override the shared ones. Raises a `TwoBoneError` if settings
    contradict each other or name something that the shot does not have.
    """
    shared_flags, *flag_chains = arguments.groups
    shared_job = job.shared if job else {}
    once = {**(job.once if job else {}), **arguments.once}
    scope = once.get("scope", "")
    stored = arguments.stored or bool(job and job.stored) or scope in STORED
    if flag_chains and job and job.chains:
        raise UsageError('Chains are given both by --chain and by job "{path}". Give them in one place.', path=job.path)
    if stored and (flag_chains or (job and job.chains)):
        raise UsageError("--stored cannot be combined with --chain or a job's chains.")
    named = [flag(name) for name in BONES if name in shared_flags.values]
    named += [f'"{name}"' for name in BONES if name in shared_job]
    if stored and named:
        raise UsageError(
            "Stored chains have bones of their own and cannot be combined with {flags}. Leave one of them out.",
            flags=", ".join(named),
        )
    if flag_chains:
        chains = [ChainGroup(group.label, {**shared_job, **shared_flags.values, **group.values}) for group in flag_chains]
    else:
        groups = job.chains if job and job.chains else (ChainGroup(""),)
        chains = [ChainGroup(group.label, {**shared_job, **group.values, **shared_flags.values}) for group in groups]
    for group in chains:
        BakeSettings(**group.values)  # Raises `SettingError` for contradicting settings.
    if stored:
        complete = chains_in_scope(bpy.context, table, scope if scope in STORED else "SCENE", chains[0].values)
    else:
        groups = [(group.label, group.values) for group in chains]
        complete = chains_given(bpy.context, table, groups, once.get("chain", ""))
    asked = {name for chain in complete.settings for name in chain.asked}
    for name in sorted(asked) if arguments.strict_settings or (job and job.strict_settings) else ():
        having = [chain for chain in complete.settings if name in chain.asked]
        reasons = [without_effect(settings, [name]).get(name) for settings in having]
        # What makes a difference to one of the chains that share it is no mistake.
        if reasons[0] is not None and all(reasons):
            raise SettingError("{reason} Leave it out, or change what it depends on.", reason=reasons[0])
    return complete


def of_last_chain(arguments: argparse.Namespace) -> str:
    """Return a sentence naming the flags that only the last of several chains has; empty if there are none."""
    groups = getattr(arguments, "groups", [])
    if len(groups) <= TWO_CHAINS:
        return ""
    *others, last = groups
    alone = [flag(name) for name in last.values if not any(name in group.values for group in others)]
    if not alone:
        return ""
    return f'Only chain "{last.label}" has {", ".join(alone)}. What all chains share stands before the first --chain.'


def opened(arguments: argparse.Namespace, voice: Voice) -> Asked:
    """Read the job, then open the shot and refuse outputs that it uses; the job comes first because it is quicker to check."""
    use = arguments.command if arguments.command in USES else USES[0]
    job = load_job(arguments.job, use) if getattr(arguments, "job", None) else None
    hint = of_last_chain(arguments)
    if hint:
        voice.say(hint)
    path = source_of(arguments.file)
    source = source_file(path) if arguments.report is not None else None
    open_shot(arguments.file, scripts=arguments.scripts)
    scene = arguments.scene or (job.scene if job else "")
    if scene and scene not in bpy.data.scenes:
        known = ", ".join(f'"{present.name}"' for present in bpy.data.scenes)
        raise FileError('Scene "{scene}" is not in this file. Use one that is ({known}).', scene=scene, known=known)
    voice.stop.obey()
    asked = Asked(arguments, job, voice, scene, source)
    goal, used = asked.goal, bpy.utils.blend_paths(absolute=True, packed=True)  # Libraries, caches, images, sounds.
    refuse_used_outputs([str(path) for path in (arguments.report, goal) if path is not None], map(Path, used))
    if goal is not None and path is not None and (change := change_by_saving()):
        if is_same(goal, path) and not arguments.upgrade:
            raise FileError(
                'Shot "{source}": {change} Use that Blender, save to another file, or allow it with --upgrade.',
                source=path,
                change=change,
            )
        voice.warn(change)
    if bpy.app.autoexec_fail:
        voice.warn(f"Scripts in this file did not run ({bpy.app.autoexec_fail_message}). Drivers may be wrong: see --scripts.")
    for sentence in lost_libraries():
        voice.warn(sentence)
    return asked


def save(asked: Asked) -> Path | None:
    """Save the shot as asked, say so and return the file; without `--save` only say that the result is not saved."""
    arguments, goal, voice = asked.arguments, asked.goal, asked.voice
    voice.stop.obey()
    if goal is None:
        voice.say("Not saved: --save keeps the result.")
        return None

    def note(content: str) -> None:
        if arguments.record is not None:
            known = {"output_sha256": content, "earlier_sha256": arguments.expects}
            write_record(Path(arguments.record), ShotRecord(str(arguments.file or goal), str(goal), **known))

    for sentence in save_shot(arguments.lock, arguments.expects, note):
        voice.warn(sentence)
    voice.say(f'Saved "{goal}"')
    return goal


@dataclass(frozen=True, slots=True)
class Told:
    """The result of a command whose messages have already been printed."""

    document: dict[str, Any]
    """The report as a JSON document."""
    settings: Sequence[BakeSettings] = ()
    """The effective settings of each chain."""
    missing: list[str] | None = None
    """Sentences about missing things that move the chains; `None` for commands to which that does not matter."""
    missed: Sequence[str] = ()
    """Sentences about the result that make `--strict` fail."""
    request: Meant | None = None
    """What was meant; `None` for commands that need not know it any more."""


COLUMNS = ("name", "enabled", "armature", "upper", "lower", "target", "plane", "bend")
"""Columns of the table of stored chains."""

OF_RESULT = ("strict", "max_error", "allow_incomplete")
"""Keys of a job that say which results are good enough; commands that judge their result have the same flags."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The request made by flags and job, and the opened shot that it is about."""

    arguments: argparse.Namespace
    job: Job | None
    voice: Voice
    scene: str
    """Name of the scene to work in; empty for the active one."""
    source: ContentOfFile | None
    """Path and SHA-256 of the shot from `source_file`; `None` if nothing needs them."""

    @property
    def goal(self) -> Path | None:
        """The file to save to; `None` without `--save`."""
        return self.arguments.lock and self.arguments.lock.goal

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
        """Whether this is a dry run."""
        return bool(getattr(self.arguments, "dry_run", False))

    def chains(self) -> Chains | None:
        """Return the chains with their settings; `None` for a task that is about an armature.

        Settings from a job written for another use are not marked as asked for, so they may have no effect.
        """
        job, table = self.job, self.table
        if not table.of_chains:
            return None
        chains = wanted_chains(self.arguments, job, table)
        if job is None or job.use == table.command:
            return chains
        given = {name for group in self.arguments.groups for name in group.values}
        return replace(chains, settings=tuple(replace(settings, asked=settings.asked & given) for settings in chains.settings))

    def request(self) -> Meant:
        """Return what is meant, flags winning over the job; say which settings have no effect.

        Raises `SettingError` for contradicting settings, and with `--strict-settings` for those without effect.
        """
        job, table = self.job, self.table
        chains = self.chains()
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
        request = meant(bpy.context, table, own, chains)
        self._refuse_shared_files(request.settings)
        unused = list(without_effect(request.settings, own).values())
        if unused and (self.arguments.strict_settings or bool(job and job.strict_settings and job.use == table.command)):
            raise SettingError("{reason} Leave it out, or change what it depends on.", reason=joined(unused))
        return request

    def done(self) -> tuple[Meant, Any]:
        """Carry out what is meant, and keep the report in the shot; return both. Raises a `TwoBoneError`."""
        is_dry = self.is_dry
        if is_dry and self.arguments.command != "bake":  # Bakes print their own lines.
            self.voice.say("Dry run, nothing is changed. A run would report:")
        switch_first = getattr(self.arguments, "switch_first", False) or bool(self.job and self.job.switch_first)
        return carried_out(bpy.context, self.request, dry_run=is_dry, switch_first=switch_first)

    def _refuse_shared_files(self, settings: Settings) -> None:
        """Refuse files of settings that are the shot, the job or another output; raises `UsageError`."""
        named = [(option, getattr(settings, option.name)) for option in self.table.own if option.kind is OptionKind.PATH]
        paths = {flag(option.name): (bpy.path.abspath(path), option.is_written) for option, path in named if path}
        if not paths:
            return
        arguments = self.arguments
        flags = {"--report": arguments.report, "--save": self.goal}
        outputs = {name: str(path) for name, path in flags.items() if path is not None}
        inputs = {"--file": source_of(arguments.file), "--job": self.job.path if self.job else None}
        refuse_shared_outputs(
            outputs | {name: path for name, (path, is_written) in paths.items() if is_written},
            {name: path for name, path in inputs.items() if path is not None}
            | {name: Path(path) for name, (path, is_written) in paths.items() if not is_written},
        )


def task_command(arguments: argparse.Namespace, voice: Voice) -> Outcome:
    """Run the command on the shot, and save it if the result is good enough."""
    asked = opened(arguments, voice)
    with window_in_context(asked.scene):
        told = COMMANDS[arguments.command](asked)
        code, document = ExitCode.DONE, told.document
        if getattr(arguments, "dry_run", False):
            document = {**document, "dry_run": True}
        if told.missing is not None:
            document = {**document, "incomplete": told.missing}
            allowed = arguments.allow_incomplete or bool(asked.job and asked.job.allow_incomplete)
            for sentence in told.missing:
                (voice.warn if allowed else complain)(sentence)
            code = ExitCode.INCOMPLETE if told.missing and not allowed else code
        if code is ExitCode.DONE and asked.is_strict and told.missed:
            for sentence in told.missed:
                complain(sentence)
            code = ExitCode.STRICT
        writes = hasattr(arguments, "save") and not getattr(arguments, "dry_run", False)
        saved = save(asked) if writes and code is ExitCode.DONE else None
    return Outcome(code, document, told.settings, asked.source, saved)


def _bake(asked: Asked) -> Told:
    """Bake the chains, or with `--dry-run` report what a bake would do."""
    request, report = asked.done()
    settings = request.chains.settings
    if asked.is_dry and asked.goal is not None:
        report = replace(report, save=str(asked.goal))
    _tell(report, asked.voice)
    document = report.to_dict()
    missing = what_is_missing if request.actions == ACTIVE else missing_of_chains
    largest = None if asked.is_dry else asked.max_error
    return Told(document, settings, missing(settings, document["chains"]), shortcomings(asked.table, report, max_error=largest))


def _report(asked: Asked) -> Told:
    """Measure the existing animation against the chains' targets."""
    request, report = carried_out(bpy.context, lambda: meant(bpy.context, asked.table, {}, asked.chains()), task=INSPECT)
    settings = request.chains.settings
    for chain in report.chains:
        asked.voice.say(f"{chain.armature}: {chain.sentence}")
    for said in skipped_chains(report.skipped):
        asked.voice.say(said.text())
    document = replace(report, kind="inspect").to_dict()
    missing = what_is_missing(settings, document["chains"])
    return Told(document, settings, missing, shortcomings(asked.table, report, max_error=asked.max_error))


def _convert(asked: Asked) -> Told:
    """Convert IK to baked chains; with `--again`, a rig that is already converted is no error but a warning."""
    try:
        told = _done(asked)
    except ChainError as error:
        settings = asked.request().settings
        if not (asked.arguments.again and is_converted(settings.armature, active_armature(bpy.context))):
            raise
        warning = f"{error} It is taken for converted already."
        asked.voice.warn(warning)
        empty = report_together(ConvertReport, [], kind="convert").to_dict()
        return Told(empty | {"sentence": warning}, [settings.bake()], [])
    return replace(told, settings=[told.request.settings.bake()] if told.request is not None else [])


def _chains(asked: Asked) -> Told:
    """List the stored chains of the scene: print a table, and put every setting into the JSON document."""
    scene = bpy.context.scene
    chains: list[dict[str, Any]] = [
        {"name": chain.name, "enabled": chain.enabled, **stored_values(chain.id_data, chain)} for chain in stored_chains(scene)
    ]
    words = {True: "yes", False: "no", "": "-"}
    rows = [COLUMNS, *(tuple(str(words.get(chain[column], chain[column])) for column in COLUMNS) for chain in chains)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    for row in rows if chains else ():
        asked.voice.say("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    if not chains:
        asked.voice.say("No chain is stored in this scene.")
    return Told({"kind": "chains", "version": FORMAT, "scene": scene.name, "chains": chains})


def _done(asked: Asked) -> Told:
    """Run a task, or its dry run."""
    request, report = asked.done()
    _tell(report, asked.voice)
    table, settings, active = request.table, request.chains.settings, request.active
    document = report.to_dict()
    missing = None
    if not table.is_of_any_shot:
        names = dict.fromkeys(
            chain_settings.armature or (active.name if active else "") for chain_settings in settings or [request.settings]
        )
        rigs = (sentence for name in names for sentence in missing_in_rig(name))
        of_chains = table.of_chains and isinstance(report, BakeReport)
        missing = missing_of_chains(settings, document["chains"]) if of_chains else list(rigs)
    return Told(document, settings, missing, shortcomings(table, report), request)


def _audit(asked: Asked) -> Told:
    """Measure clips and report whether each is fine, the worst first."""
    _, report = asked.done()
    clips = clips_of(report)
    asked.voice.say(report.sentence)
    for clip in clips:
        for said in clip.notes:
            asked.voice.say(f"  {clip.action}{': ' if clip.action else ''}{said}")
    return Told(report.to_dict(), (), missing_in_rig(clips[0].armature), shortcomings(asked.table, report))


COMMANDS: Mapping[str, Callable[[Asked], Told]] = {
    **dict.fromkeys(OF_COMMAND, _done),
    "bake": _bake,
    "report": _report,
    "convert": _convert,
    "audit": _audit,
    "chains": _chains,
}


def _tell(report: Any, voice: Voice) -> None:
    """Print the report; with `--verbose` also its details and the duration of each stage."""
    for line in report.lines():
        voice.say(line)
    for line in report.details():
        voice.detail(line)
    stages = ", ".join(f"{stage} {took:.3f} s" for stage, took in report.seconds.items())
    voice.detail(f"  {stages}" + (f"; evaluation {report.evaluation}" if report.evaluation else ""))
