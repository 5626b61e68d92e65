"""Values of a job file, checked one by one; each complaint names the file and the key."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import SettingError
from ...options import Kind, check, is_finite, shown
from ...settings import OPTION
from ..outcomes import UsageError
from .uses import GROUND_VELOCITY, ON_THE_GROUND, options_for

VARIABLE = re.compile(r"\$\{?\w+\}?")
"""An environment variable in a path, as a shell writes it."""

LONGEST_KEY = 60
"""Characters of an unknown key that a message repeats."""

LIMITS = "limits"
"""Key of the limits of each joint, where all joints bend: a list, so it is no option, and no flag has it."""


@dataclass(frozen=True, slots=True)
class JobValues:
    """Reads values of one job file; each method raises `UsageError`."""

    path: Path
    use: str = "bake"

    def settings(self, data: Mapping[str, Any], prefix: str, also: set[str]) -> dict[str, Any]:
        """Settings by name; `also` are the other keys that a table may have, for hints."""
        made: dict[str, Any] = {}
        options = options_for(self.use)
        lists: dict[str, Callable[[Any, str], tuple[Any, ...]]] = {LIMITS: self.pairs} if options is OPTION else {}
        lists |= {GROUND_VELOCITY: self.triple} if self.use in ON_THE_GROUND else {}
        for key, value in data.items():
            if key in lists:
                made[key] = lists[key](value, f"{prefix}{key}")
                continue
            option = options.get(key)
            if option is None:
                near = difflib.get_close_matches(key, [*options, *lists, *also], n=1)
                hint = f'Did you mean "{near[0]}"?' if near else "Remove it, or see the list of settings"
                raise self.wrong(f"{prefix}{_shortened(key)}", f"is unknown. {hint}")
            if option.kind is Kind.CHOICE and isinstance(value, str):
                made[key] = value.upper()
            else:
                made[key] = value
            try:
                check(option, made[key])
            except SettingError as error:
                raise UsageError(f'Job "{self.path}", key "{prefix}{key}": {error}') from error
        return made

    def pairs(self, value: Any, key: str) -> tuple[tuple[float, float], ...]:
        """Least and greatest angle of each joint."""
        if not isinstance(value, list) or not all(_is_pair(pair) for pair in value):
            raise self.wrong(key, f"is {shown(value)}. Use one pair of angles in radians for each joint, such as [[-1.0, 1.0]]")
        return tuple((float(least), float(greatest)) for least, greatest in value)

    def triple(self, value: Any, key: str) -> tuple[float, ...]:
        """Three numbers."""
        if not isinstance(value, list) or len(value) != 3 or not all(_is_finite(number) for number in value):  # noqa: PLR2004
            raise self.wrong(key, f"is {shown(value)}. Use three numbers, such as [0.0, -1.2, 0.0]")
        return tuple(float(number) for number in value)

    def text(self, data: Mapping[str, Any], key: str) -> str:
        """A text; empty where there is none."""
        value = data.get(key, "")
        if not isinstance(value, str):
            raise self.wrong(key, f"is {shown(value)}. Use a string")
        return value

    def place(self, text: str, key: str) -> str:
        """A path in which `~` and environment variables stand for what they are; raises where they are nothing."""
        found = os.path.expandvars(os.path.expanduser(text))  # noqa: PTH111 - a pattern, not yet a path
        unknown = VARIABLE.search(found)
        if unknown:
            raise self.wrong(key, f"names the variable {unknown[0]}, which is not set. Set it, or write the folder out")
        return found

    def switch(self, data: Mapping[str, Any], key: str, *, default: bool = False) -> bool:
        """True or false."""
        value = data.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, f"is {shown(value)}. Use true or false")
        return value

    def distance(self, data: Mapping[str, Any], key: str) -> float | None:
        """A distance of at least 0; `None` where there is none."""
        value = data.get(key)
        if value is None:
            return None
        if not _is_finite(value) or value < 0.0:
            raise self.wrong(key, f"is {shown(value)}. Use a distance of at least 0, in scene units")
        return float(value)

    def choice(self, data: Mapping[str, Any], key: str, choices: Sequence[str]) -> str:
        """One of the choices, the first where there is none."""
        value = data.get(key, choices[0])
        if value not in choices:
            raise self.wrong(key, f"is {shown(value)}. Use one of {', '.join(choices)}")
        return str(value)

    def tables(self, data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        """A list of tables."""
        value = data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.wrong(key, "is not a list of tables. Write one table per chain")
        return value

    def wrong(self, key: str, what: str) -> UsageError:
        """The error that says what is wrong with a key."""
        ending = "" if what.endswith("?") else "."
        return UsageError(f'Job "{self.path}": the key "{key}" {what}{ending}')


def _shortened(key: str) -> str:
    """A key as a message repeats it."""
    return key if len(key) <= LONGEST_KEY else f"{key[:LONGEST_KEY]}..."


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and is_finite(value)


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(_is_finite(number) for number in value)  # noqa: PLR2004
