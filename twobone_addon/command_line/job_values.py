"""What a job file holds: read as plain data with care, and its values checked one by one; each complaint names file and key."""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import SettingError
from ..said import Value
from ..settings import OPTION, BakeSettings
from ..settings.options import Option, as_meant, check, is_finite, shown
from ..tasks.all_tasks import TASKS
from .outcomes import UsageError


def read_job_data(path: Path) -> dict[str, Any]:
    """The file's top-level table; raises `UsageError` naming the file and, where it can be told, the line."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError(
            'Job "{path}" cannot be read ({reason}). Name a job file that exists.', path=path, reason=str(error.strerror)
        ) from error
    text = _decoded(path, raw)
    suffix = path.suffix.lower()
    if suffix == ".toml":
        data: Any = _toml(path, text)
    elif suffix == ".json":
        data = _json(path, text)
    else:
        raise UsageError('Job "{path}" is neither .toml nor .json. Use TOML or JSON and the matching file extension.', path=path)
    if not isinstance(data, dict):
        raise UsageError('Job "{path}" is not a table of keys and values. Put its contents between "{{" and "}}".', path=path)
    _refuse_unusable_texts(path, data)
    return data


def _refuse_unusable_texts(path: Path, data: dict[str, Any]) -> None:
    """Refuse texts that no file and no datablock can be called."""
    for text in _texts(data):
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            what = "a NUL character" if "\0" in text else "half a character (a lone surrogate)"
            raise UsageError(
                'Job "{path}": the text {text} holds {what}. Write it without.', path=path, text=shown(text), what=what
            )


def _texts(data: object) -> Iterator[str]:
    """Every text in the data, keys included; the data is not deep, or it would not have been read."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield key
            yield from _texts(value)
    elif isinstance(data, list):
        for value in data:
            yield from _texts(value)


def _decoded(path: Path, raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UsageError('Job "{path}", line {line}: not UTF-8 text. Save the file in UTF-8.', path=path, line=line) from error


def _toml(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError('Job "{path}" is not TOML: {reason}. Correct that place.', path=path, reason=str(error)) from error
    except RecursionError as error:
        raise _too_deep(path) from error
    except ValueError as error:
        raise _too_long(path) from error


def _json(path: Path, text: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, value in pairs:
            if name in made:
                raise UsageError(
                    'Job "{path}" has the key {key} twice in one place. Remove one of them.', path=path, key=shown(name)
                )
            made[name] = value
        return made

    def no_constant(name: str) -> None:
        raise UsageError(
            'Job "{path}" holds {name}, which is not a valid JSON number. Use a finite number.', path=path, name=name
        )

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=no_constant)
    except json.JSONDecodeError as error:
        raise UsageError(
            'Job "{path}", line {line}, column {column}: not JSON ({reason}). Correct that place.',
            path=path,
            line=error.lineno,
            column=error.colno,
            reason=error.msg,
        ) from error
    except RecursionError as error:
        raise _too_deep(path) from error
    except ValueError as error:
        raise _too_long(path) from error


def _too_deep(path: Path) -> UsageError:
    return UsageError('Job "{path}" is nested too deeply. A job has at most a list of tables.', path=path)


def _too_long(path: Path) -> UsageError:
    """Python refuses to read integers of more than some thousand digits."""
    return UsageError('Job "{path}" holds a number of thousands of digits. Use a number that fits.', path=path)


OF_COMMAND = {task.TABLE.command: task.TABLE for task in TASKS}
"""The tables of tasks, by command."""

READS_ONLY = ("report", "chains", *(task.TABLE.command for task in TASKS if task.READS_ONLY))
"""Uses that save nothing."""

USES = tuple(dict.fromkeys((*OF_COMMAND, *READS_ONLY)))
"""What a batch does with each shot: the sub-command of that name."""

WITH_CHAINS = {command for command, table in OF_COMMAND.items() if table.of_chains} | {"convert", "report"}
"""Uses that take each other's jobs, with chains and all settings of a bake. A conversion reads its limbs from the rig."""

TAKEN = {"rotate": {"bake"}, "last_wins": set(USES)}
"""Settings that a job may have although its use does not have them, so that one job serves for a bake and the way back."""


def options_for(use: str) -> Mapping[str, Option]:
    """The settings that a job, each of its shots and each of its chains may have, by name."""
    if use not in OF_COMMAND:
        return OPTION if use in WITH_CHAINS else {}
    return OPTION if use in WITH_CHAINS else {option.name: option for option in OF_COMMAND[use].own}


def once_options(use: str) -> Mapping[str, Option]:
    """The settings that a job has once, beside those of its shots and chains, by name."""
    if use not in WITH_CHAINS:
        return {}
    table = OF_COMMAND.get(use, OF_COMMAND["bake"])  # What is measured is a bake.
    return {option.name: option for option in table.own if option.name not in OPTION}


ONCE: dict[str, Option] = {name: option for use in USES for name, option in once_options(use).items()}
"""All settings that jobs of any use have once."""

ONLY_FOR = {name: {use for use in USES if name in {**once_options(use), **options_for(use)}} for name in [*ONCE, "targets"]}
"""Settings that not every job has, and the uses of those that do."""


def refuse_contradicting(use: str, values: Mapping[str, Any]) -> None:
    """Raise `SettingError` for settings that cannot be had together."""
    if {"frame_start", "frame_end"} <= values.keys():  # Giving them means this range, as a flag or a key.
        values = {"frame_range": "CUSTOM", **values}
    if use not in WITH_CHAINS and use not in OF_COMMAND:
        return
    record: Callable[..., object] = BakeSettings if use in WITH_CHAINS else OF_COMMAND[use].settings
    record(**values)


VARIABLE = re.compile(r"\$\{?\w+\}?")
"""An environment variable in a path, as a shell writes it."""

DOLLAR = "$$"
"""A dollar that is part of a name."""

LONGEST_KEY = 60
"""Characters of an unknown key that a message repeats."""

LIMITS = "limits"
"""Key of the limits of each joint, where all joints bend: a list, so it is no option, and no flag has it."""


@dataclass(frozen=True, slots=True)
class JobValues:
    """Reads values of one job file; each method raises `UsageError`."""

    path: Path
    use: str = "bake"

    def settings(
        self, data: Mapping[str, Any], prefix: str, also: AbstractSet[str], options: Mapping[str, Option] | None = None
    ) -> dict[str, Any]:
        """Settings by name: these `options`, or those for the use; `also` are the other keys that a table may have, for hints."""
        made: dict[str, Any] = {}
        options = options_for(self.use) if options is None else options
        lists: dict[str, Callable[[Any, str], tuple[Any, ...]]] = {LIMITS: self.pairs} if options is OPTION else {}
        for key, value in data.items():
            if key in lists:
                made[key] = lists[key](value, f"{prefix}{key}")
                continue
            option = options.get(key)
            if option is None:
                near = difflib.get_close_matches(key, [*options, *lists, *also], n=1)
                unknown = f"{prefix}{_shortened(key)}"
                if near:
                    raise self.wrong(unknown, 'is unknown. Did you mean "{near}"?', near=near[0])
                raise self.wrong(unknown, "is unknown. Remove it, or see the list of settings")
            made[key] = as_meant(option, value)
            try:
                check(option, made[key])
            except SettingError as error:
                raise UsageError(
                    'Job "{path}", key "{prefix}{key}": {reason}', path=self.path, prefix=prefix, key=key, reason=error.sentence
                ) from error
        return made

    def pairs(self, value: Any, key: str) -> tuple[tuple[float, float], ...]:
        """Least and greatest angle of each joint."""
        if not isinstance(value, list) or not all(_is_pair(pair) for pair in value):
            raise self.wrong(
                key, "is {value}. Use one pair of angles in radians for each joint, such as [[-1.0, 1.0]]", value=shown(value)
            )
        return tuple((float(least), float(greatest)) for least, greatest in value)

    def text(self, data: Mapping[str, Any], key: str) -> str:
        """A text; empty where there is none."""
        value = data.get(key, "")
        if not isinstance(value, str):
            raise self.wrong(key, "is {value}. Use a string", value=shown(value))
        return value

    def place(self, text: str, key: str) -> str:
        """A path in which `~` and environment variables stand for what they are; raises where they are nothing."""
        parts = os.path.expanduser(text).split(DOLLAR)  # noqa: PTH111 - a pattern, not yet a path
        found = [os.path.expandvars(part) for part in parts]
        unknown = next(filter(None, map(VARIABLE.search, found)), None)
        if unknown:
            raise self.wrong(
                key,
                "names the variable {variable}, which is not set. Set it, write the folder out, or write $$ for a dollar",
                variable=unknown[0],
            )
        return "$".join(found)

    def switch(self, data: Mapping[str, Any], key: str, *, default: bool = False) -> bool:
        """True or false."""
        value = data.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, "is {value}. Use true or false", value=shown(value))
        return value

    def distance(self, data: Mapping[str, Any], key: str) -> float | None:
        """A distance of at least 0; `None` where there is none."""
        value = data.get(key)
        if value is None:
            return None
        if not _is_finite(value) or value < 0.0:
            raise self.wrong(key, "is {value}. Use a distance of at least 0, in scene units", value=shown(value))
        return float(value)

    def choice(self, data: Mapping[str, Any], key: str, choices: Sequence[str]) -> str:
        """One of the choices, the first where there is none."""
        value = data.get(key, choices[0])
        if value not in choices:
            raise self.wrong(key, "is {value}. Use one of {choices}", value=shown(value), choices=", ".join(choices))
        return str(value)

    def tables(self, data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        """A list of tables."""
        value = data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.wrong(key, "is not a list of tables. Write one table per chain")
        return value

    def wrong(self, key: str, what: str, **values: Value) -> UsageError:
        """The error that says what is wrong with a key; `what` is the rest of the sentence, with `{names}` of `values`."""
        ending = "" if what.endswith("?") else "."
        return UsageError(f'Job "{{path}}": the key "{{key}}" {what}{ending}', path=self.path, key=key, **values)


def _shortened(key: str) -> str:
    """A key as a message repeats it."""
    return key if len(key) <= LONGEST_KEY else f"{key[:LONGEST_KEY]}..."


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and is_finite(value)


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(_is_finite(number) for number in value)  # noqa: PLR2004
