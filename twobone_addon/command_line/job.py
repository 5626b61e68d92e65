"""What a job file says: which shots, where they go, which chains. Its schema is checked here, key by key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ..errors import SettingError
from ..pipeline.report.reports import FORMAT
from ..settings.options import shown
from .flags import ChainGroup
from .job_values import (
    ONCE,
    ONLY_FOR,
    TAKEN,
    USES,
    WITH_CHAINS,
    JobValues,
    once_options,
    options_for,
    read_job_data,
    refuse_contradicting,
)
from .outcomes import UsageError

LABEL = "name"
"""Key of a chain's table that is no setting: what reports of the dry run call it."""

OWN_OF_SHOT = ("use", "strict", "max_error", "allow_incomplete")
"""Keys of a job that one of its shots may have instead."""

SHOT_KEYS = {"file", "output", "scene", "chains", *OWN_OF_SHOT}
"""Keys of a shot's table that are no settings."""

OWN_KEYS = {
    "$schema", "version", "use", "shots", "output", "in_place", "scene", "stored", "chains",
    "strict", "strict_settings", "allow_incomplete", "max_error",
}  # fmt: skip
"""Keys of a job that are no settings."""


@dataclass(frozen=True, slots=True)
class ShotTable:
    """What is different for some shots."""

    file: str
    """File or glob pattern, relative to the job file's folder."""
    output: str = ""
    scene: str = ""
    shared: dict[str, Any] = field(default_factory=dict)
    """Settings that win over those of the job and of its chains."""
    chains: tuple[ChainGroup, ...] = ()
    """Instead of the job's chains."""
    own: dict[str, Any] = field(default_factory=dict)
    """Those of `OWN_OF_SHOT` that it has."""


@dataclass(frozen=True, slots=True)
class Job:
    """A checked job file."""

    path: Path
    use: str = "bake"
    """One of `USES`. `batch` only."""
    shots: tuple[str, ...] = ()
    """Files or glob patterns, relative to the job file's folder. `batch` only."""
    tables: tuple[ShotTable, ...] = ()
    """Shots, among those above, that differ from the others. `batch` only."""
    output: str = ""
    """Pattern of the file that each shot is saved as. `batch` only."""
    in_place: bool = False
    """Save over the shots themselves. `batch` only."""
    scene: str = ""
    """Name of the scene to work in; empty for the one that is open."""
    stored: bool = False
    """Bake the chains that are stored in each shot."""
    strict: bool = False
    strict_settings: bool = True
    """Refuse settings that make no difference."""
    allow_incomplete: bool = False
    """Save also where something that moves the chains is missing."""
    max_error: float | None = None
    once: dict[str, Any] = field(default_factory=dict)
    """Settings that it has once, by the names of its task's."""
    shared: dict[str, Any] = field(default_factory=dict)
    """Settings for all chains, by the names of `BakeSettings`; of what is about an armature, by the names of its task's."""
    chains: tuple[ChainGroup, ...] = ()


def load_job(path: Path, use: str = "") -> Job:
    """Read and check a job file; raises `UsageError` naming the file, the key or line, and what to do.

    use : what it is read for, and so what it is for where it does not say so itself; empty for whatever it says
    """
    data = read_job_data(path)
    found = JobValues(path).choice({"use": use or USES[0]} | dict(data), "use", USES)
    if use not in {"", found} and not {use, found} <= WITH_CHAINS:
        raise JobValues(path).wrong("use", "is {found}, but this command expects {use}", found=shown(found), use=shown(use))
    return _Reader(path, JobValues(path, found)).job(data)


def job_for(job: Job, tables: list[ShotTable]) -> Job:
    """The job as it is for a shot that these tables are about; later ones win."""
    for table in tables:
        chains = table.chains or tuple(replace(chain, values={**chain.values, **table.shared}) for chain in job.chains)
        output, scene = table.output or job.output, table.scene or job.scene
        job = replace(job, shared={**job.shared, **table.shared}, chains=chains, output=output, scene=scene, **table.own)
    # What another use has once is not for a shot with a use of its own.
    once = {name: value for name, value in job.once.items() if job.use in ONLY_FOR.get(name, {job.use})}
    return replace(job, tables=(), once=once)


def job_text(job: Job) -> str:
    """A job for one shot, as JSON that `load_job` reads back as the same; where it goes is not in it."""
    left_out = {"path", "shots", "tables", "output", "in_place", "once", "shared", "chains"}
    own = {key: value for key, value in asdict(job).items() if key not in left_out and value not in ("", None)}
    chains = {"chains": [{LABEL: chain.label, **chain.values} for chain in job.chains]} if job.chains else {}
    return json.dumps({"version": FORMAT, **own, **job.once, **job.shared, **chains}, indent=2)


@dataclass(frozen=True, slots=True)
class _Reader:
    path: Path
    values: JobValues

    def job(self, data: Mapping[str, Any]) -> Job:
        self._refuse_other_version(data)
        values = self.values
        shots, tables = self._shots(data)
        once, shared = self._once(data)
        job = Job(
            path=self.path,
            use=values.use,
            shots=shots,
            tables=tables,
            output=values.place(values.text(data, "output"), "output"),
            in_place=values.switch(data, "in_place"),
            scene=values.text(data, "scene"),
            stored=values.switch(data, "stored"),
            strict=values.switch(data, "strict"),
            strict_settings=values.switch(data, "strict_settings", default=values.use in WITH_CHAINS),
            allow_incomplete=values.switch(data, "allow_incomplete"),
            max_error=values.distance(data, "max_error"),
            once=once,
            shared=values.settings(shared, "", OWN_KEYS | once_options(self.values.use).keys()),
            chains=self._chains(data, ""),
        )
        self._refuse_contradictions(job)
        return job

    def _once(self, data: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The settings that the job has once, checked, and the keys that are left for the settings of what it is about."""
        use, values = self.values.use, self.values
        taken = {**once_options(use)} | {name: ONCE[name] for name, uses in TAKEN.items() if use in uses and name in ONCE}
        own = {key: value for key, value in data.items() if key not in OWN_KEYS}
        for key in own.keys() & ONLY_FOR.keys() - taken.keys() - options_for(use).keys():
            if own.pop(key):
                raise values.wrong(key, 'is not valid for use = "{use}". Remove it, or correct "use"', use=use)
        # A key whose text is empty is one that nobody has filled in.
        once = {key: own.pop(key) for key in own.keys() & taken.keys()}
        given = {key: value for key, value in once.items() if value != ""}
        return values.settings(given, "", OWN_KEYS, taken), own

    def _shots(self, data: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[ShotTable, ...]]:
        """Files or patterns of all shots, and the tables among them."""
        entries = data.get("shots", [])
        if not isinstance(entries, list) or not all(
            (isinstance(entry, str) and entry) or isinstance(entry, dict) for entry in entries
        ):
            what = 'is {found}. Use a list of texts, such as ["shots/*.blend"], or of tables with "file"'
            raise self.values.wrong("shots", what, found=shown(entries))
        files, tables = [], []
        for number, entry in enumerate(entries):
            if isinstance(entry, dict):
                tables.append(self._shot(entry, f"shots[{number}]"))
            files.append(tables[-1].file if isinstance(entry, dict) else self.values.place(entry, "shots"))
        return tuple(files), tuple(tables)

    def _shot(self, entry: Mapping[str, Any], where: str) -> ShotTable:
        values = self.values
        file = values.text(entry, "file")
        if not file:
            raise values.wrong(f"{where}.file", 'is missing. Name a file or a pattern, such as "shots/*.blend"')
        settings = {key: value for key, value in entry.items() if key not in SHOT_KEYS}
        return ShotTable(
            file=values.place(file, f"{where}.file"),
            output=values.place(values.text(entry, "output"), f"{where}.output"),
            scene=values.text(entry, "scene"),
            shared=values.settings(settings, f"{where}.", SHOT_KEYS),
            chains=self._chains(entry, f"{where}."),
            own=self._own(entry, where),
        )

    def _own(self, entry: Mapping[str, Any], where: str) -> dict[str, Any]:
        values = self.values
        found: dict[str, Any] = {key: values.switch(entry, key) for key in ("strict", "allow_incomplete") if key in entry}
        if "max_error" in entry:
            found["max_error"] = values.distance(entry, "max_error")
        if "use" in entry:
            found["use"] = values.choice(entry, "use", USES)
            if found["use"] != values.use and not {found["use"], values.use} <= WITH_CHAINS:
                raise values.wrong(
                    f"{where}.use", "is {use}, with other settings than the job's. Use two jobs", use=shown(found["use"])
                )
        return found

    def _chains(self, data: Mapping[str, Any], prefix: str) -> tuple[ChainGroup, ...]:
        tables = self.values.tables(data, "chains")
        return tuple(self._chain(entry, f"{prefix}chains[{number}]") for number, entry in enumerate(tables))

    def _chain(self, entry: Mapping[str, Any], where: str) -> ChainGroup:
        label = entry.get(LABEL, "")
        if not isinstance(label, str):
            raise self.values.wrong(f"{where}.{LABEL}", "is {label}. Use a string", label=shown(label))
        settings = {key: value for key, value in entry.items() if key != LABEL}
        return ChainGroup(label, self.values.settings(settings, f"{where}.", {LABEL}))

    def _refuse_other_version(self, data: Mapping[str, Any]) -> None:
        version = data.get("version", FORMAT)
        if version != FORMAT or isinstance(version, bool):
            raise self.values.wrong(
                "version", "is {version}. This add-on reads jobs of version {known}", version=shown(version), known=FORMAT
            )

    def _refuse_contradictions(self, job: Job) -> None:
        """Refuse keys that exclude each other, and settings that no bake can have together."""
        if job.stored and (job.chains or any(table.chains for table in job.tables)):
            raise self.values.wrong("stored", 'cannot be combined with "chains". Keep one of them')
        if job.output and job.in_place:
            raise self.values.wrong("in_place", 'cannot be combined with "output". Keep one of them')
        is_there = {"stored": job.stored, "chains": job.chains or any(table.chains for table in job.tables)}
        for key in [key for key in is_there if is_there[key] and job.use not in WITH_CHAINS]:
            raise self.values.wrong(key, 'is not valid for use = "{use}". Remove it, or correct "use"', use=job.use)
        for where, one in (("", job), *((f' for "{table.file}"', job_for(job, [table])) for table in job.tables)):
            for number, group in enumerate(one.chains or (ChainGroup(""),)):
                place = f', key "chains[{number}]"{where}' if one.chains else where
                self._refuse_settings({**one.shared, **group.values}, place)

    def _refuse_settings(self, values: Mapping[str, Any], place: str) -> None:
        try:
            refuse_contradicting(self.values.use, values)
        except SettingError as error:
            raise UsageError('Job "{path}"{place}: {reason}', path=self.path, place=place, reason=error.sentence) from error
