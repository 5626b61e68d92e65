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
from ....rig.bones import RestBone
from ....scene.blender_types import Object, PoseBone, Scene
from ....scene.keys.guarding import refuse_unwritable
from ....scene.keys.reading import read_keyed
from ....scene.keys.tables import Keyed
from ....scene.lookup import find_armature
from ....scene.paths import location_path
from ....scene.rest_bones import read_rest_bone
from ....scene.rig.constraints import is_constrained
from ....scene.rig.foot_reading import foot_bone, read_foot_points
from ....scene.rig.selection import is_seen
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
class RootPlan:
    """The bone that carries all legs, or else their object."""

    armature: str
    bone: RestBone | None
    """`None` means the armature's object."""
    parent: Quantity | None
    path: str
    """Data path of its location."""
    keyed: dict[tuple[str, int], Keyed]
    """How each channel of it is keyed now, by data path and index."""
    parent_inverse: Array | None = None
    """`(4, 4)` of an object that has a parent."""
    delta: Array | None = None
    """`(3,)` by which an object is away from its location."""

    @property
    def name(self) -> str:
        """Of the bone, or of the object."""
        return self.armature if self.bone is None else self.bone.name

    @property
    def channels(self) -> Quantity:
        """What tells its location: a bone's own channels, an object's world matrix."""
        return Quantity("WORLD", self.armature) if self.bone is None else Quantity("CHANNELS", self.armature, self.bone.name)


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
        root, notes = _root_plan(armature, settings, legs, (start, end), needed=needs_root)
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
    refuse_unwritable_chain(scene, plan)
    plan = replace(plan, frames=samples, report_rows=np.arange(0, len(samples), SAMPLES_PER_FRAME), animated_settings={})
    points = read_foot_points(armature, names, plan.rest, chain.toe)
    return LegPlan(chain.name, plan, points, foot is not None)


def _root_plan(
    armature: Object, settings: RootSettings, legs: list[LegPlan], within: tuple[float, float], *, needed: bool
) -> tuple[RootPlan | None, tuple[str, ...]]:
    """The root that is named, or else one of the bones above all legs whose location is their own."""
    bones = armature.pose.bones
    above = [_above(bones[leg.plan.names.upper]) for leg in legs]
    common = [bone for bone in above[0] if all(bone in others for others in above)]
    free = [bone for bone in common if not bone.bone.use_connect and not is_constrained(bone)]
    if settings.root == armature.name and settings.root not in bones:
        free = []
    if not free and settings.root in {"", armature.name} and _may_move(armature):
        return _object_root(armature, settings, within), ()
    if settings.root:
        bone = _named_root(armature, settings.root, common)
    elif not free:
        sentence = f'Found no bone of armature "{armature.name}" that carries all legs and can be moved. Name the root'
        if needed:
            raise ChainError(f"{sentence}.")
        return None, (f"{sentence}; the root was not moved.",)
    else:
        bone = _most_used(armature, free, within)
    rest = read_rest_bone(bone)
    path = location_path(rest)
    refuse_unwritable(armature, [path], settings.destination)
    parent = Quantity("POSE", armature.name, bone.parent.name) if bone.parent else None
    keyed = {(path, axis): read_keyed(armature, path, axis, *within) for axis in range(3)}
    return RootPlan(armature.name, rest, parent, path, keyed), ()


def _may_move(armature: Object) -> bool:
    """Whether the location of an object is what puts it where it is."""
    held = any(not constraint.mute for constraint in armature.constraints)
    return not held and (armature.parent is None or armature.parent_type == "OBJECT")


def _object_root(armature: Object, settings: RootSettings, within: tuple[float, float]) -> RootPlan:
    path = "location"
    refuse_unwritable(armature, [path], settings.destination)
    parent = None if armature.parent is None else Quantity("WORLD", armature.parent.name)
    keyed = {(path, axis): read_keyed(armature, path, axis, *within) for axis in range(3)}
    inverse, delta = np.array(armature.matrix_parent_inverse), np.array(armature.delta_location)
    return RootPlan(armature.name, None, parent, path, keyed, parent_inverse=inverse, delta=delta)


def _most_used(armature: Object, free: list[PoseBone], within: tuple[float, float]) -> PoseBone:
    """The nearest bone whose location is keyed already, else the nearest; of those that are shown, if any is."""
    shown = [bone for bone in free if is_seen(bone)] or free

    def is_keyed(bone: PoseBone) -> bool:
        path = location_path(read_rest_bone(bone))
        return any(read_keyed(armature, path, axis, *within).table is not None for axis in range(3))

    return next((bone for bone in shown if is_keyed(bone)), shown[0])


def _above(bone: PoseBone) -> list[PoseBone]:
    return list(bone.parent_recursive)


def _named_root(armature: Object, name: str, common: list[PoseBone]) -> PoseBone:
    bone = armature.pose.bones.get(name)
    if bone is None:
        raise ChainError(f'Root "{name}" is not in armature "{armature.name}". Choose the bone that carries the legs.')
    if bone.bone.use_connect:
        raise ChainError(f'Root "{name}" is connected to its parent, so it cannot be moved. Choose another bone.')
    if bone not in common:
        raise ChainError(f'Root "{name}" is not a parent of all legs. Choose a bone above all of them.')
    return bone
