"""What a job file says: which shots, where they go, which chains. Its schema is checked here, key by key."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import SettingError
from ..options import Kind, check
from ..settings import OPTION, BakeSettings
from .chain_flags import ChainGroup
from .job_reading import read_job_data
from .outcomes import UsageError

LABEL = "name"
"""Key of a chain's table that is no setting: what reports of the dry run call it."""

LIMITS = "limits"
"""Key of the limits of each joint, where all joints bend: a list, so it is no option, and no flag has it."""


@dataclass(frozen=True, slots=True)
class Job:
    """A checked job file."""

    path: Path
    shots: tuple[str, ...] = ()
    """Files or glob patterns, relative to the job file's folder. `batch` only."""
    output: str = ""
    """Pattern of the file that each baked shot is saved as. `batch` only."""
    in_place: bool = False
    """Save over the shots themselves. `batch` only."""
    stored: bool = False
    """Bake the chains that are stored in each shot."""
    strict: bool = False
    max_error: float | None = None
    shared: dict[str, Any] = field(default_factory=dict)
    """Settings for all chains, by the names of `BakeSettings`."""
    chains: tuple[ChainGroup, ...] = ()


def load_job(path: Path) -> Job:
    """Read and check a job file; raises `UsageError` naming the file, the key or line, and what to do."""
    data = read_job_data(path)
    return _Reader(path).job(data)


@dataclass(frozen=True, slots=True)
class _Reader:
    path: Path

    def job(self, data: Mapping[str, Any]) -> Job:
        own = {"shots", "output", "in_place", "stored", "strict", "max_error", "chains"}
        shared = self._settings({key: value for key, value in data.items() if key not in own}, "", own)
        chains = tuple(self._chain(entry, f"chains[{number}]") for number, entry in enumerate(self._tables(data, "chains")))
        job = Job(
            path=self.path,
            shots=self._texts(data, "shots"),
            output=self._text(data, "output"),
            in_place=self._switch(data, "in_place"),
            stored=self._switch(data, "stored"),
            strict=self._switch(data, "strict"),
            max_error=self._max_error(data),
            shared=shared,
            chains=chains,
        )
        if job.stored and job.chains:
            raise self._wrong("stored", 'stands beside "chains". Keep one of them')
        for number, group in enumerate(job.chains or (ChainGroup(""),)):
            self._refuse_contradictions({**shared, **group.values}, f"chains[{number}]" if job.chains else "")
        if job.output and job.in_place:
            raise self._wrong("in_place", 'stands beside "output". Keep one of them')
        return job

    def _chain(self, entry: Mapping[str, Any], where: str) -> ChainGroup:
        label = entry.get(LABEL, "")
        if not isinstance(label, str):
            raise self._wrong(f"{where}.{LABEL}", f"is {label!r}. Use a text")
        settings = {key: value for key, value in entry.items() if key != LABEL}
        return ChainGroup(label, self._settings(settings, f"{where}.", {LABEL}))

    def _refuse_contradictions(self, values: Mapping[str, Any], where: str) -> None:
        try:
            BakeSettings(**values)
        except SettingError as error:
            place = f', key "{where}"' if where else ""
            raise UsageError(f'Job "{self.path}"{place}: {error}') from error

    def _settings(self, data: Mapping[str, Any], prefix: str, also: set[str]) -> dict[str, Any]:
        made = {}
        for key, value in data.items():
            if key == LIMITS:
                made[key] = self._pairs(value, f"{prefix}{key}")
                continue
            option = OPTION.get(key)
            if option is None:
                near = difflib.get_close_matches(key, [*OPTION, LIMITS, *also], n=1)
                hint = f'Did you mean "{near[0]}"?' if near else "Remove it, or see the list of settings"
                raise self._wrong(f"{prefix}{key}", f"is unknown. {hint}")
            if option.kind is Kind.CHOICE and isinstance(value, str):
                made[key] = value.upper()
            else:
                made[key] = value
            try:
                check(option, made[key])
            except SettingError as error:
                raise UsageError(f'Job "{self.path}", key "{prefix}{key}": {error}') from error
        return made

    def _pairs(self, value: Any, key: str) -> tuple[tuple[float, float], ...]:
        if not isinstance(value, list) or not all(_is_pair(pair) for pair in value):
            raise self._wrong(key, f"is {value!r}. Use one pair of angles in radians for each joint, such as [[-1.0, 1.0]]")
        return tuple((float(least), float(greatest)) for least, greatest in value)

    def _texts(self, data: Mapping[str, Any], key: str) -> tuple[str, ...]:
        value = data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise self._wrong(key, f'is {value!r}. Use a list of texts, such as ["shots/*.blend"]')
        return tuple(value)

    def _text(self, data: Mapping[str, Any], key: str) -> str:
        value = data.get(key, "")
        if not isinstance(value, str):
            raise self._wrong(key, f"is {value!r}. Use a text")
        return value

    def _switch(self, data: Mapping[str, Any], key: str) -> bool:
        value = data.get(key, False)
        if not isinstance(value, bool):
            raise self._wrong(key, f"is {value!r}. Use true or false")
        return value

    def _max_error(self, data: Mapping[str, Any]) -> float | None:
        value = data.get("max_error")
        if value is None:
            return None
        if not _is_finite(value) or value < 0.0:
            raise self._wrong("max_error", f"is {value!r}. Use a distance of at least 0, in scene units")
        return float(value)

    def _tables(self, data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        value = data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self._wrong(key, "is not a list of tables. Write one table per chain")
        return value

    def _wrong(self, key: str, what: str) -> UsageError:
        ending = "" if what.endswith("?") else "."
        return UsageError(f'Job "{self.path}": the key "{key}" {what}{ending}')


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(_is_finite(number) for number in value)  # noqa: PLR2004
