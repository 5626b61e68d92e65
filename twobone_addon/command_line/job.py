"""Read a job file: settings of shots and chains as TOML or JSON; every error names the file and the key or line."""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..errors import FileError, SettingError
from ..files import followed, read_table
from ..pipeline.report.reports import FORMAT
from ..records import replace
from ..said import Value
from ..settings import OPTION, BakeSettings
from ..settings.options import Option, OptionKind, as_meant, check, is_finite, shown
from ..settings.tasks import TABLES
from ..tasks.all_tasks import KEYS_LIMBS
from .flags import ChainGroup
from .outcomes import UsageError


def read_job_data(path: Path) -> dict[str, Any]:
    """Return the file's top-level table; raises `UsageError` naming the file and, if known, the line."""
    if path.suffix.lower() not in {".toml", ".json"}:
        raise UsageError('Job "{path}" is neither .toml nor .json. Use TOML or JSON and the matching file extension.', path=path)
    try:
        data = read_table(path)
    except FileError as error:
        raise UsageError("Job {reason}", reason=error.sentence) from error
    if not isinstance(data, dict):
        raise UsageError('Job "{path}" is not a table of keys and values. Put its contents between "{{" and "}}".', path=path)
    for text in _texts(data):
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            what = "a NUL character" if "\0" in text else "an unpaired surrogate"
            raise UsageError('Job "{path}": the text {text} contains {what}. Remove it.', path=path, text=shown(text), what=what)
    return data


def _texts(data: object) -> Iterator[str]:
    """Yield every text in the data, including keys."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield key
            yield from _texts(value)
    elif isinstance(data, list):
        for value in data:
            yield from _texts(value)


OF_COMMAND = {table.command: table for table in TABLES.values()}
"""The option table of each task, by command."""

READS_ONLY = ("report", "chains", *(table.command for table in TABLES.values() if table.is_read_only))
"""Uses that never save the shot."""

USES = tuple(dict.fromkeys((*OF_COMMAND, *READS_ONLY)))
"""Allowed values of a job's `use`: the sub-command that runs on each shot."""

ALIASES = {"inspect": "report"} | {
    name: command
    for command, table in OF_COMMAND.items()
    for word in (table.task, table.operator)
    for name in (word, word.replace("_", "-"))
    if name != command
}
"""Uses by their other names: the task's, which is its report's `kind`, and its operator's, with `_` or `-`."""

WITH_CHAINS = {command for command, table in OF_COMMAND.items() if table.of_chains} | {"convert", "report"}
"""Uses that accept each other's jobs: they take chains and all bake settings. A conversion reads its limbs from the rig."""

TAKEN = {"rotate": {"bake"}, "last_wins": set(USES)}
"""Settings that these uses accept but ignore, so that one job serves both for a bake and for its reversal."""


def options_for(use: str) -> Mapping[str, Option]:
    """Return the options, by name, that a job, its shots and its chains may set."""
    if use not in OF_COMMAND:
        return OPTION if use in WITH_CHAINS else {}
    return OPTION if use in WITH_CHAINS else {option.name: option for option in OF_COMMAND[use].own}


def once_options(use: str) -> Mapping[str, Option]:
    """Return the options, by name, that apply to the whole job rather than to a shot or chain."""
    if use not in WITH_CHAINS:
        return {}
    table = OF_COMMAND.get(use, OF_COMMAND["bake"])  # "report" measures a bake, so it takes a bake's options.
    return {option.name: option for option in table.own if option.name not in OPTION}


ONCE: dict[str, Option] = {name: option for use in USES for name, option in once_options(use).items()}
"""The job-wide options of all uses, by name."""

ONLY_FOR = {name: {use for use in USES if name in {**once_options(use), **options_for(use)}} for name in [*ONCE, "targets"]}
"""Settings that only some uses have, and those uses."""


VARIABLE = re.compile(r"\$\{?\w+\}?")
"""An environment variable in a path, in shell syntax."""

DOLLAR = "$$"
"""Escape for a literal dollar sign in a path."""

LONGEST_KEY = 60
"""Maximum number of characters of an unknown key that a message repeats."""

LIMITS = "limits"
"""Key of the angle limits of each joint of a chain whose joints all bend. As a list it is neither an option nor a flag."""


@dataclass(frozen=True, slots=True)
class JobValues:
    """Checks the values of one job file; each method raises `UsageError`."""

    path: Path
    use: str = "bake"

    def settings(
        self, data: Mapping[str, Any], prefix: str, also: AbstractSet[str], options: Mapping[str, Option] | None = None
    ) -> dict[str, Any]:
        """Return the checked settings by name.

        options : allowed settings; `None` for those of the use
        also : other keys that the table may have, offered when an unknown key looks like one of them
        """
        checked: dict[str, Any] = {}
        options = options_for(self.use) if options is None else options
        lists: dict[str, Callable[[Any, str], tuple[Any, ...]]] = {LIMITS: self.pairs} if options is OPTION else {}
        for key, value in data.items():
            if key in lists:
                checked[key] = lists[key](value, f"{prefix}{key}")
                continue
            option = options.get(key)
            if option is None:
                near = difflib.get_close_matches(key, [*options, *lists, *also], n=1)
                unknown = prefix + (key if len(key) <= LONGEST_KEY else f"{key[:LONGEST_KEY]}...")
                if near:
                    raise self.wrong(unknown, 'is unknown. Did you mean "{near}"?', near=near[0])
                raise self.wrong(unknown, "is unknown. Remove it, or see the list of settings")
            checked[key] = self.beside(value, f"{prefix}{key}") if option.kind is OptionKind.PATH else as_meant(option, value)
            try:
                check(option, checked[key])
            except SettingError as error:
                raise UsageError(
                    'Job "{path}", key "{prefix}{key}": {reason}', path=self.path, prefix=prefix, key=key, reason=error.sentence
                ) from error
        return checked

    def pairs(self, value: Any, key: str) -> tuple[tuple[float, float], ...]:
        """Return the smallest and largest angle of each joint, in radians."""
        is_list = isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in value)  # noqa: PLR2004
        if not is_list or not all(_is_finite(number) for pair in value for number in pair):
            raise self.wrong(
                key, "is {value}. Use one pair of angles in radians for each joint, such as [[-1.0, 1.0]]", value=shown(value)
            )
        return tuple((float(least), float(greatest)) for least, greatest in value)

    def text(self, data: Mapping[str, Any], key: str) -> str:
        """Return a text; empty if the key is missing."""
        value = data.get(key, "")
        if not isinstance(value, str):
            raise self.wrong(key, "is {value}. Use a string", value=shown(value))
        return value

    def place(self, text: str, key: str) -> str:
        """Return a path with `~`, environment variables and `$$` expanded; a variable that is not set is an error."""
        parts = os.path.expanduser(text).split(DOLLAR)  # noqa: PTH111 - a pattern, not yet a path
        expanded = [os.path.expandvars(part) for part in parts]
        unknown = next(filter(None, map(VARIABLE.search, expanded)), None)
        if unknown:
            raise self.wrong(
                key,
                "names the variable {variable}, which is not set. Set it, write the folder out, or write $$ for a dollar",
                variable=unknown[0],
            )
        return "$".join(expanded)

    def beside(self, value: Any, key: str) -> Any:
        """Return the path of a file that a setting names, from the job file's folder; `//` still means the shot's."""
        if not isinstance(value, str) or not value or value.startswith("//"):
            return value
        return str(followed(self.path).parent / self.place(value, key))

    def switch(self, data: Mapping[str, Any], key: str, *, default: bool = False) -> bool:
        """Return a boolean; `default` if the key is missing."""
        value = data.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, "is {value}. Use true or false", value=shown(value))
        return value

    def distance(self, data: Mapping[str, Any], key: str) -> float | None:
        """Return a distance of at least 0 in scene units; `None` if the key is missing."""
        value = data.get(key)
        if value is None:
            return None
        if not _is_finite(value) or value < 0.0:
            raise self.wrong(key, "is {value}. Use a distance of at least 0, in scene units", value=shown(value))
        return float(value)

    def choice(self, data: Mapping[str, Any], key: str, choices: Sequence[str]) -> str:
        """Return one of the choices; the first if the key is missing."""
        value = data.get(key, choices[0])
        if value not in choices:
            raise self.wrong(key, "is {value}. Use one of {choices}", value=shown(value), choices=", ".join(choices))
        return str(value)

    def use_of(self, data: Mapping[str, Any]) -> str:
        """Return the use that a table names, by any of its names."""
        value = data["use"]
        return self.choice({"use": ALIASES.get(value, value) if isinstance(value, str) else value}, "use", USES)

    def tables(self, data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        """Return a list of tables; empty if the key is missing."""
        value = data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.wrong(key, "is not a list of tables. Write one table per chain")
        return value

    def wrong(self, key: str, what: str, **values: Value) -> UsageError:
        """Return the error for a key; `what` is the rest of its sentence, with placeholders filled from `values`."""
        ending = "" if what.endswith("?") else "."
        return UsageError(f'Job "{{path}}": the key "{{key}}" {what}{ending}', path=self.path, key=key, **values)


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and is_finite(value)


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
        overrides: dict[str, Any] = {key: self.switch(entry, key) for key in ("strict", "allow_incomplete") if key in entry}
        if "max_error" in entry:
            overrides["max_error"] = self.distance(entry, "max_error")
        if "use" in entry:
            overrides["use"] = self.use_of(entry)
            if overrides["use"] != self.use and not {overrides["use"], self.use} <= WITH_CHAINS:
                raise self.wrong(
                    f"{where}.use", "is {use}, with other settings than the job's. Use two jobs", use=shown(overrides["use"])
                )
        return overrides

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
