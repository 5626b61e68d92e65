"""Read a job file as plain data and check its values; every error names the file and the key or line."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import FileError, SettingError
from ..files import followed, read_table
from ..said import Value
from ..settings import OPTION
from ..settings.options import Option, OptionKind, as_meant, check, is_finite, shown
from ..settings.tasks import TABLES
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
            what = "a NUL character" if "\0" in text else "half a character (a lone surrogate)"
            raise UsageError(
                'Job "{path}": the text {text} holds {what}. Write it without.', path=path, text=shown(text), what=what
            )
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

ALIASES = {name: command for command, table in OF_COMMAND.items() for name in (table.task, table.operator) if name != command}
ALIASES["inspect"] = "report"
"""Uses by their other names: the task's, which is its report's `kind`, and its operator's."""

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
