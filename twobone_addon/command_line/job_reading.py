"""A job file as plain data: TOML or JSON, decoded with care. What the data means is `jobs`' business."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from .outcomes import UsageError


def read_job_data(path: Path) -> dict[str, Any]:
    """The file's top-level table; raises `UsageError` naming the file and, where it can be told, the line."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError(f'Job "{path}" cannot be read ({error.strerror}). Name a job file that exists.') from error
    text = _decoded(path, raw)
    suffix = path.suffix.lower()
    if suffix == ".toml":
        data: Any = _toml(path, text)
    elif suffix == ".json":
        data = _json(path, text)
    else:
        raise UsageError(f'Job "{path}" is neither .toml nor .json. Write it in one of the two and name it so.')
    if not isinstance(data, dict):
        raise UsageError(f'Job "{path}" is not a table of keys and values. Put its contents between "{{" and "}}".')
    return data


def _decoded(path: Path, raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UsageError(f'Job "{path}", line {line}: not UTF-8 text. Save the file in UTF-8.') from error


def _toml(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f'Job "{path}" is not TOML: {error}. Correct that place.') from error


def _json(path: Path, text: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        for name, _ in pairs:
            if sum(name == other for other, _ in pairs) > 1:
                raise UsageError(f'Job "{path}" has the key "{name}" twice in one place. Remove one of them.')
        return made

    def no_constant(name: str) -> None:
        raise UsageError(f'Job "{path}" holds {name}, which is no JSON number. Use a finite number.')

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=no_constant)
    except json.JSONDecodeError as error:
        raise UsageError(
            f'Job "{path}", line {error.lineno}, column {error.colno}: not JSON ({error.msg}). Correct that place.'
        ) from error
    except RecursionError as error:
        raise UsageError(f'Job "{path}" is nested too deeply. A job has at most a list of tables.') from error
