"""The stages that tasks share: all chains sampled in one pass over time, their keys as changes, evaluated and measured."""

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
"""Samples quantities at frames."""


def prove(scene: Scene, solved: Sequence[SolvedChain], verified: Verified) -> Steps[list[Measured | None]]:
    """Let Blender evaluate what the chains do now, and measure it; `None` for chains that are not to be verified."""
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
        insides = yield from _look_between(scene, checked, tracks, look)
        found = [measure(chain, samples, inside) for chain, inside in zip(checked, insides, strict=True)]
        visibilities = yield from _look_at(checked, [each.limb_length for each in found], look)
    measured = iter([replace(each, visibility=seen) for each, seen in zip(found, visibilities, strict=True)])
    return [next(measured) if chain.plan.settings.verify else None for chain in solved]


def _look_between(scene: Scene, chains: list[SolvedChain], tracks: list[Track], look: Look) -> Steps[list[Track | None]]:
    """What each chain does between its reported frames, at the moments that are worth it; `None` without any.

    In a scene of our own each armature has moments of its own, for what is worth a look at one is of no interest at others.
    Those that are evaluated in one batch are evaluated at all of its moments: to fetch them one by one would cost more.
    """
    evaluation = look.keywords["evaluation"]
    together: dict[str, list[int]] = {}
    for number, chain in enumerate(chains):
        together.setdefault("" if evaluation == "SCENE" else chain.plan.names.armature, []).append(number)
    affordable = affordable_intervals(evaluation, len(together))
    motions: dict[bytes, MotionBetween] = {}
    with objects_known():
        moments = {
            name: all_frames(_moments(scene, chains[number], tracks[number], motions, affordable) for number in numbers)
            for name, numbers in together.items()
        }
    found: list[Track | None] = [None] * len(chains)
    for names in _in_batches(chains, together):
        frames = all_frames(moments[name] for name in names)
        if not len(frames):
            continue
        samples = yield from look(_proof_quantities(chains[number] for name in names for number in together[name]), frames)
        for name in names:
            for number in together[name]:
                reported = chains[number].plan.report_frames
                inside = moments[name][(moments[name] > reported[0]) & (moments[name] < reported[-1])]
                seen = track(chains[number], samples.on(inside))
                found[number] = joined_tracks(tracks[number], seen, without=reported)
    return found


def _in_batches(chains: list[SolvedChain], together: dict[str, list[int]]) -> list[list[str]]:
    """Those that are looked at together, in the batches that Blender evaluates fast."""
    apart = batches(_proof_quantities(chains), objects_by_name()) if len(together) > 1 else []
    found = [[name for name in dict.fromkeys(quantity.object for quantity in each) if name in together] for each in apart]
    return found or [list(together)]


def _look_at(chains: list[SolvedChain], lengths: list[float], look: Look) -> Steps[list[Visibility | None]]:
    """What people see of each chain; `None` where nothing deforms. Evaluated only where that is in doubt."""
    skins = Skins()
    with objects_known():
        shown = [look_for(chain, skins) for chain in chains]
        visibilities = [unmeasured(chain, each, skins) if each else None for chain, each in zip(chains, shown, strict=True)]
        each = enumerate(zip(chains, shown, strict=True))
        doubtful = {number: seen for number, (chain, seen) in each if seen and needs_a_look(chain, seen)}
    if not doubtful:
        return visibilities
    frames = all_frames(look_frames(chains[number]) for number in doubtful)
    samples = yield from look(
        [quantity for number, seen in doubtful.items() for quantity in look_quantities(chains[number], seen)], frames
    )
    for number, seen in doubtful.items():
        visibilities[number] = visibility(chains[number], seen, skins, samples, lengths[number])
    return visibilities


def _proof_quantities(chains: Iterable[SolvedChain]) -> list[Quantity]:
    return [quantity for chain in chains for quantity in proof_quantities(chain)]


def _moments(scene: Scene, chain: SolvedChain, at_frames: Track, motions: dict[bytes, MotionBetween], affordable: int) -> Array:
    """Moments between frames to look at; `motions` are kept for other chains with the same frames."""
    motion = motions.setdefault(at_frames.frames.tobytes(), MotionBetween(scene, at_frames.frames))
    return moments_between(chain, at_frames, motion, affordable=affordable)


def all_frames(lists: Iterator[Array]) -> Array:
    """All frames of several lists, each once, ascending."""
    return np.unique(np.concatenate(list(lists)))


def evaluation_of(plans: Sequence[ChainPlan], *, proving: bool = False) -> str:
    """How to sample: the costliest way that any chain asks for. A proof never trusts our own reading of curves."""
    asked = {plan.settings.evaluation for plan in plans}
    if "SCENE" in asked or (proving and any(plan.reads_scene for plan in plans)):
        return "SCENE"
    return "PROBES" if proving or "PROBES" in asked else "AUTO"


def chain_changes(keyed: Sequence[KeyedChain], task: str) -> list[Change]:
    """The keys of chains, as changes to be written."""
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
