"""The stages that every use-case shares: plan, sample and solve all chains in one walk; evaluate and measure them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from ..array_types import Array
from ..scene.blender_types import Object, Scene
from ..scene.stepping import Steps
from ..settings import BakeSettings
from .motion import motion_quantities, plan_motion
from .planning import ChainPlan, plan_chain
from .proof import Measured, measure, proof_quantities
from .sampling import sample_steps
from .solving import Solved, solve_curves


@dataclass(slots=True)
class Stopwatch:
    """Seconds per stage."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of a block to a stage."""
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


@dataclass(frozen=True, slots=True)
class Walk:
    """Solved chains, and how they were sampled."""

    solved: list[Solved]
    evaluation: str | dict[str, str]


def solve(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None, watch: Stopwatch) -> Steps[Walk]:
    """Find, sample and solve all chains in one walk over time; changes nothing. Raises a `TwoBoneError`."""
    with watch.stage("read"):
        plans = [plan_chain(scene, settings, active) for settings in wanted]
    with watch.stage("sample"):
        frames = all_frames(plan.frames for plan in plans)
        quantities = [quantity for plan in plans for quantity in motion_quantities(plan)]
        samples = yield from sample_steps(scene, quantities, frames, evaluation=evaluation_of(plans))
    with watch.stage("solve"):
        motions = (plan_motion(plan, samples, np.searchsorted(frames, plan.frames)) for plan in plans)
        solved = [solve_curves(plan, motion) for plan, motion in zip(plans, motions, strict=True)]
    return Walk(solved, samples.evaluation)


def prove(scene: Scene, solved: Sequence[Solved]) -> Steps[list[Measured | None]]:
    """Let Blender evaluate what the chains do now, and measure it; `None` for chains that are not to be verified."""
    checked = [chain for chain in solved if chain.plan.settings.verify]
    if not checked:
        return [None] * len(solved)
    frames = all_frames(chain.plan.report_frames for chain in checked)
    quantities = [quantity for chain in checked for quantity in proof_quantities(chain)]
    evaluation = evaluation_of([chain.plan for chain in checked], proving=True)
    samples = yield from sample_steps(scene, quantities, frames, evaluation=evaluation)
    return [
        measure(chain, samples, np.searchsorted(frames, chain.plan.report_frames)) if chain.plan.settings.verify else None
        for chain in solved
    ]


def all_frames(lists: Iterator[Array]) -> Array:
    """All frames of several lists, each once, ascending."""
    return np.unique(np.concatenate(list(lists)))


def evaluation_of(plans: list[ChainPlan], *, proving: bool = False) -> str:
    """How to sample: the costliest way that any chain asks for. A proof never trusts our own reading of curves."""
    asked = {plan.settings.evaluation for plan in plans}
    if "SCENE" in asked or (proving and any(plan.reads_scene for plan in plans)):
        return "SCENE"
    return "PROBES" if proving or "PROBES" in asked else "AUTO"
