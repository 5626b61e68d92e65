"""JSON Schemas of jobs, reports and summaries, derived from the same option tables and records as the files themselves."""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from ..pipeline.report.reports import COUNTS, FAILED, FINE, FORMAT, LOOK, WORST, ChainReport, Refused
from ..pipeline.story import Task
from ..said import Sentence
from ..settings import OPTIONS, ORIGINS, BakeSettings
from ..settings.options import Option, OptionKind
from ..tasks.all_tasks import all_tasks
from ..tasks.convert.task import ConvertedReport
from ..tasks.find_contacts.task import ContactReport
from ..tasks.finish_retarget.task import FinishReport
from ..tasks.give.baking import TargetReport
from ..tasks.plant.report.reports import PlantReport, RootFitReport
from ..tasks.switch.reports import SwitchReport
from .batch.shots import STATES, ShotRecord
from .job import ALIASES, OF_COMMAND, ONCE, USES, WITH_CHAINS
from .outcomes import ExitCode, Outcome
from .output import Voice, hand_over
from .outputs import STANDARD_OUTPUT
from .shot_commands import OF_REPORT, OF_SETTINGS

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
FILES = ("job", "report", "summary", "contacts")
"""Schemas that the documentation provides as files."""

LONG = 100
"""Length in characters from which a repeated part of a schema is moved to `$defs`."""

TEXT: Schema = {"type": "string"}
TEXTS: Schema = {"type": "array", "items": TEXT}
NUMBER: Schema = {"type": "number"}
SWITCH: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
PAIR: Schema = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
TRIPLE: Schema = {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3}
FILE: Schema = {
    "type": ["object", "null"],
    "properties": {"path": TEXT, "sha256": {"type": "string", "pattern": "^([0-9a-f]{64})?$"}},
    "required": ["path", "sha256"],
    "additionalProperties": False,
}
STATEMENT: Schema = {
    "type": "object",
    "properties": {"kind": TEXT, "values": {}, "ranges": {"type": "array", "items": PAIR}},
    "required": ["kind", "values", "ranges"],
    "additionalProperties": False,
}
STATED = {"statements", "remarks"}
"""Record fields whose sentences are written as statements with a `kind` for scripts; in other fields they are plain texts."""

SECONDS: Schema = {"type": "object", "additionalProperties": {"type": "number"}}
EVALUATION: Schema = {"type": ["string", "object"]}
RUN: Schema = {"sentence": TEXT, "seconds": SECONDS, "evaluation": EVALUATION}
"""Properties that describe the whole run rather than one chain."""

PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null", Sentence: "string"}


def schema_command(arguments: argparse.Namespace, _voice: Voice) -> Outcome:
    """Print the named schema."""
    hand_over("", STANDARD_OUTPUT, schema(arguments.name))
    return Outcome(ExitCode.DONE)


def schema(name: str) -> Schema:
    """Return the schema with one of `NAMES`."""
    made = {"job": _job, "report": _report, "summary": _summary, "contacts": _contacts, **KINDS}[name]()
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
    settings = {option.name: _setting(option) for option in options} | {"limits": _list(PAIR)}
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
    return {"$defs": {kind: made() for kind, made in KINDS.items()}, "anyOf": [{"$ref": f"#/$defs/{kind}"} for kind in KINDS]}


def _document(kind: str, *forms: Schema, has_incomplete: bool = True) -> Schema:
    """Return the schema of a report file in one of these forms, with the properties that every report has."""
    settings = _list(_object({entry.name: {} for entry in fields(BakeSettings) if entry.name not in ORIGINS}))
    provenance = {"addon": TEXT, "blender": TEXT, "source": FILE, "output": FILE, "settings": settings, "warnings": TEXTS}
    shared = {"kind": {"const": kind}, "version": {"const": FORMAT}, "provenance": _object(provenance)}
    shared |= {"incomplete": TEXTS} if has_incomplete else {}
    schemas = [_object(form["properties"] | shared) for form in forms]
    for form in schemas:
        form["properties"].setdefault("dry_run", {"const": True})  # Present only in dry runs.
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _of_chains(kind: str, entry: type) -> Schema:
    """Return the schema of a report by chain; beside `chains` stands the report of a single chain, or the sums of several."""
    chain = _object(_record(ChainReport)["properties"] | RUN | _record(entry)["properties"])
    measure = {"type": ["number", "null"]}
    sums = dict.fromkeys(COUNTS, COUNT) | dict.fromkeys((*WORST, "mean_error"), measure) | RUN | {"notes": TEXTS}
    whole = {"chains": _list(chain), "refused": _list(_record(Refused)), "skipped": TEXTS}
    return _document(kind, _object(chain["properties"] | whole), _object(sums | whole))


def _of_clips(kind: str, report: Schema) -> Schema:
    """Return the schema of a report about one armature: on its active action, or on several actions one by one."""
    head = {"kind": {"const": kind}, "version": {"const": FORMAT}}
    done = _object(report["properties"] | head | {"action": TEXT, "verdict": {"enum": [FINE, LOOK]}})
    failed = _object(_record(Refused)["properties"] | {"verdict": {"const": FAILED}})
    several = {"armature": TEXT, "seconds": SECONDS, "notes": TEXTS, "sentence": TEXT}
    return _document(kind, report, _object(several | {"clips": _list(done), "refused": _list(failed)}))


def _of_plant(kind: str, record: type) -> Schema:
    """Return the schema of the report of planted feet, or of a fitted root."""
    properties = {name: made for name, made in _record(record)["properties"].items() if name != "lengths"}
    return _of_clips(kind, _object(properties | {"sentence": TEXT}))


def _contacts(kind: str = "find_contacts") -> Schema:
    point = {"enum": ["HEEL", "BALL", "BOTH"]}
    contact = {"type": "array", "prefixItems": [NUMBER, NUMBER, point], "minItems": 3, "maxItems": 3}
    per_contact = _list({"type": ["number", "null"]})
    foot = {"chain": TEXT, "contacts": _list(contact), "travel": per_contact, "confidence": per_contact, "moved": per_contact}
    chain = _object(foot | {"kept_frames": COUNT, "is_seen": SWITCH, "sole": {"enum": ["MESH", "BONE", "MOTION", "SET", "REST"]}})
    properties = {name: made for name, made in _record(ContactReport)["properties"].items() if name != "units"}
    return _of_clips(kind, _object(properties | {"chains": _list(chain), "sentence": TEXT}))


def _switch() -> Schema:
    """Return the schema of the report of switched limbs; the report of a single limb also stands beside `chains`."""
    chain = _object(_record(SwitchReport)["properties"] | {"sentence": TEXT})
    whole = {"chains": _list(chain), "refused": _list(_record(Refused)), "notes": TEXTS, "seconds": SECONDS, "sentence": TEXT}
    return _document("switch", _object(chain["properties"] | whole), _object(whole))


def _whole(task: Task[Any]) -> Schema:
    """Return the schema of a report that describes the whole task rather than single chains."""
    form = _object(_record(task.record)["properties"] | {"sentence": TEXT})
    if task.has_clips:
        return _of_clips(task.table.task, form)
    return _document(task.table.task, form, has_incomplete=not task.table.is_of_any_shot)


def _chains() -> Schema:
    """Return the schema of the list of chains stored in a file."""
    values = {option.name: _setting(option) for option in OPTIONS}
    chain = _object({"name": TEXT, "enabled": SWITCH, **values, "limits": _list(PAIR)})
    return _document("chains", _object({"scene": TEXT, "chains": _list(chain)}), has_incomplete=False)


def _dry_run() -> Schema:
    """Return the schema of the report of a bake's dry run."""
    chain = _record(ChainReport)["properties"]
    planned = {name: chain[name] for name in OF_REPORT}
    planned |= {option.name: _setting(option) for option in OPTIONS if option.name in OF_SETTINGS}
    planned |= {"name": TEXT, "action": TEXT, "tip_at": {"enum": ["head", "tail"]}, "lengths": _list(NUMBER)}
    planned |= {"curves": _list(_object({"data_path": TEXT, "index": COUNT, "keys": COUNT}))}
    properties = {"dry_run": {"const": True}, "evaluation": EVALUATION, "chains": _list(_object(planned))}
    properties |= {
        "save": {"type": ["string", "null"]},
        "skipped": TEXTS,
        "refused": _list(_record(Refused)),
        "sentence": TEXT,
        "notes": TEXTS,
    }
    return _document("dry_run", _object(properties))


def _summary() -> Schema:
    record = _record(ShotRecord)
    record["properties"]["state"] = {"enum": list(STATES)}
    counts = dict.fromkeys(STATES, COUNT)
    properties = {"version": {"const": FORMAT}, "job": TEXT, **counts, "shots": {"type": "array", "items": record}}
    return {"type": "object", "properties": properties, "required": list(properties)}


def _object(properties: Schema) -> Schema:
    """Return the schema of an object with exactly these keys."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _record(record: type) -> Schema:
    """Return the schema of a record, derived from the types of its fields."""
    hints = get_type_hints(record)
    types = {entry.name: _list(STATEMENT) if entry.name in STATED else _type(hints[entry.name]) for entry in fields(record)}
    return _object(types)


def _type(hint: Any) -> Schema:
    if hint in PLAIN:
        return {"type": PLAIN[hint]}
    if isinstance(hint, type) and is_dataclass(hint):
        return _record(hint)
    if isinstance(hint, UnionType):
        return {"anyOf": [_type(part) for part in get_args(hint)]}
    if get_origin(hint) in {list, tuple, Sequence}:
        return _list(_type(get_args(hint)[0]))
    return {"type": "object"} if get_origin(hint) in {dict, Mapping} else {}


KINDS: dict[str, Callable[[], Schema]] = {
    "bake": partial(_of_chains, "bake", ChainReport),
    "dry_run": _dry_run,
    "inspect": partial(_of_chains, "inspect", ChainReport),
    "convert": partial(_of_chains, "convert", ConvertedReport),
    "give": partial(_of_chains, "give", TargetReport),
    "switch": _switch,
    "find_contacts": _contacts,
    "import_contacts": partial(_contacts, "import_contacts"),
    "export_contacts": partial(_contacts, "export_contacts"),
    "plant": partial(_of_plant, "plant", PlantReport),
    "fit_root": partial(_of_plant, "fit_root", RootFitReport),
    "finish_retarget": partial(_of_plant, "finish_retarget", FinishReport),
    "chains": _chains,
}
KINDS |= {task.table.task: partial(_whole, task) for task in all_tasks() if task.table.task not in KINDS}
"""Functions that make the schema of each kind of report."""

NAMES = (*FILES, *KINDS)
"""Names of the schemas that can be printed."""
