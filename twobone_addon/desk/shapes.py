"""The shape of every report: its record by kind, and from the record its JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, ClassVar, Union, get_args, get_origin, get_type_hints

from ..pipeline.report.form import told_types
from ..pipeline.report.reports import FORMAT, ClipsReport
from ..said import Sentence
from ..settings import ORIGINS, BakeSettings
from ..tasks.all_tasks import all_tasks
from ..tasks.bake import DryRunReport

Schema = dict[str, Any]

OF_A_BAKE = {"inspect": "bake", "dry_run": "bake"}
"""Kinds that no task has, and the task that they are of."""

PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null", Sentence: "string"}


@dataclass(frozen=True, slots=True)
class ContentOfFile:
    """A file as it was."""

    path: str
    sha256: str
    """SHA-256 of its bytes."""


@dataclass(frozen=True, slots=True)
class SettingsUsed(BakeSettings):
    """The settings of a chain as they stand in a report."""

    UNTOLD: ClassVar[frozenset[str]] = ORIGINS


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a result comes from."""

    addon: str
    """Version of the add-on."""
    blender: str
    """Version of Blender."""
    source: ContentOfFile | None
    """The shot as opened; `None` if it was never saved."""
    output: ContentOfFile | None
    """The saved file; `None` if none was saved."""
    settings: list[SettingsUsed]
    """The effective [settings](options.md) of each chain."""
    warnings: list[str]
    """All warnings that were printed."""


@dataclass(frozen=True, slots=True)
class OfCommand:
    """What the command line adds to a report."""

    provenance: Provenance
    """Where the result comes from."""
    incomplete: list[str]
    """Missing libraries, objects, caches and scripts that move a chain; only of commands to which that matters."""
    dry_run: bool
    """True, and only in dry runs."""


@cache
def kinds() -> Mapping[str, type]:
    """The record of each kind of report."""
    tasks = {task.table.task: task.record for task in all_tasks()}
    return {**tasks, "inspect": tasks["bake"], "dry_run": DryRunReport}


def has_clips(kind: str) -> bool:
    """Whether there is a report of this kind over several actions, with one in it for each."""
    return any(task.has_clips for task in all_tasks() if task.table.task == kind)


def report_schema(kind: str) -> Schema:
    """The schema of the reports of a kind, as the command line writes them."""
    forms = [record_schema(kinds()[kind], kind)]
    if has_clips(kind):
        several = record_schema(ClipsReport, kind)
        several["properties"]["clips"] = listed(forms[0])
        forms.append(several)
    table = next(task.table for task in all_tasks() if task.table.task == OF_A_BAKE.get(kind, kind))
    return document(*forms, has_incomplete=not table.is_of_any_shot)


def document(*forms: Schema, has_incomplete: bool) -> Schema:
    """The schema of the file that the command line writes of a report in one of these forms."""
    added = record_schema(OfCommand)["properties"]
    dry = {"const": True}
    shared = {"provenance": added["provenance"]} | ({"incomplete": added["incomplete"]} if has_incomplete else {})
    whole = [exactly(form["properties"] | shared) for form in forms]
    for form in whole:
        form["properties"].setdefault("dry_run", dry)
    return whole[0] if len(whole) == 1 else {"anyOf": whole}


def record_schema(record: type, kind: str = "") -> Schema:
    """The schema of a record, of a report of this kind."""
    schema = exactly({name: schema_of(hint) for name, hint in told_types(record).items()})
    if kind:
        schema["properties"] |= {"kind": {"const": kind}, "version": {"const": FORMAT}}
    return schema


def schema_of(hint: Any) -> Schema:
    """The schema of values of a type; of anything for a type that JSON has no word for."""
    origin, arguments = get_origin(hint), get_args(hint)
    if isinstance(hint, type) and issubclass(hint, tuple) and not arguments:
        arguments = tuple(get_type_hints(hint).values())  # A row of named values is a list of them.
    made: Schema = {}
    if hint in PLAIN:
        made = {"type": PLAIN[hint]}
    elif is_dataclass(hint):
        made = record_schema(hint)  # type: ignore[arg-type]
    elif isinstance(hint, UnionType) or origin is Union:
        made = {"anyOf": [schema_of(part) for part in arguments]}
    elif origin in {list, Sequence} or (arguments and arguments[-1] is ...):
        made = listed(schema_of(arguments[0]))
    elif origin in {dict, Mapping}:
        made = {"type": "object", "additionalProperties": schema_of(arguments[1])}
    elif arguments:
        made = {"type": "array", "prefixItems": [schema_of(part) for part in arguments], "minItems": len(arguments)}
    return made


def exactly(properties: Schema) -> Schema:
    """The schema of an object with exactly these keys."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def listed(items: Schema) -> Schema:
    """The schema of a list."""
    return {"type": "array", "items": items}
