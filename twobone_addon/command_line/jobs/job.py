"""What a job file says: which shots, where they go, which chains. Its schema is checked here, key by key."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ...baking.actions.choosing import which_actions
from ...baking.ik_to_fk.switches import MOTIONS, SIDES, SWITCHES
from ...errors import SettingError
from ...options import shown
from ..flags.chain_flags import ChainGroup
from ..outcomes import UsageError
from ..version import FORMAT
from .reading import read_job_data
from .uses import ONLY_FOR, USES, options_for, refuse_contradicting
from .values import JobValues

LABEL = "name"
"""Key of a chain's table that is no setting: what reports of the dry run call it."""

SHOT_KEYS = {"file", "output", "scene", "chains"}
"""Keys of a shot's table that are no settings."""

OWN_KEYS = {
    "$schema", "version", "use", "shots", "output", "in_place", "scene", "stored", "chains",
    "strict", "strict_settings", "last_wins", "allow_incomplete", "max_error", "bone", "switch_off", "rigify", "actions",
    "rotate", "targets", "to", "motion",
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
    last_wins: bool = False
    """Let a later chain overwrite the keys of an earlier one on the same bones."""
    allow_incomplete: bool = False
    """Save also where something that moves the chains is missing."""
    max_error: float | None = None
    bone: str = ""
    """Bone that carries the IK constraint. `convert` only, as the next two."""
    switch_off: str = ""
    rigify: bool = False
    rotate: bool = False
    """Key the targets' rotation as well. `target` only."""
    targets: bool = False
    """Add targets. `limbs` only."""
    to: str = ""
    """`FK` or `IK`. `switch` only, as the next one."""
    motion: str = ""
    actions: str = ""
    """`ACTIVE`, `ALL`, or names separated by semicolons."""
    shared: dict[str, Any] = field(default_factory=dict)
    """Settings for all chains, by the names of `BakeSettings`."""
    chains: tuple[ChainGroup, ...] = ()


def load_job(path: Path, use: str = "") -> Job:
    """Read and check a job file; raises `UsageError` naming the file, the key or line, and what to do.

    use : what it is read for, and so what it is for where it does not say so itself; empty for whatever it says
    """
    data = read_job_data(path)
    found = JobValues(path).choice({"use": use or USES[0]} | dict(data), "use", USES)
    if use and options_for(found) is not options_for(use):
        raise JobValues(path).wrong("use", f"is {shown(found)}, whose settings are others than those of {shown(use)}. Correct it")
    return _Reader(path, JobValues(path, found)).job(data)


def job_for(job: Job, tables: list[ShotTable]) -> Job:
    """The job as it is for a shot that these tables are about; later ones win."""
    for table in tables:
        chains = table.chains or tuple(replace(chain, values={**chain.values, **table.shared}) for chain in job.chains)
        output, scene = table.output or job.output, table.scene or job.scene
        job = replace(job, shared={**job.shared, **table.shared}, chains=chains, output=output, scene=scene)
    return replace(job, tables=())


def job_text(job: Job) -> str:
    """A job for one shot, as JSON that `load_job` reads back as the same; where it goes is not in it."""
    left_out = {"path", "shots", "tables", "output", "in_place", "shared", "chains"}
    own = {key: value for key, value in asdict(job).items() if key not in left_out and value not in ("", None)}
    chains = {"chains": [{LABEL: chain.label, **chain.values} for chain in job.chains]} if job.chains else {}
    return json.dumps({"version": FORMAT, **own, **job.shared, **chains}, indent=2)


@dataclass(frozen=True, slots=True)
class _Reader:
    path: Path
    values: JobValues

    def job(self, data: Mapping[str, Any]) -> Job:
        self._refuse_other_version(data)
        values = self.values
        shots, tables = self._shots(data)
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
            strict_settings=values.switch(data, "strict_settings", default=True),
            last_wins=values.switch(data, "last_wins"),
            allow_incomplete=values.switch(data, "allow_incomplete"),
            max_error=values.distance(data, "max_error"),
            bone=values.text(data, "bone"),
            switch_off=self._one_of(data, "switch_off", SWITCHES),
            rigify=values.switch(data, "rigify"),
            rotate=values.switch(data, "rotate"),
            targets=values.switch(data, "targets"),
            to=self._one_of(data, "to", SIDES),
            motion=self._one_of(data, "motion", MOTIONS),
            actions=which_actions(values.text(data, "actions")),
            shared=values.settings({key: value for key, value in data.items() if key not in OWN_KEYS}, "", OWN_KEYS),
            chains=self._chains(data, ""),
        )
        self._refuse_contradictions(job)
        return job

    def _one_of(self, data: Mapping[str, Any], key: str, choices: Sequence[str]) -> str:
        text = self.values.text(data, key)
        return self.values.choice({key: text.upper()}, key, choices) if text else ""

    def _shots(self, data: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[ShotTable, ...]]:
        """Files or patterns of all shots, and the tables among them."""
        entries = data.get("shots", [])
        if not isinstance(entries, list) or not all(
            (isinstance(entry, str) and entry) or isinstance(entry, dict) for entry in entries
        ):
            what = f'is {shown(entries)}. Use a list of texts, such as ["shots/*.blend"], or of tables with "file"'
            raise self.values.wrong("shots", what)
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
        )

    def _chains(self, data: Mapping[str, Any], prefix: str) -> tuple[ChainGroup, ...]:
        tables = self.values.tables(data, "chains")
        return tuple(self._chain(entry, f"{prefix}chains[{number}]") for number, entry in enumerate(tables))

    def _chain(self, entry: Mapping[str, Any], where: str) -> ChainGroup:
        label = entry.get(LABEL, "")
        if not isinstance(label, str):
            raise self.values.wrong(f"{where}.{LABEL}", f"is {shown(label)}. Use a string")
        settings = {key: value for key, value in entry.items() if key != LABEL}
        return ChainGroup(label, self.values.settings(settings, f"{where}.", {LABEL}))

    def _refuse_other_version(self, data: Mapping[str, Any]) -> None:
        version = data.get("version", FORMAT)
        if version != FORMAT or isinstance(version, bool):
            raise self.values.wrong("version", f"is {shown(version)}. This add-on reads jobs of version {FORMAT}")

    def _refuse_contradictions(self, job: Job) -> None:
        """Refuse keys that exclude each other, and settings that no bake can have together."""
        if job.stored and (job.chains or any(table.chains for table in job.tables)):
            raise self.values.wrong("stored", 'cannot be combined with "chains". Keep one of them')
        if job.output and job.in_place:
            raise self.values.wrong("in_place", 'cannot be combined with "output". Keep one of them')
        for key, uses in ONLY_FOR.items():
            is_there = getattr(job, key) or (key == "chains" and any(table.chains for table in job.tables))
            if is_there and job.use not in uses:
                raise self.values.wrong(key, f'does not go with "use" being "{job.use}". Remove it, or correct "use"')
        for where, one in (("", job), *((f' for "{table.file}"', job_for(job, [table])) for table in job.tables)):
            for number, group in enumerate(one.chains or (ChainGroup(""),)):
                place = f', key "chains[{number}]"{where}' if one.chains else where
                self._refuse_settings({**one.shared, **group.values}, place)

    def _refuse_settings(self, values: Mapping[str, Any], place: str) -> None:
        try:
            refuse_contradicting(self.values.use, values)
        except SettingError as error:
            raise UsageError(f'Job "{self.path}"{place}: {error}') from error
