"""Chains of one bake that would key the same channels at the same frames."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import ChainError
from .planning import ChainPlan


def refuse_overlap(plans: Sequence[ChainPlan]) -> None:
    """Raise `ChainError` where a later chain would overwrite what an earlier one has just keyed."""
    keyed_by: dict[tuple[str, str], list[ChainPlan]] = {}
    for plan in plans:
        for path in plan.keyed_paths():
            earlier = keyed_by.setdefault((plan.names.armature, path), [])
            for other in earlier:
                if _share_frames(other, plan):
                    raise ChainError(
                        f'Chains "{_name(other)}" and "{_name(plan)}" of "{plan.names.armature}" both key {path} at the same '
                        "frames. Disable one of them, give them ranges of their own, or let the last one win."
                    )
            earlier.append(plan)


def _share_frames(first: ChainPlan, second: ChainPlan) -> bool:
    """More than the frame at which one range ends and the other begins."""
    start, end = max(first.frames[0], second.frames[0]), min(first.frames[-1], second.frames[-1])
    return bool(start < end or first.frames[0] == first.frames[-1] == start == end)


def _name(plan: ChainPlan) -> str:
    return plan.settings.stored or f"{plan.names.upper} to {plan.names.lower}"
