"""Which legs are meant, what carries them, and what to sample: everything that can be refused is refused here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....array_types import Array
from ....contacts.points import FootPoints
from ....curves.frames import subframe_grid
from ....errors import ChainError, RangeError
from ....planting.goals import SAMPLES_PER_FRAME
from ....scene.blender_types import Object, Scene
from ....scene.lookup import find_armature
from ....scene.rig.foot_reading import foot_bone, read_foot_points
from ....scene.walk.evaluate import Quantity
from ....settings import BakeSettings
from ....settings.planting import PlantSettings, RootSettings
from ...contacts.planning import ContactPlan, list_missing_legs, plan_contacts, standing_chains
from ...motion.plan_motion import motion_quantities
from ...plan.completing import StoredChain
from ...plan.finding import chain_names
from ...plan.frame_choice import frame_range
from ...plan.planning import ChainPlan, plan_chain, refuse_unwritable_chain
from ...report.units import Units, units_of
from .roots import RootPlan, plan_root

MOST_FRAMES = 300_000
"""Of one run, as many as fit into memory."""

LEAST_FRAMES = 2


@dataclass(frozen=True, slots=True)
class LegPlan:
    """One leg that may stand, found and checked."""

    chain: str
    """Name of the stored chain."""
    plan: ChainPlan
    """Its frames are samples, several to a frame; `report_rows` are those of the frames."""
    points: FootPoints
    has_foot: bool
    """Whether a bone at the tip can be turned; a leg without is its tip."""


@dataclass(frozen=True, slots=True)
class PlantingPlan:
    """All that is to be planted together."""

    armature: str
    settings: RootSettings
    frames: Array
    """`(F,)`"""
    samples: Array
    """`(S,)` these frames, and moments between them."""
    frames_per_second: float
    units: Units
    """Of the scene."""
    legs: list[LegPlan]
    root: RootPlan | None
    notes: tuple[str, ...]

    def quantities(self) -> list[Quantity]:
        """What to sample before solving."""
        found = [quantity for leg in self.legs for quantity in (*motion_quantities(leg.plan), *leg.plan.poses)]
        if self.root is not None:
            found += [self.root.channels, *([self.root.parent] if self.root.parent else [])]
        return found


def plan_planting(
    scene: Scene, settings: PlantSettings, active: Object | None, *, use_root: bool
) -> tuple[PlantingPlan, ContactPlan]:
    """Find the legs, their root and their ground; raises a `TwoBoneError` where there is nothing to work on."""
    armature = find_armature(settings.armature, active)
    list_missing_legs(scene, armature)
    chains = standing_chains(armature, arms=settings.arms)
    plan = _plan(scene, settings, armature, chains, use_root=use_root, needs_root=bool(settings.root), follows=False)
    return plan, plan_contacts(scene, replace(settings.contacts(), armature=armature.name), active)


def plan_fitting(scene: Scene, settings: RootSettings, active: Object | None) -> PlantingPlan:
    """Find all enabled chains that have a target, and their root; raises a `TwoBoneError` without."""
    armature = find_armature(settings.armature, active)
    chains = [chain for chain in armature.twobone.chains if chain.enabled and chain.target is not None]
    if not chains:
        raise ChainError(
            f'Armature "{armature.name}" has no enabled chain with a target to reach. Give its chains targets, or plant its feet.'
        )
    return _plan(scene, settings, armature, chains, use_root=True, needs_root=True, follows=True)


def _plan(
    scene: Scene,
    settings: RootSettings,
    armature: Object,
    chains: list[StoredChain],
    *,
    use_root: bool,
    needs_root: bool,
    follows: bool,
) -> PlantingPlan:
    start, end = frame_range(scene, _bake_settings(armature, settings))
    frames = np.arange(start, end + 1e-6)
    if not LEAST_FRAMES <= len(frames) <= MOST_FRAMES:
        raise RangeError(
            f"The range from {start:g} to {end:g} has {len(frames):,} frames. "
            f"Choose one of {LEAST_FRAMES} to {MOST_FRAMES:,} frames."
        )
    samples = subframe_grid(frames, SAMPLES_PER_FRAME)
    legs = [_leg_plan(scene, armature, chain, settings, samples, follows=follows) for chain in chains]
    root, notes = None, ()
    if use_root:
        uppers = [leg.plan.names.upper for leg in legs]
        root, notes = plan_root(armature, settings, uppers, (start, end), needed=needs_root)
    rate = scene.render.fps / scene.render.fps_base
    return PlantingPlan(armature.name, settings, frames, samples, rate, units_of(scene), legs, root, notes)


def _bake_settings(armature: Object, settings: RootSettings, **more: Any) -> BakeSettings:
    return BakeSettings(
        armature=armature.name,
        frame_range=settings.frame_range,
        frame_start=settings.frame_start,
        frame_end=settings.frame_end,
        evaluation=settings.evaluation,
        destination=settings.destination,
        tolerance=settings.tolerance,
        **more,
    )


def _leg_plan(
    scene: Scene, armature: Object, chain: StoredChain, settings: RootSettings, samples: Array, *, follows: bool
) -> LegPlan:
    own = _bake_settings(
        armature,
        settings,
        upper=chain.upper,
        lower=chain.lower,
        tip=chain.tip,
        tip_end=chain.tip_end,
        target=chain.target.name if follows else "",
        target_bone=chain.target_bone if follows else "",
        plane="POSE",
        reference="POSE",
        interpolation="BEZIER",
        stored=chain.name,
    )
    names = chain_names(armature, own)
    foot = foot_bone(armature, names)
    if foot is not None:
        own = replace(own, end_rotation="KEEP")
    plan = plan_chain(scene, own, None)
    refuse_unwritable_chain(scene, plan, is_motion=True)
    # Planting leaves scales alone, so a stretch that is keyed stays; a bake onto targets takes it away.
    stretched = plan.stretched_before if follows else {}
    rows = np.arange(0, len(samples), SAMPLES_PER_FRAME)
    plan = replace(plan, frames=samples, report_rows=rows, animated_settings={}, stretched_before=stretched)
    points = read_foot_points(armature, names, plan.rest, chain.toe)
    return LegPlan(chain.name, plan, points, foot is not None)
