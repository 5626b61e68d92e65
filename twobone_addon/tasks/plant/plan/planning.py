"""Plan the legs, their root and what to sample. Everything that can be refused is refused here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from ....core.array_types import Array, SampledFrames
from ....core.contacts.points import FootPoints
from ....core.curves.frames import subframe_grid
from ....core.planting.goals import SAMPLES_PER_FRAME
from ....core.rig.bones import RestBone
from ....core.rig.posing import NOT_INHERITED, bone_that_stops_stretch, scale_carriers
from ....errors import ChainError, RangeError
from ....pipeline.gate import foot_left_behind, refuse_left_behind, refuse_posed, who_poses
from ....pipeline.motion.plan_motion import motion_quantities
from ....pipeline.plan.chain_plan import ELSEWHERE, target_node
from ....pipeline.plan.completing import names_of
from ....pipeline.plan.frame_choice import frame_range
from ....pipeline.plan.naming import named_as
from ....pipeline.plan.planning import ChainPlan, plan_chain, refuse_unwritable_chain, with_keyed
from ....pipeline.plan.stored import never_had_target, refuse_lost
from ....pipeline.report.units import Units, units_of
from ....pipeline.story import Span
from ....records import extended, replace
from ....said import Sentence, note
from ....scene.blender_types import Object, Scene
from ....scene.bones import ChainNames, scale_path
from ....scene.keys.guarding import refuse_unwritable
from ....scene.lookup import find_armature
from ....scene.rig.rest_reading import carrier_of, foot_bone, read_foot_points
from ....scene.sampling.quantities import Quantity
from ....scene.visible.feet_beside import feet_along
from ....scene.visible.skin import Skins
from ....settings import BakeSettings
from ....settings.feet import PlantSettings, RootSettings
from ...find_contacts.plan import ContactPlan, contact_range, even_frames, is_loop, plan_contacts
from .roots import RootPlan, moved_bone, plan_root

MOST_FRAMES = 300_000
"""Most frames of one run: more would not fit into memory."""

LEAST_FRAMES = 2

MOST_STRETCH = 1.015
"""Largest factor by which a planted leg is scaled, if its chain may stretch."""


@dataclass(frozen=True, slots=True)
class LegPlan:
    """One leg, found and checked."""

    chain: str
    """Name of the stored chain."""
    plan: ChainPlan
    """Its `frames` are the samples, several per frame; its `report_rows` are the rows of whole frames."""
    points: FootPoints
    has_foot: bool
    """Whether a bone at the tip can be rotated; without one, the foot is the tip itself."""
    feet_on_root: tuple[bool, ...] = ()
    """For each foot that is keyed along, whether the root carries it."""
    stretch: float = 1.0
    """Largest factor by which the leg may be scaled to reach."""

    @property
    def scaled(self) -> list[tuple[RestBone, int]]:
        """The bones whose scale stretches the leg, each with the power of the factor: the foot, -1, keeps its size."""
        rest, foot = self.plan.rest, self.plan.end_bone
        inherits = foot is not None and self.plan.end_parent != ELSEWHERE and foot.inherit_scale not in NOT_INHERITED
        keeps_size = [(foot, -1)] if foot is not None and inherits else []
        return [*((rest.bones[index], 1) for index in scale_carriers(rest)), *keeps_size]


OwnSettings = TypeVar("OwnSettings", bound=RootSettings)


@dataclass(frozen=True, slots=True)
class PlantingPlan(Generic[OwnSettings]):
    """Legs, or other limbs, and the root that carries them."""

    armature: str
    settings: OwnSettings
    frames: Array
    """`(F,)` frames to plant."""
    samples: Array
    """`(S,)` these frames and the subframes between them."""
    frames_per_second: float
    units: Units
    """Units of the scene."""
    legs: list[LegPlan]
    root: RootPlan | None
    notes: tuple[Sentence, ...]
    is_whole: bool
    """Whether the frames are those of all of the motion, and not a part of it that somebody chose."""
    skipped: tuple[str, ...]
    """Names of the enabled chains that are left out, for they never had a target."""
    feet: tuple[RootPlan, ...]
    """Feet beside their legs that are moved as the root is, where the legs are not keyed."""

    def quantities(self) -> list[Quantity]:
        """The quantities to sample before solving."""
        of_legs = [quantity for leg in self.legs for quantity in (*motion_quantities(leg.plan), *leg.plan.poses)]
        return [*of_legs, *self.root_quantities()]

    def root_quantities(self) -> list[Quantity]:
        """Those of the root; none without one."""
        moved = [*([] if self.root is None else [self.root]), *self.feet]
        return [quantity for bone in moved for quantity in (bone.channels, bone.parent) if quantity is not None]


@dataclass(frozen=True, slots=True)
class PlantPlan(PlantingPlan[PlantSettings]):
    """The legs of one character that are planted together."""

    contacts: ContactPlan
    """Plan of the contact search."""


@dataclass(frozen=True, slots=True)
class ChainRequest:
    """A chain to plan, stored or not yet."""

    chain: str
    names: ChainNames
    toe: str
    target: str = ""
    """Name of its target object, and of the bone in it; empty where the target is irrelevant."""
    target_bone: str = ""


def plan_planting(scene: Scene, settings: PlantSettings, active: Object | None, span: Span | None) -> PlantPlan:
    """Find the legs, their root and their ground; raises a `TwoBoneError` if there is nothing to plant."""
    armature = find_armature(settings.armature, active)
    is_whole = _is_whole(scene, settings, span)
    span = span or contact_range(scene, settings.contacts(), armature, loops=True)
    contacts = plan_contacts(scene, replace(settings.contacts(), armature=armature.name), active, span)
    requests = [ChainRequest(chain, names, contacts.legs.toes[chain]) for chain, names in contacts.legs.names.items()]
    needs_root = bool(settings.root)
    use_root = settings.use_root
    plan = _plan(scene, settings, armature, requests, span=span, use_root=use_root, needs_root=needs_root, is_whole=is_whole)
    skins, within = Skins(), (float(plan.frames[0]), float(plan.frames[-1]))
    for leg in plan.legs:
        refuse_posed(who_poses(scene, armature, leg.plan.names, within, skins=skins))
        refuse_left_behind(foot_left_behind(armature, leg.plan.names))
    if settings.priority == "FEET":
        plan = replace(plan, legs=[_with_stretch(armature, leg, settings.destination) for leg in plan.legs])
    return extended(PlantPlan, plan, contacts=contacts)


def plan_fitting(scene: Scene, settings: RootSettings, active: Object | None, span: Span | None) -> PlantingPlan:
    """Find all enabled chains that have a target, and their root; raises a `TwoBoneError` if there are none.

    Chains that never had a target are skipped.
    """
    armature = find_armature(settings.armature, active)
    enabled = [chain for chain in armature.twobone.chains if chain.enabled]
    chains = [chain for chain in enabled if not never_had_target(chain)]
    for chain in chains:
        with named_as(chain.name, armature.name):
            refuse_lost(chain)
    if not chains:
        raise ChainError(
            'Armature "{armature}" has no enabled chain with a target to reach. Give its chains targets, or plant its feet.',
            armature=armature.name,
        )
    requests = [ChainRequest(chain.name, names_of(chain), chain.toe, chain.target.name, chain.target_bone) for chain in chains]
    is_whole = _is_whole(scene, settings, span)
    skipped = tuple(chain.name for chain in enabled if chain not in chains)
    plan = _plan(
        scene,
        settings,
        armature,
        requests,
        span=span,
        use_root=True,
        needs_root=True,
        is_whole=is_whole,
        skipped=skipped,
    )
    skins, within = Skins(), (float(plan.frames[0]), float(plan.frames[-1]))
    for leg in plan.legs:
        refuse_posed(who_poses(scene, armature, leg.plan.names, within, skins=skins))
        refuse_left_behind(foot_left_behind(armature, leg.plan.names, target_node(leg.plan.settings)))
    bones = armature.pose.bones
    beside = {
        foot.bone.name: moved_bone(bones[foot.bone.name], settings, within)
        for leg in plan.legs
        for foot, is_carried in zip(leg.plan.along, leg.feet_on_root, strict=True)
        if not is_carried
    }
    return replace(plan, feet=tuple(beside.values()))


def _plan(
    scene: Scene,
    settings: RootSettings,
    armature: Object,
    requests: list[ChainRequest],
    *,
    span: Span | None,
    use_root: bool,
    needs_root: bool,
    is_whole: bool,
    skipped: tuple[str, ...] = (),
) -> PlantingPlan:
    settings = settings if span is None else replace(settings, frame_range="CUSTOM", frame_start=span[0], frame_end=span[1])
    start, end = frame_range(scene, _bake_settings(armature, settings))
    if not LEAST_FRAMES <= end - start + 1.0 <= MOST_FRAMES:
        raise RangeError(
            "The range from {start:g} to {end:g} has {frames:,.0f} frames. Choose one of {least} to {most:,} frames.",
            start=start,
            end=end,
            frames=end - start + 1.0,
            least=LEAST_FRAMES,
            most=MOST_FRAMES,
        )
    frames = even_frames((start, end)) if is_loop(armature, (start, end)) else np.arange(start, end + 1e-6)
    samples = subframe_grid(frames, SAMPLES_PER_FRAME)
    legs = [planned_leg(scene, armature, request, settings, samples) for request in requests]
    root, notes = None, ()
    if use_root:
        uppers = [leg.plan.names.upper for leg in legs]
        root, notes = plan_root(armature, settings, uppers, (start, end), needed=needs_root)
    legs = [replace(leg, feet_on_root=_feet_on_root(armature, leg, root)) for leg in legs]
    rate = scene.render.fps / scene.render.fps_base
    return PlantingPlan(armature.name, settings, frames, samples, rate, units_of(scene), legs, root, notes, is_whole, skipped, ())


def _is_whole(scene: Scene, settings: RootSettings, span: Span | None) -> bool:
    """Whether a run is about all of the motion: that of the scene, or of the action with the range `span`."""
    ranges = {"SCENE"} if scene.use_preview_range else {"SCENE", "PREVIEW"}
    return span is not None or settings.frame_range in ranges


def _feet_on_root(armature: Object, leg: LegPlan, root: RootPlan | None) -> tuple[bool, ...]:
    """For each foot that is keyed along, whether it hangs from the root: from its object, or its bone."""
    feet = [armature.pose.bones[foot.bone.name] for foot in leg.plan.along]
    if root is None or root.bone is None:
        return tuple(root is not None for _ in feet)
    return tuple(root.bone.name in {above.name for above in foot.parent_recursive} for foot in feet)


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


def planned_leg(scene: Scene, armature: Object, request: ChainRequest, settings: RootSettings, samples: Array) -> LegPlan:
    """Plan one limb at `samples` `(S,)`; raises a `TwoBoneError`."""
    follows, names = bool(request.target), request.names
    bake = _bake_settings(
        armature,
        settings,
        upper=names.upper,
        lower=names.lower,
        tip=names.tip,
        tip_end="TAIL" if names.tip_at_tail else "HEAD",
        target=request.target,
        target_bone=request.target_bone,
        plane="POSE",
        reference="POSE",
        interpolation="BEZIER",
        stored=request.chain,
    )
    foot = foot_bone(armature, names)
    if carrier_of(armature, names) != names.tip:
        refuse_left_behind(foot_left_behind(armature, names))
    if foot is not None and (carrier_of(armature, names) == names.tip or foot in feet_along(armature, names)):
        bake = replace(bake, end_rotation="KEEP")
    plan = plan_chain(scene, bake, None)
    refuse_unwritable_chain(scene, plan, is_motion=True)
    # Planting does not key scales, so a keyed stretch stays; baking onto targets removes it.
    stretched = plan.stretched_before if follows else {}
    rows = np.arange(0, len(samples), SAMPLES_PER_FRAME)
    plan = replace(plan, frames=SampledFrames(samples), report_rows=rows, animated_settings={}, stretched_before=stretched)
    points = read_foot_points(armature, names, plan.rest, request.toe)
    return LegPlan(request.chain, plan, points, foot is not None)


def _with_stretch(armature: Object, leg: LegPlan, destination: str) -> LegPlan:
    """The leg with the stretch that its chain's Reach allows, and the keys of the scales that stretching changes."""
    chain, plan = armature.twobone.chains.get(leg.chain), leg.plan
    if chain is None or chain.reach != "STRETCH":
        return leg
    stops = bone_that_stops_stretch(plan.rest)
    if stops is not None:
        reason = note('Bone "{bone}" does not inherit scale, so "{chain}" cannot stretch.', bone=stops.name, chain=leg.chain)
        return replace(leg, plan=replace(plan, notes=(*plan.notes, reason)))
    paths = [scale_path(bone) for bone, _ in leg.scaled]
    refuse_unwritable(armature, paths, destination, is_motion=True)
    return replace(leg, plan=with_keyed(plan, armature, paths), stretch=min(chain.stretch_max, MOST_STRETCH))
