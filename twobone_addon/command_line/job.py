"""Job files: read and check the shots, outputs, chains and settings that a job names, key by key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..errors import SettingError
from ..pipeline.report.reports import FORMAT
from ..records import replace
from ..settings import BakeSettings
from ..settings.options import shown
from ..tasks.all_tasks import KEYS_LIMBS
from .flags import ChainGroup
from .job_values import (
    OF_COMMAND,
    ONCE,
    ONLY_FOR,
    TAKEN,
    USES,
    WITH_CHAINS,
    JobValues,
    once_options,
    options_for,
    read_job_data,
)
from .outcomes import UsageError

LABEL = "name"
"""Key with the name of a chain, used in messages and in the dry run's report; not a setting."""

OWN_OF_SHOT = ("use", "strict", "max_error", "allow_incomplete")
"""Keys of a job that are no settings and that each shot may override."""

SHOT_KEYS = {"file", "output", "scene", "chains", *OWN_OF_SHOT}
"""Keys of a shot's table that are not settings."""

OWN_KEYS = {
    "$schema", "version", "use", "shots", "output", "in_place", "scene", "stored", "chains",
    "strict", "strict_settings", "switch_first", "allow_incomplete", "max_error",
}  # fmt: skip
"""Keys of a job that are not settings."""


@dataclass(frozen=True, slots=True)
class ShotTable:
    """The table of a job that overrides its values for some shots."""

    file: str
    """File or glob pattern, relative to the job file's folder."""
    output: str = ""
    scene: str = ""
    shared: dict[str, Any] = field(default_factory=dict)
    """Settings that override those of the job and of its chains."""
    chains: tuple[ChainGroup, ...] = ()
    """Chains that replace the job's; empty to keep them."""
    own: dict[str, Any] = field(default_factory=dict)
    """Values of the keys in `OWN_OF_SHOT` that the table has."""


@dataclass(frozen=True, slots=True)
class Job:
    """A checked job file."""

    path: Path
    use: str = "bake"
    """The sub-command to run, one of `USES`. `batch` only."""
    shots: tuple[str, ...] = ()
    """Files or glob patterns, relative to the job file's folder. `batch` only."""
    tables: tuple[ShotTable, ...] = ()
    """Overrides for some of `shots`. `batch` only."""
    output: str = ""
    """Pattern of the output file of each shot. `batch` only."""
    in_place: bool = False
    """Whether to save over the shots themselves. `batch` only."""
    scene: str = ""
    """Name of the scene to work in; empty for the active one."""
    stored: bool = False
    """Whether to use the chains stored in each shot."""
    strict: bool = False
    strict_settings: bool = True
    """Whether to refuse settings that have no effect."""
    switch_first: bool = False
    """Whether to switch limbs that IK poses to FK first."""
    allow_incomplete: bool = False
    """Whether to save even if something that moves the chains is missing."""
    max_error: float | None = None
    once: dict[str, Any] = field(default_factory=dict)
    """Settings that apply to the whole job, by the names in its task's table."""
    shared: dict[str, Any] = field(default_factory=dict)
    """Settings shared by all chains, by their names in `BakeSettings`; for tasks on an armature, by those in the task's table."""
    chains: tuple[ChainGroup, ...] = ()


def load_job(path: Path, use: str = "") -> Job:
    """Read and check a job file; raises `UsageError` naming the file, the key or line, and what to do.

    use : the command that reads the job, and the default of a job without the key "use"; empty to accept any
    """
    data = read_job_data(path)
    own_use = JobValues(path).use_of({"use": use or USES[0]} | dict(data))
    if use not in {"", own_use} and not {use, own_use} <= WITH_CHAINS:
        raise JobValues(path).wrong("use", "is {found}, but this command expects {use}", found=shown(own_use), use=shown(use))
    return _Reader(path, own_use).job(data)


def job_for(job: Job, tables: list[ShotTable]) -> Job:
    """Return the job with the overrides of these tables applied, later ones last."""
    for table in tables:
        chains = table.chains or tuple(replace(chain, values={**chain.values, **table.shared}) for chain in job.chains)
        output, scene = table.output or job.output, table.scene or job.scene
        job = replace(job, shared={**job.shared, **table.shared}, chains=chains, output=output, scene=scene, **table.own)
    # A shot that overrides `use` does not get job-wide settings that only the job's own use has.
    once = {name: value for name, value in job.once.items() if job.use in ONLY_FOR.get(name, {job.use})}
    return replace(job, tables=(), once=once)


def job_text(job: Job) -> str:
    """Return the job for one shot as JSON that `load_job` reads back unchanged; it does not contain the output."""
    left_out = {"path", "shots", "tables", "output", "in_place", "once", "shared", "chains"}
    keys = {key: value for key, value in asdict(job).items() if key not in left_out and value not in ("", None)}
    chains = {"chains": [{LABEL: chain.label, **chain.values} for chain in job.chains]} if job.chains else {}
    return json.dumps({"version": FORMAT, **keys, **job.once, **job.shared, **chains}, indent=2)


class _Reader(JobValues):
    """Builds a `Job` from the data of a job file; its methods raise `UsageError`."""

    def job(self, data: Mapping[str, Any]) -> Job:
        version = data.get("version", FORMAT)
        if version != FORMAT or isinstance(version, bool):
            what = "is {version}. This add-on reads jobs of version {known}"
            raise self.wrong("version", what, version=shown(version), known=FORMAT)
        shots, tables = self._shots(data)
        once, shared = self._once(data)
        job = Job(
            path=self.path,
            use=self.use,
            shots=shots,
            tables=tables,
            output=self.place(self.text(data, "output"), "output"),
            in_place=self.switch(data, "in_place"),
            scene=self.text(data, "scene"),
            stored=self.switch(data, "stored"),
            strict=self.switch(data, "strict"),
            strict_settings=self.switch(data, "strict_settings", default=True),
            switch_first=self.switch(data, "switch_first"),
            allow_incomplete=self.switch(data, "allow_incomplete"),
            max_error=self.distance(data, "max_error"),
            once=once,
            shared=self.settings(shared, "", OWN_KEYS | once_options(self.use).keys()),
            chains=self._chains(data, ""),
        )
        self._refuse_contradictions(job)
        return job

    def _once(self, data: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the checked job-wide settings, and the remaining, unchecked settings of the chains or the armature."""
        use = self.use
        accepted = {**once_options(use)} | {name: ONCE[name] for name, uses in TAKEN.items() if use in uses and name in ONCE}
        settings = {key: value for key, value in data.items() if key not in OWN_KEYS}
        for key in settings.keys() & ONLY_FOR.keys() - accepted.keys() - options_for(use).keys():
            if settings.pop(key):
                raise self.wrong(key, 'is not valid for use = "{use}". Remove it, or correct "use"', use=use)
        once = {key: settings.pop(key) for key in settings.keys() & accepted.keys()}
        given = {key: value for key, value in once.items() if value != ""}  # An empty text counts as not given.
        return self.settings(given, "", OWN_KEYS, accepted), settings

    def _shots(self, data: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[ShotTable, ...]]:
        """Return the files or patterns of all shots, and those entries that are tables."""
        entries = data.get("shots", [])
        if not isinstance(entries, list) or not all(
            (isinstance(entry, str) and entry) or isinstance(entry, dict) for entry in entries
        ):
            what = 'is {found}. Use a list of texts, such as ["shots/*.blend"], or of tables with "file"'
            raise self.wrong("shots", what, found=shown(entries))
        files, tables = [], []
        for number, entry in enumerate(entries):
            if isinstance(entry, dict):
                tables.append(self._shot(entry, f"shots[{number}]"))
            files.append(tables[-1].file if isinstance(entry, dict) else self.place(entry, "shots"))
        return tuple(files), tuple(tables)

    def _shot(self, entry: Mapping[str, Any], where: str) -> ShotTable:
        file = self.text(entry, "file")
        if not file:
            raise self.wrong(f"{where}.file", 'is missing. Name a file or a pattern, such as "shots/*.blend"')
        settings = {key: value for key, value in entry.items() if key not in SHOT_KEYS}
        return ShotTable(
            file=self.place(file, f"{where}.file"),
            output=self.place(self.text(entry, "output"), f"{where}.output"),
            scene=self.text(entry, "scene"),
            shared=self.settings(settings, f"{where}.", SHOT_KEYS),
            chains=self._chains(entry, f"{where}."),
            own=self._overrides(entry, where),
        )

    def _overrides(self, entry: Mapping[str, Any], where: str) -> dict[str, Any]:
        """Return the checked values of the keys in `OWN_OF_SHOT` that a shot's table has."""
        found: dict[str, Any] = {key: self.switch(entry, key) for key in ("strict", "allow_incomplete") if key in entry}
        if "max_error" in entry:
            found["max_error"] = self.distance(entry, "max_error")
        if "use" in entry:
            found["use"] = self.use_of(entry)
            if found["use"] != self.use and not {found["use"], self.use} <= WITH_CHAINS:
                raise self.wrong(
                    f"{where}.use", "is {use}, with other settings than the job's. Use two jobs", use=shown(found["use"])
                )
        return found

    def _chains(self, data: Mapping[str, Any], prefix: str) -> tuple[ChainGroup, ...]:
        chains = []
        for number, entry in enumerate(self.tables(data, "chains")):
            where, label = f"{prefix}chains[{number}]", entry.get(LABEL, "")
            if not isinstance(label, str):
                raise self.wrong(f"{where}.{LABEL}", "is {label}. Use a string", label=shown(label))
            settings = {key: value for key, value in entry.items() if key != LABEL}
            chains.append(ChainGroup(label, self.settings(settings, f"{where}.", {LABEL})))
        return tuple(chains)

    def _refuse_contradictions(self, job: Job) -> None:
        """Raise `UsageError` for keys that exclude each other, and for settings that contradict each other."""
        if job.stored and (job.chains or any(table.chains for table in job.tables)):
            raise self.wrong("stored", 'cannot be combined with "chains". Keep one of them')
        if job.output and job.in_place:
            raise self.wrong("in_place", 'cannot be combined with "output". Keep one of them')
        is_there = {"stored": job.stored, "chains": job.chains or any(table.chains for table in job.tables)}
        is_there["switch_first"] = job.switch_first
        keying = {command for command, table in OF_COMMAND.items() if table.task in KEYS_LIMBS}
        only_for = {"stored": WITH_CHAINS, "chains": WITH_CHAINS, "switch_first": keying}
        for key in [key for key, uses in only_for.items() if is_there[key] and job.use not in uses]:
            raise self.wrong(key, 'is not valid for use = "{use}". Remove it, or correct "use"', use=job.use)
        for where, variant in (("", job), *((f' for "{table.file}"', job_for(job, [table])) for table in job.tables)):
            for number, group in enumerate(variant.chains or (ChainGroup(""),)):
                place = f', key "chains[{number}]"{where}' if variant.chains else where
                values = {**variant.shared, **group.values}
                if {"frame_start", "frame_end"} <= values.keys():  # Both frames together imply a custom range.
                    values = {"frame_range": "CUSTOM", **values}
                try:
                    if self.use in WITH_CHAINS:
                        BakeSettings(**values)
                    elif self.use in OF_COMMAND:
                        OF_COMMAND[self.use].settings(**values)
                except SettingError as error:
                    raise UsageError(
                        'Job "{path}"{place}: {reason}', path=self.path, place=place, reason=error.sentence
                    ) from error
