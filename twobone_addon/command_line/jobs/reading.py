"""A job file as plain data: TOML or JSON, decoded with care. What the data means is `jobs`' business."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...options import shown
from ..outcomes import UsageError


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
        raise UsageError(f'Job "{path}" is neither .toml nor .json. Use TOML or JSON and the matching file extension.')
    if not isinstance(data, dict):
        raise UsageError(f'Job "{path}" is not a table of keys and values. Put its contents between "{{" and "}}".')
    _refuse_unusable_texts(path, data)
    return data


def _refuse_unusable_texts(path: Path, data: dict[str, Any]) -> None:
    """Refuse texts that no file and no datablock can be called."""
    for text in _texts(data):
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            what = "a NUL character" if "\0" in text else "half a character (a lone surrogate)"
            raise UsageError(f'Job "{path}": the text {shown(text)} holds {what}. Write it without.')


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
        raise UsageError(f'Job "{path}", line {line}: not UTF-8 text. Save the file in UTF-8.') from error


def _toml(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f'Job "{path}" is not TOML: {error}. Correct that place.') from error
    except RecursionError as error:
        raise _too_deep(path) from error
    except ValueError as error:
        raise _too_long(path) from error


def _json(path: Path, text: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, value in pairs:
            if name in made:
                raise UsageError(f'Job "{path}" has the key {shown(name)} twice in one place. Remove one of them.')
            made[name] = value
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
        raise _too_deep(path) from error
    except ValueError as error:
        raise _too_long(path) from error


def _too_deep(path: Path) -> UsageError:
    return UsageError(f'Job "{path}" is nested too deeply. A job has at most a list of tables.')


def _too_long(path: Path) -> UsageError:
    """Python refuses to read integers of more than some thousand digits."""
    return UsageError(f'Job "{path}" holds a number of thousands of digits. Use a number that fits.')
