"""A bake without its writing: everything is found, sampled and solved, nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..array_types import Array
from ..scene.blender_types import Object, Scene
from ..settings import BakeSettings
from .bake import _evaluation, _report
from .motion import motion_quantities, plan_motion
from .planning import plan_chain
from .report import ChainReport
from .sampling import sample
from .solving import Solved, solve_keys


@dataclass(frozen=True, slots=True)
class CurvePreview:
    """One curve that a bake would write."""

    path: str
    index: int
    keys: int


@dataclass(frozen=True, slots=True)
class ChainRehearsal:
    """What a bake would do with one chain."""

    settings: BakeSettings
    tip_at_tail: bool
    """Whether the tip is the tip bone's tail; else its head."""
    rest_lengths: tuple[float, ...]
    """Of the links, from joint to joint, in the armature's own units."""
    curves: tuple[CurvePreview, ...]
    report: ChainReport
    """As the bake would give it, but nothing is measured."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What a bake would do."""

    chains: list[ChainRehearsal]
    evaluation: str | dict[str, str]
    """How motion was sampled, as in `BakeReport`."""


@dataclass(frozen=True, slots=True)
class Walk:
    """Solved chains and the frames they were solved at."""

    solved: list[Solved]
    frames: Array
    """`(F,)`, of all chains together."""
    evaluation: str | dict[str, str]


def rehearse(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None = None) -> Rehearsal:
    """What `bake` with the same arguments would do; raises what it would raise."""
    walk = solve(scene, wanted, active)
    return Rehearsal([_rehearsal(chain) for chain in walk.solved], walk.evaluation)


def solve(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None = None) -> Walk:
    """Find, sample and solve all chains in one walk over time; changes nothing. Raises a `TwoBoneError`."""
    plans = [plan_chain(scene, settings, active) for settings in wanted]
    frames = np.unique(np.concatenate([plan.frames for plan in plans]))
    quantities = [quantity for plan in plans for quantity in motion_quantities(plan)]
    samples = sample(scene, quantities, frames, evaluation=_evaluation(plans))
    solved = []
    for plan in plans:
        rows = np.searchsorted(frames, plan.frames)
        solved.append(solve_keys(plan, rows, plan_motion(plan, samples, rows)))
    return Walk(solved, frames, samples.evaluation)


def _rehearsal(chain: Solved) -> ChainRehearsal:
    links = np.diff(chain.plan.rest.rest_joints(), axis=0)
    return ChainRehearsal(
        settings=chain.plan.settings,
        tip_at_tail=chain.plan.names.tip_at_tail,
        rest_lengths=tuple(float(length) for length in np.sqrt(np.sum(links * links, axis=-1))),
        curves=tuple(CurvePreview(key.path, key.index, len(key.frames)) for key in chain.keys),
        report=_report(chain, None),
    )
