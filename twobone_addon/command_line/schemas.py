"""JSON Schemas of job, report and summary, made from the tables and records that the files themselves are made from."""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from ..baking.contacts.records import ContactReport
from ..baking.ik_to_fk.switches import MOTIONS, SIDES, SWITCHES
from ..baking.limbs.records import LeftOutLimb, LimbReport
from ..baking.planting.report.records import LegReport, ReachReport, RootReport
from ..baking.report.records import ChainReport, Refused
from ..baking.switching.records import SwitchReport
from ..options import Kind, Option
from ..settings import OPTIONS, BakeSettings
from .batch.summary import STATES, ShotRecord
from .jobs.uses import GROUND_VELOCITY, OWN_OPTIONS, USES
from .outcomes import ExitCode, Outcome
from .output import Voice
from .version import FORMAT

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NAMES = ("job", "report", "summary", "contacts")

TEXT: Schema = {"type": "string"}
SWITCH: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
PAIR: Schema = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
TRIPLE: Schema = {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3}
FILE: Schema = {
    "type": ["object", "null"],
    "properties": {"path": TEXT, "sha256": {"type": "string", "pattern": "^([0-9a-f]{64})?$"}},
    "required": ["path", "sha256"],
}
PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


def schema_command(arguments: argparse.Namespace, voice: Voice) -> Outcome:
    """Print one of the schemas."""
    voice.say(json.dumps(schema(arguments.name), indent=2))
    return Outcome(ExitCode.DONE)


def schema(name: str) -> Schema:
    """The schema of one of `NAMES`."""
    made = {"job": _job, "report": _report, "summary": _summary, "contacts": _contacts}[name]()
    return {"$schema": DIALECT, "title": f"Two-Bone IK {name}, version {FORMAT}", **made}


def _job() -> Schema:
    settings = _job_settings()
    chain = {"type": "object", "properties": {"name": TEXT, **settings}, "additionalProperties": False}
    own = {
        "$schema": TEXT,
        "version": {"const": FORMAT},
        "use": {"enum": list(USES)},
        "shots": {"type": "array", "items": {"anyOf": [{"type": "string", "minLength": 1}, _shot(chain, settings)]}},
        "output": TEXT,
        "scene": TEXT,
        **_ways(),
        "chains": {"type": "array", "items": chain},
    }
    return {"type": "object", "properties": {**own, **settings}, "additionalProperties": False}


def _job_settings() -> dict[str, Schema]:
    """What may stand in a job, in each of its shots and chains."""
    others = {name: _setting(option) for options in OWN_OPTIONS.values() for name, option in options.items()}
    settings = others | {option.name: _setting(option) for option in OPTIONS}
    return settings | {"limits": {"type": "array", "items": PAIR}, GROUND_VELOCITY: TRIPLE}


def _shot(chain: Schema, settings: dict[str, Schema]) -> Schema:
    """A shot with settings of its own."""
    own = {
        "file": {"type": "string", "minLength": 1},
        "output": TEXT,
        "scene": TEXT,
        "chains": {"type": "array", "items": chain},
    }
    return {"type": "object", "properties": {**own, **settings}, "required": ["file"], "additionalProperties": False}


def _ways() -> dict[str, Schema]:
    """How a job is to be done, by keys that are no settings of chains."""
    return {
        "bone": TEXT,
        "switch_off": _one_of(SWITCHES),
        "rigify": SWITCH,
        "rotate": SWITCH,
        "targets": SWITCH,
        "to": _one_of(SIDES),
        "motion": _one_of(MOTIONS),
        "actions": TEXT,
        "in_place": SWITCH,
        "stored": SWITCH,
        "strict": SWITCH,
        "strict_settings": SWITCH,
        "last_wins": SWITCH,
        "allow_incomplete": SWITCH,
        "max_error": {"type": "number", "minimum": 0.0},
    }


def _one_of(values: tuple[str, ...]) -> Schema:
    return {"enum": ["", *values, *(value.lower() for value in values)]}


def _setting(option: Option) -> Schema:
    if option.kind is Kind.CHOICE:
        values = [choice.value for choice in option.choices]
        made: Schema = {"enum": [*values, *(value.lower() for value in values)]}
    elif option.kind is Kind.NUMBER:
        made = {"type": "number"}
        if math.isfinite(option.minimum):
            made["exclusiveMinimum" if option.above else "minimum"] = option.minimum
        if math.isfinite(option.maximum):
            made["maximum"] = option.maximum
    else:
        made = dict(SWITCH if option.kind is Kind.SWITCH else TEXT)
    return {**made, "description": option.text, "default": option.default}


def _report() -> Schema:
    """Of all commands but `contacts`: what a chain has tells them apart. `clear` only counts its chains."""
    chains = [*map(_record, (ChainReport, LegReport, ReachReport, SwitchReport)), _rehearsed(), _stored()]
    settings = {entry.name: {} for entry in fields(BakeSettings) if entry.name != "asked"}
    own = {
        "version": {"const": FORMAT},
        "chains": {"anyOf": [{"type": "array", "items": {"anyOf": chains}}, COUNT]},
        "root": _type(RootReport | None),
        "keys_removed": COUNT,
        "planting_undone": {"type": "array", "items": TEXT},
        "dry_run": SWITCH,
        "armature": TEXT,
        "limbs": {"type": "array", "items": _record(LimbReport)},
        "left_out": {"type": "array", "items": _record(LeftOutLimb)},
        "refused": {"type": "array", "items": _record(Refused)},
        "incomplete": {"type": "array", "items": TEXT},
        "seconds": {"type": "object", "additionalProperties": {"type": "number"}},
        "evaluation": {"type": ["string", "object"]},
        "provenance": _provenance({"type": "object", "properties": settings, "additionalProperties": False}),
    }
    return {"type": "object", "properties": own, "required": ["version", "provenance"]}


def _rehearsed() -> Schema:
    """A chain of a dry run."""
    chain = _record(ChainReport)["properties"]
    same = ("armature", "upper", "lower", "tip", "target", "frames", "frame_start", "frame_end")
    counts = ("reached", "too_far", "too_near", "degenerate", "out_of_reach")
    curve = {"data_path": TEXT, "index": COUNT, "keys": COUNT}
    own = {name: chain[name] for name in (*same, *counts)} | {
        "name": TEXT,
        "tip_at": {"enum": ["head", "tail"]},
        "lengths": {"type": "array", "items": {"type": "number"}},
        "curves": {"type": "array", "items": {"type": "object", "properties": curve, "required": list(curve)}},
    }
    return {"type": "object", "properties": own, "required": list(own)}


def _stored() -> Schema:
    """A chain that `chains` lists."""
    values = {option.name: _setting(option) for option in OPTIONS}
    own = {"name": TEXT, "enabled": SWITCH, **values, "limits": {"type": "array", "items": PAIR}}
    return {"type": "object", "properties": own, "required": list(own)}


def _contacts() -> Schema:
    """Of `contacts`."""
    contact = {
        "type": "array",
        "prefixItems": [{"type": "number"}, {"type": "number"}, {"enum": ["HEEL", "BALL", "BOTH"]}],
        "minItems": 3,
        "maxItems": 3,
    }
    own_contacts = {"type": "array", "items": contact}
    told = {"chain": TEXT, "contacts": own_contacts, "kept_frames": {"type": "integer"}, "is_seen": {"type": "boolean"}}
    chain = {"type": "object", "properties": told, "required": list(told)}
    own = _record(ContactReport)
    del own["properties"]["units"]
    own["properties"]["chains"] = {"type": "array", "items": chain}
    own["properties"] |= {"version": {"const": FORMAT}, "sentence": TEXT, "incomplete": {"type": "array", "items": TEXT}}
    own["properties"]["evaluation"] = {"type": ["string", "object"]}
    own["properties"]["provenance"] = _provenance({"type": "object"})
    return own | {"required": list(own["properties"])}


def _provenance(settings: Schema) -> Schema:
    provenance = {
        "addon": TEXT,
        "blender": TEXT,
        "source": FILE,
        "output": FILE,
        "settings": {"type": "array", "items": settings},
        "warnings": {"type": "array", "items": TEXT},
    }
    return {"type": "object", "properties": provenance, "required": list(provenance)}


def _summary() -> Schema:
    record = _record(ShotRecord)
    record["properties"]["state"] = {"enum": list(STATES)}
    counts = dict.fromkeys(STATES, COUNT)
    own = {"version": {"const": FORMAT}, "job": TEXT, **counts, "shots": {"type": "array", "items": record}}
    return {"type": "object", "properties": own, "required": list(own)}


def _record(record: type) -> Schema:
    """Every field of a record with its type; a reader must expect further keys."""
    properties = {name: _type(hint) for name, hint in get_type_hints(record).items()}
    return {"type": "object", "properties": properties, "required": list(properties)}


def _type(hint: Any) -> Schema:
    if hint in PLAIN:
        return {"type": PLAIN[hint]}
    if isinstance(hint, type) and is_dataclass(hint):
        return _record(hint)
    if isinstance(hint, UnionType):
        return {"anyOf": [_type(part) for part in get_args(hint)]}
    if get_origin(hint) is list:
        return {"type": "array", "items": _type(get_args(hint)[0])}
    return {"type": "object"} if get_origin(hint) is dict else {}
