"""Stages that the tasks share: sample all chains in one pass over time, turn keys into changes, evaluate and measure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np

from ..core.array_types import Array
from ..scene.blender_types import Scene
from ..scene.keys.replaced import limb_name
from ..scene.keys.writing import Change
from ..scene.lookup import objects_by_name, objects_known
from ..scene.sampling.evaluate import Quantity, Samples, Verified, batches, prepared_place
from ..scene.sampling.stepping import Steps
from ..scene.visible.skin import Skins
from .keys.keying import KeyedChain
from .motion.sampling import sample_steps
from .plan.planning import ChainPlan
from .pose.solving import SolvedChain
from .report.between import Track, affordable_intervals, joined_tracks
from .report.proof import Measured, MotionBetween, measure, moments_between, proof_frames, proof_quantities, track
from .report.visibility import Visibility, look_for, look_frames, look_quantities, needs_a_look, unmeasured, visibility

Look: TypeAlias = "partial[Steps[Samples]]"
"""A function that samples quantities at frames."""


def prove(scene: Scene, solved: Sequence[SolvedChain], verified: Verified) -> Steps[list[Measured | None]]:
    """Let Blender evaluate the chains as they are now and measure them; `None` for chains whose settings skip verification."""
    checked = [chain for chain in solved if chain.plan.settings.verify]
    if not checked:
        return [None] * len(solved)
    frames = all_frames(proof_frames(chain) for chain in checked)
    evaluation = evaluation_of([chain.plan for chain in checked], proving=True)
    quantities = _proof_quantities(checked)
    prepared = (
        nullcontext() if evaluation == "SCENE" else prepared_place(scene, list(dict.fromkeys(quantities)), frames, verified)
    )
    with prepared as place:
        look = partial(sample_steps, scene, evaluation=evaluation, place=place)
        samples = yield from look(quantities, frames)
        tracks = [track(chain, samples.on(proof_frames(chain))) for chain in checked]
        tracks_between = yield from _sample_between(scene, checked, tracks, look)
        measured = [measure(chain, samples, between) for chain, between in zip(checked, tracks_between, strict=True)]
        visibilities = yield from _measure_visibility(checked, [each.limb_length for each in measured], look)
    complete = iter([replace(each, visibility=visible) for each, visible in zip(measured, visibilities, strict=True)])
    return [next(complete) if chain.plan.settings.verify else None for chain in solved]


def _sample_between(scene: Scene, chains: list[SolvedChain], tracks: list[Track], look: Look) -> Steps[list[Track | None]]:
    """Track of each chain between its report frames, at the moments worth evaluating; `None` without any.

    In a temporary scene each armature has its own moments: those worth evaluating for one are of no interest for others.
    Armatures evaluated in one batch share all moments of the batch: fetching them one by one would cost more.
    """
    evaluation = look.keywords["evaluation"]
    by_armature: dict[str, list[int]] = {}
    for number, chain in enumerate(chains):
        by_armature.setdefault("" if evaluation == "SCENE" else chain.plan.names.armature, []).append(number)
    affordable = affordable_intervals(evaluation, len(by_armature))
    motions: dict[bytes, MotionBetween] = {}
    with objects_known():
        moments = {
            name: all_frames(_moments(scene, chains[number], tracks[number], motions, affordable) for number in numbers)
            for name, numbers in by_armature.items()
        }
    found: list[Track | None] = [None] * len(chains)
    for names in _in_batches(chains, by_armature):
        frames = all_frames(moments[name] for name in names)
        if not len(frames):
            continue
        samples = yield from look(_proof_quantities(chains[number] for name in names for number in by_armature[name]), frames)
        for name in names:
            for number in by_armature[name]:
                reported = chains[number].plan.report_frames
                inside = moments[name][(moments[name] > reported[0]) & (moments[name] < reported[-1])]
                between = track(chains[number], samples.on(inside))
                found[number] = joined_tracks(tracks[number], between, without=reported)
    return found


def _in_batches(chains: list[SolvedChain], by_armature: dict[str, list[int]]) -> list[list[str]]:
    """The keys of `by_armature`, grouped into the batches that Blender evaluates fastest."""
    apart = batches(_proof_quantities(chains), objects_by_name()) if len(by_armature) > 1 else []
    found = [[name for name in dict.fromkeys(quantity.object for quantity in each) if name in by_armature] for each in apart]
    return found or [list(by_armature)]


def _measure_visibility(chains: list[SolvedChain], lengths: list[float], look: Look) -> Steps[list[Visibility | None]]:
    """Whether the visible bone of each chain follows; `None` where no bone deforms. Evaluates only the doubtful chains."""
    skins = Skins()
    with objects_known():
        shown = [look_for(chain, skins) for chain in chains]
        visibilities = [unmeasured(chain, each, skins) if each else None for chain, each in zip(chains, shown, strict=True)]
        pairs = enumerate(zip(chains, shown, strict=True))
        doubtful = {number: visible for number, (chain, visible) in pairs if visible and needs_a_look(chain, visible)}
    if not doubtful:
        return visibilities
    frames = all_frames(look_frames(chains[number]) for number in doubtful)
    samples = yield from look(
        [quantity for number, visible in doubtful.items() for quantity in look_quantities(chains[number], visible)], frames
    )
    for number, visible in doubtful.items():
        visibilities[number] = visibility(chains[number], visible, skins, samples, lengths[number])
    return visibilities


def _proof_quantities(chains: Iterable[SolvedChain]) -> list[Quantity]:
    return [quantity for chain in chains for quantity in proof_quantities(chain)]


def _moments(scene: Scene, chain: SolvedChain, at_frames: Track, motions: dict[bytes, MotionBetween], affordable: int) -> Array:
    """Moments between frames to evaluate; `motions` caches curve motion for other chains with the same frames."""
    motion = motions.setdefault(at_frames.frames.tobytes(), MotionBetween(scene, at_frames.frames))
    return moments_between(chain, at_frames, motion, affordable=affordable)


def all_frames(lists: Iterator[Array]) -> Array:
    """The union of several lists of frames, ascending."""
    return np.unique(np.concatenate(list(lists)))


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
            within=(float(plan.frames[0]), float(plan.frames[-1])),
            task=task,
            limb=limb_name(plan.names.armature, plan.names.upper),
            destination=plan.settings.destination,
            strip=plan.settings.stored or plan.names.upper,
            sets=chain.sets,
            emptied=plan.stretched_paths(),
        )
        for chain in keyed
        for plan in [chain.solved.plan]
    ]
