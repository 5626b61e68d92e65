"""The bake: plan, sample, solve, write, prove, report. Nothing is changed before everything is known."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from ..array_types import Array
from ..curves.frames import ranges
from ..scene.blender_types import Object, Scene
from ..scene.lookup import object_named
from ..scene.restoring import edits_kept
from ..scene.writing import write_keys
from ..settings import BakeSettings
from ..solver import Reach
from .motion import motion_quantities, plan_motion
from .planning import ChainPlan, plan_chain
from .proof import Measured, measure, proof_quantities
from .report import BakeReport, ChainReport
from .sampling import sample
from .solving import Solved, solve_keys


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


def bake(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None = None) -> BakeReport:
    """Bake one or more chains in one walk over time; raises a `TwoBoneError` before anything is changed.

    `active` is the armature meant by settings that name none.
    """
    watch = Stopwatch()
    with watch.stage("read"):
        plans = [plan_chain(scene, settings, active) for settings in wanted]
        frames = np.unique(np.concatenate([plan.frames for plan in plans]))
    with watch.stage("sample"):
        quantities = [quantity for plan in plans for quantity in motion_quantities(plan)]
        samples = sample(scene, quantities, frames, evaluation=_evaluation(plans))
    with watch.stage("solve"):
        solved = []
        for plan in plans:
            rows = np.searchsorted(frames, plan.frames)
            solved.append(solve_keys(plan, rows, plan_motion(plan, samples, rows)))
    with watch.stage("write"):
        _write(scene, solved)
    with watch.stage("verify"):
        measured = _verify(scene, solved, frames)
    chains = [_report(chain, found) for chain, found in zip(solved, measured, strict=True)]
    return BakeReport(chains, watch.seconds, samples.evaluation)


def _evaluation(plans: list[ChainPlan], *, proving: bool = False) -> str:
    """How to sample: the costliest way that any chain asks for. A proof never trusts our own reading of curves."""
    asked = {plan.settings.evaluation for plan in plans}
    if "SCENE" in asked or (proving and any(plan.reads_scene for plan in plans)):
        return "SCENE"
    return "PROBES" if proving or "PROBES" in asked else "AUTO"


def _write(scene: Scene, solved: list[Solved]) -> None:
    armatures = {chain.plan.names.armature: object_named(chain.plan.names.armature) for chain in solved}
    written = {(armatures[chain.plan.names.armature], key.path) for chain in solved for key in chain.keys}
    with edits_kept(scene, list(armatures.values()), written):
        for chain in solved:
            frames = chain.plan.frames
            write_keys(armatures[chain.plan.names.armature], chain.keys, frames[0], frames[-1])


def _verify(scene: Scene, solved: list[Solved], frames: Array) -> list[Measured | None]:
    checked = [chain for chain in solved if chain.plan.settings.verify]
    if not checked:
        return [None] * len(solved)
    quantities = [quantity for chain in checked for quantity in proof_quantities(chain)]
    samples = sample(scene, quantities, frames, evaluation=_evaluation([chain.plan for chain in checked], proving=True))
    return [measure(chain, samples) if chain.plan.settings.verify else None for chain in solved]


def _report(chain: Solved, measured: Measured | None) -> ChainReport:
    plan, reach = chain.plan, chain.chain.pose.reach
    counts = {kind: int(np.count_nonzero(reach == kind)) for kind in Reach}
    outside = (reach == Reach.TOO_FAR) | (reach == Reach.TOO_NEAR)
    return ChainReport(
        armature=plan.names.armature,
        upper=plan.names.upper,
        lower=plan.names.lower,
        tip=plan.names.tip,
        target=plan.settings.target,
        frames=len(plan.frames),
        frame_start=float(plan.frames[0]),
        frame_end=float(plan.frames[-1]),
        keys=sum(len(key.frames) for key in chain.keys),
        channels=len(chain.keys),
        reached=counts[Reach.REACHED],
        too_far=counts[Reach.TOO_FAR],
        too_near=counts[Reach.TOO_NEAR],
        degenerate=counts[Reach.DEGENERATE],
        out_of_reach=ranges(plan.frames, outside),
        max_error=measured.max_error if measured else None,
        mean_error=measured.mean_error if measured else None,
        max_goal_error=measured.max_goal_error if measured else None,
        max_off_plane=measured.max_off_plane if measured else None,
        plane_held=int(np.count_nonzero(chain.chain.plane_held)),
        notes=_notes(chain),
    )


def _notes(chain: Solved) -> list[str]:
    notes = list(chain.plan.notes)
    held = int(np.count_nonzero(chain.chain.plane_held))
    if held:
        notes.append(f"The plane was undecided at {held} frames and taken from the frame before.")
    scaled = [key.group for key in chain.keys if key.path.endswith(".scale") and key.index == 0]
    if scaled:
        notes.append(f"Stretching keyed the scale of {' and '.join(scaled)}.")
    return notes
