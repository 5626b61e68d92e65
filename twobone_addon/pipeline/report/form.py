"""The form of reports: what of a record stands in its JSON, under which name and as what.

This is the one place that says so. `to_dict` writes by it; the schemas, the page about reports and their tests read the names
and types from it. A record tells its fields, and the properties that it names in `TELLS`; what is in `UNTOLD` it keeps.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, ClassVar, TypeVar, get_args, get_origin, get_type_hints

from ...said import Sentence, Statement


class Told:
    """A record that can be told as JSON."""

    __slots__ = ()

    TELLS: ClassVar[tuple[str, ...]] = ()
    """Properties that are told beside the fields."""
    UNTOLD: ClassVar[frozenset[str]] = frozenset()
    """Fields that are not."""

    def to_dict(self) -> dict[str, Any]:
        """The record as a dictionary for JSON."""
        return as_data(self)

    def to_json(self) -> str:
        """The record as one JSON object."""
        return json.dumps(self.to_dict())


@cache
def told_names(record: type) -> tuple[str, ...]:
    """Names of what a record tells, the properties first."""
    untold = getattr(record, "UNTOLD", frozenset())
    return *getattr(record, "TELLS", ()), *(entry.name for entry in fields(record) if entry.name not in untold)


@cache
def told_types(record: type) -> Mapping[str, Any]:
    """Type of each thing that a record tells, by name."""
    of_fields = get_type_hints(record)
    return {name: of_fields[name] if name in of_fields else _returned(record, name) for name in told_names(record)}


def _returned(record: type, name: str) -> Any:
    return get_type_hints(getattr(record, name).fget)["return"]


def as_data(value: Any) -> Any:
    """A value as in JSON: records by name, sequences as lists, sentences as English text, statements in their parts."""
    if isinstance(value, Sentence) and not isinstance(value, Statement):
        return value.text()
    if is_dataclass(value):
        return {name: as_data(getattr(value, name)) for name in told_names(type(value))}
    if isinstance(value, Mapping):
        return {name: as_data(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [as_data(part) for part in value]
    return value


Whole = TypeVar("Whole")


def together(record: type[Whole], chains: Sequence[Any], **given: Any) -> Whole:
    """The record of several chains together, under the names and with the types of one; `given` fields are set as they are.

    Of one chain it has the values. Of several: counts are summed, the largest distances and angles stand, the range is that
    of all, lists follow each other, a switch is on where it is on in all, and everything else stands where all chains agree
    and is empty elsewhere.
    """
    of_chain = _of_chain(record)
    if len(chains) == 1:
        return record(**{**{name: getattr(chains[0], name) for name in of_chain}, "chains": list(chains), **given})
    values = {name: _together([getattr(chain, name) for chain in chains], hint) for name, hint in of_chain.items()}
    if "frame_start" in values:
        values["frame_start"] = min((chain.frame_start for chain in chains), default=0.0)
    return record(**{**values, "chains": list(chains), **given})


@cache
def _of_chain(record: type) -> Mapping[str, Any]:
    """Fields of the chains of a record that it has as well."""
    hints = get_type_hints(record)
    (chain,) = get_args(hints["chains"])
    names = {entry.name for entry in fields(record)}
    return {entry.name: hints[entry.name] for entry in fields(chain) if entry.name in names}


def _together(values: Sequence[Any], hint: Any) -> Any:
    kinds = set(get_args(hint)) if isinstance(hint, UnionType) else {hint}
    known = [value for value in values if value is not None]
    if get_origin(hint) in {list, Sequence}:
        made: Any = [part for value in values for part in value]
    elif bool in kinds:
        made = bool(values) and all(values)
    elif int in kinds:
        made = sum(values)
    elif float in kinds:
        made = max(known, default=None if NoneType in kinds else 0.0)
    elif known and all(value == known[0] for value in values):
        made = known[0]
    else:
        made = "" if str in kinds else {} if get_origin(hint) is dict else None
    return made
