"""Names of stored chains."""

from __future__ import annotations

from collections.abc import Set as AbstractSet


def free_name(wanted: str, taken: AbstractSet[str]) -> str:
    """`wanted`, or the same with the first number (`.001` ...) that is not taken."""
    base = wanted or "Chain"
    name, number = base, 0
    while name in taken:
        number += 1
        name = f"{base}.{number:03}"
    return name
