"""Whether a result is good enough for `--strict`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def shortcomings(report: Mapping[str, Any], max_error: float | None) -> list[str]:
    """One sentence for each chain and reason that it is not; empty where all is well.

    `report` is the bake's report as JSON has it; `max_error` a distance in world units, `None` for any.
    """
    found = []
    for chain in report["chains"]:
        name = f"{chain['upper']} to {chain['lower']} of {chain['armature']}"
        missed = chain["too_far"] + chain["too_near"]
        if missed:
            ranges = ", ".join(_range_text(first, last) for first, last in chain["out_of_reach"])
            found.append(f"{name}: {missed} of {chain['frames']} frames are out of reach ({ranges}).")
        error = chain.get("max_error")
        if max_error is not None and error is None and chain["reached"]:
            found.append(f"{name}: the error was not measured. Leave --verify on.")
        if max_error is not None and error is not None and error > max_error:
            found.append(f"{name}: the tip is up to {error:.3g} off, more than {max_error:g}.")
    return found


def _range_text(first: float, last: float) -> str:
    return f"{first:g}" if first == last else f"{first:g} to {last:g}"
