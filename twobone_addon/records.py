"""Changed copies of records, with their fields' names and types checked: `dataclasses.replace` takes any name and any value."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING and sys.version_info >= (3, 13):
    # Pyright knows the parameters of a record's `__replace__`, but only for newer Pythons: the lint session checks both.
    from typing import ParamSpec, Protocol

    Fields = ParamSpec("Fields")
    Record_co = TypeVar("Record_co", covariant=True)

    class _Replaceable(Protocol[Fields, Record_co]):
        def __replace__(self, *args: Fields.args, **changes: Fields.kwargs) -> Record_co: ...

    def replace(record: _Replaceable[Fields, Record_co], /, *args: Fields.args, **changes: Fields.kwargs) -> Record_co:
        """Return a copy of the record with these fields changed."""
        raise NotImplementedError

else:
    from dataclasses import replace  # noqa: TID251 - the one place

__all__ = ["extended", "replace", "unchecked"]

Derived = TypeVar("Derived")


def extended(kind: type[Derived], record: Any, **more: Any) -> Derived:
    """A record of a type derived from that of `record`: its fields, and `more`."""
    return kind(**{entry.name: getattr(record, entry.name) for entry in fields(record)}, **more)


def unchecked(record: Derived, changes: Mapping[str, Any]) -> Derived:
    """A copy of a record with fields set to values that are known to be valid: no field is checked again."""
    made = object.__new__(type(record))
    for name in record.__dataclass_fields__:  # type: ignore[attr-defined]
        object.__setattr__(made, name, changes[name] if name in changes else getattr(record, name))
    return made
