"""JSON Schemas of jobs, reports and summaries, derived from the same option tables and records as the files themselves."""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from typing import Any

from ..desk.shapes import Schema, document, exactly, kinds, listed, record_schema, report_schema
from ..pipeline.report.reports import FORMAT
from ..settings import OPTIONS
from ..settings.options import Option, OptionKind
from .batch.shots import STATES, ShotRecord
from .exit_codes import ExitCode
from .job import ALIASES, OF_COMMAND, ONCE, USES, WITH_CHAINS
from .outcomes import Outcome
from .output import Voice, hand_over
from .outputs import STANDARD_OUTPUT

DIALECT = "https://json-schema.org/draft/2020-12/schema"
FILES = ("job", "report", "summary", "contacts")
"""Schemas that the documentation provides as files."""

LONG = 100
"""Length in characters from which a repeated part of a schema is moved to `$defs`."""

TEXT: Schema = {"type": "string"}
SWITCH: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
PAIR: Schema = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
TRIPLE: Schema = {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3}


def schema_command(arguments: argparse.Namespace, _voice: Voice) -> Outcome:
    """Print the named schema."""
    hand_over("", STANDARD_OUTPUT, schema(arguments.name))
    return Outcome(ExitCode.DONE)


def schema(name: str) -> Schema:
    """Return the schema with one of `NAMES`."""
    others = {"job": _job, "report": _report, "summary": _summary, "chains": _chains, "contacts": _contacts}
    made = others[name]() if name in others else report_schema(name)
    return {"$schema": DIALECT, "title": f"Two-Bone IK {name}, version {FORMAT}", **_with_parts_once(made)}


def _with_parts_once(made: Schema) -> Schema:
    """Return the schema with long repeated parts moved to `$defs`."""
    counts: Counter[str] = Counter()
    parts: Schema = {}
    names: dict[str, str] = {}

    def count(node: Any) -> None:
        if isinstance(node, dict):
            counts[json.dumps(node)] += 1
        for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            count(inner)

    def shared(node: Any) -> Any:
        if isinstance(node, list):
            return [shared(inner) for inner in node]
        if not isinstance(node, dict):
            return node
        text = json.dumps(node)
        inlined = {key: shared(inner) for key, inner in node.items()}
        # A table of properties may have one of the name `type`, with a schema under it.
        is_schema = isinstance(node.get("type"), str | list) or isinstance(node.get("enum"), list)
        if not is_schema or counts[text] == 1 or len(text) < LONG:
            return inlined
        name = names.setdefault(text, f"part_{len(names) + 1}")
        parts[name] = inlined
        return {"$ref": f"#/$defs/{name}"}

    count(made)
    whole = shared(made)
    return {**whole, "$defs": {**whole.get("$defs", {}), **parts}} if parts else whole


def _job() -> Schema:
    tables = [table for command, table in OF_COMMAND.items() if command not in WITH_CHAINS]
    options = [option for table in tables for option in table.own] + list(OPTIONS)
    settings = {option.name: _setting(option) for option in options} | {"limits": listed(PAIR)}
    chain = {"type": "object", "properties": {"name": TEXT, **settings}, "additionalProperties": False}
    of_shot = {
        "output": TEXT,
        "scene": TEXT,
        "use": {"enum": [*USES, *ALIASES]},
        "strict": SWITCH,
        "max_error": {"type": "number", "minimum": 0.0},
        "allow_incomplete": SWITCH,
        "chains": {"type": "array", "items": chain},
        **settings,
    }
    file = {"type": "string", "minLength": 1}
    shot = {"type": "object", "properties": {"file": file, **of_shot}, "required": ["file"], "additionalProperties": False}
    once = {name: _setting(option) for name, option in ONCE.items()}
    for setting in [setting for setting in once.values() if "enum" in setting]:
        setting["enum"] = ["", *setting["enum"]]  # Of the whole job, an empty choice counts as not given.
    properties = {
        "$schema": TEXT,
        "version": {"const": FORMAT},
        "shots": {"type": "array", "items": {"anyOf": [file, shot]}},
        **once,
        "in_place": SWITCH,
        "stored": SWITCH,
        "strict_settings": SWITCH,
        "switch_first": SWITCH,
    }
    return {"type": "object", "properties": {**properties, **of_shot}, "additionalProperties": False}


def _setting(option: Option) -> Schema:
    if option.kind is OptionKind.CHOICE:
        values = [choice.value for choice in option.choices]
        made: Schema = {"enum": [*values, *(value.lower() for value in values)]}
    elif option.kind is OptionKind.NUMBER:
        made = {"type": "number"}
        if math.isfinite(option.minimum):
            made["exclusiveMinimum" if option.above else "minimum"] = option.minimum
        if math.isfinite(option.maximum):
            made["maximum"] = option.maximum
    elif option.kind is OptionKind.VECTOR:
        made = dict(TRIPLE)
    else:
        made = dict(SWITCH if option.kind is OptionKind.SWITCH else TEXT)
    if option.default is not None:
        made["default"] = list(option.default) if option.kind is OptionKind.VECTOR else option.default
    return {**made, "description": option.text}


def _report() -> Schema:
    """Return the schema of any report; its `kind` tells which form it has."""
    forms = {**{kind: report_schema(kind) for kind in kinds()}, "chains": _chains()}
    return {"$defs": forms, "anyOf": [{"$ref": f"#/$defs/{kind}"} for kind in forms]}


def _contacts() -> Schema:
    return report_schema("find_contacts")


def _chains() -> Schema:
    """Return the schema of the list of chains stored in a file."""
    values = {option.name: _setting(option) for option in OPTIONS}
    chain = exactly({"name": TEXT, "enabled": SWITCH, **values, "limits": listed(PAIR)})
    head = {"kind": {"const": "chains"}, "version": {"const": FORMAT}}
    return document(exactly({**head, "scene": TEXT, "chains": listed(chain)}), has_incomplete=False)


def _summary() -> Schema:
    record = record_schema(ShotRecord)
    record["properties"]["state"] = {"enum": list(STATES)}
    counts = dict.fromkeys(STATES, COUNT)
    properties = {"version": {"const": FORMAT}, "job": TEXT, **counts, "shots": listed(record)}
    return {"type": "object", "properties": properties, "required": list(properties)}


NAMES = (*FILES, *kinds(), "chains")
"""Names of the schemas that can be printed."""
