"""What the tasks that key chains share: frames and evaluation of all chains, keys as changes, and keys that hold as on twos."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..core.array_types import Array, Mask
from ..records import replace
from ..scene.graph.rig_graph import Node, RigGraph
from ..scene.keys.reading import motion_curves
from ..scene.keys.replaced import limb_name
from ..scene.keys.tables import INTERPOLATION, key_numbers
from ..scene.keys.writing import Change
from ..scene.sampling.quantities import Quantity, Samples
from .keying import KeyedChain
from .plan.chain_plan import ChainPlan
from .story import Sample, Story


def all_frames(lists: Iterable[Array]) -> Array:
    """The union of several lists of ascending frames, ascending; the list itself, not a copy, where all are alike."""
    first, *others = lists
    return first if all(np.array_equal(first, other) for other in others) else np.unique(np.concatenate([first, *others]))


def evaluation_of(plans: Sequence[ChainPlan], *, proving: bool = False) -> str:
    """The evaluation for all chains: the costliest that any of them needs. A proof never trusts our own reading of curves."""
    asked = {plan.settings.evaluation for plan in plans}
    if "SCENE" in asked or (proving and any(plan.reads_scene for plan in plans)):
        return "SCENE"
    return "PROBES" if proving or "PROBES" in asked else "AUTO"


def chain_changes(keyed: Sequence[KeyedChain], task: str) -> list[Change]:
    """The keys of chains as changes, ready to be written."""
    return [
        Change(
            owner=plan.names.armature,
            keys=chain.keys,
            within=plan.within,
            task=task,
            limb=limb_name(plan.names.armature, plan.names.upper),
            destination=plan.settings.destination,
            strip=plan.settings.stored or plan.names.upper,
            sets=chain.sets,
        )
        for chain in keyed
        for plan in [chain.solved.plan]
    ]


LOOKED_AT = (0.5, 0.95)
"""Parts of the way from one key to the next at which the motion must be what it was at the first."""

STILL = 1e-6
"""Difference of a pose, relative to its size, below which it is the same: single precision."""


def with_steps(plans: Sequence[ChainPlan], of_plans: Sequence[Sequence[Quantity]]) -> Story[list[ChainPlan]]:
    """The plans with the keys marked that hold, where their interpolation is linear: reduced keys step by themselves.

    of_plans : for each plan the quantities that decide its keys
    """
    graph = RigGraph()  # reads each rig once for all plans
    possible = [_may_step(plan, quantities, graph) for plan, quantities in zip(plans, of_plans, strict=True)]
    if not any(possible):
        return list(plans)
    looked = [quantity for quantities, may in zip(of_plans, possible, strict=True) if may for quantity in quantities]
    frames = np.unique(
        np.concatenate([_frames_to_look_at(plan).ravel() for plan, may in zip(plans, possible, strict=True) if may])
    )
    samples = yield Sample(looked, frames, evaluation_of(plans))
    return [
        replace(plan, held=_held(plan, quantities, samples)) if may else plan
        for plan, quantities, may in zip(plans, of_plans, possible, strict=True)
    ]


def _may_step(plan: ChainPlan, quantities: Sequence[Quantity], graph: RigGraph) -> bool:
    """Whether anything that moves the quantities has constant keys, so that a look is worth its time."""
    settings = plan.settings
    if settings.keys == "REDUCE" or settings.interpolation != "LINEAR":
        return False
    if len(plan.report_frames) < 2:  # noqa: PLR2004  # nothing is between keys
        return False
    nodes: list[Node] = list(dict.fromkeys((quantity.object, quantity.bone) for quantity in quantities))
    return any(
        bool(np.any(key_numbers(fcurve, "interpolation") == INTERPOLATION["CONSTANT"]))
        for name, bone in sorted(graph.above(nodes).nodes)
        for fcurve in motion_curves(graph.objects[name], bone)
    )


def _frames_to_look_at(plan: ChainPlan) -> Array:
    """Frames `(K - 1, 1 + L)`: of each key but the last, and between it and the next."""
    frames = np.asarray(plan.report_frames)
    return frames[:-1, None] + np.diff(frames)[:, None] * np.array([0.0, *LOOKED_AT])


def _held(plan: ChainPlan, quantities: Sequence[Quantity], samples: Samples) -> Mask | None:
    frames = _frames_to_look_at(plan)
    still = np.ones(len(frames), dtype=bool)
    for quantity in quantities:
        values = samples.every(quantity)[np.searchsorted(samples.frames, frames)].reshape(*frames.shape, -1)
        size = max(1.0, float(np.abs(values).max()))
        still &= np.ptp(values, axis=1).max(axis=-1) <= STILL * size
    # After the last key nothing follows that it could hold until.
    return np.append(still, False) if still.any() else None
