"""Chains of one bake that would key the same channels at the same frames."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import ChainError
from ...said import Value
from .planning import ChainPlan


class OverlapError(ChainError):
    """Two chains that would key the same; `numbers` says which of those that were given."""

    def __init__(self, sentence: str, numbers: tuple[int, int], /, **values: Value) -> None:
        super().__init__(sentence, **values)
        self.numbers = numbers


def refuse_overlap(plans: Sequence[ChainPlan]) -> None:
    """Raise `OverlapError` where a later chain would overwrite what an earlier one has just keyed."""
    keyed_by: dict[tuple[str, str], list[int]] = {}
    for number, plan in enumerate(plans):
        for path in plan.keyed_paths():
            earlier = keyed_by.setdefault((plan.names.armature, path), [])
            for before in earlier:
                if _share_frames(plans[before], plan):
                    names = [_name(plans[before]), _name(plan)]
                    if names[0] == names[1]:
                        names = [f"{name} ({place + 1})" for name, place in zip(names, (before, number), strict=True)]
                    raise OverlapError(
                        'Chains "{first}" and "{second}" of "{armature}" both key {path} at the same frames. Disable one of '
                        "them, give them ranges of their own, or let the last one win.",
                        (before, number),
                        first=names[0],
                        second=names[1],
                        armature=plan.names.armature,
                        path=path,
                    )
            earlier.append(number)


def _share_frames(first: ChainPlan, second: ChainPlan) -> bool:
    """More than the frame at which one range ends and the other begins."""
    start, end = max(first.frames[0], second.frames[0]), min(first.frames[-1], second.frames[-1])
    return bool(start < end or first.frames[0] == first.frames[-1] == start == end)


def _name(plan: ChainPlan) -> str:
    return plan.settings.stored or f"{plan.names.upper} to {plan.names.lower}"
