"""Plan finishing a retarget: the limbs of both characters, paired. Everything that can be refused is refused here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.array_types import Array
from ...core.arrays import magnitude
from ...core.contacts.points import FootPoints
from ...core.rig.rotations import unit
from ...errors import ChainError, ObjectError, RangeError
from ...pipeline.beginning import ToWrite
from ...pipeline.gate import refuse_posed, who_poses
from ...pipeline.plan.found_chain import chain_found
from ...pipeline.story import Span
from ...records import replace
from ...scene.actions import key_span
from ...scene.blender_types import Object, Scene
from ...scene.bones import ChainNames
from ...scene.lookup import find_armature, find_object
from ...scene.rig.rest_reading import carrier_of, foot_bone
from ...scene.sampling.quantities import Quantity
from ...settings.feet import FinishSettings, PlantSettings
from ..find_contacts.plan import SIDES, ContactPlan, contacts_source, legs_of
from ..plant.plan.planning import ChainRequest, LegPlan, PlantPlan, plan_planting, planned_leg

PALM = 0.12
"""Distance of the palm from the wrist along the forearm at rest, arm lengths: the middle of a hand."""

BOTH = 2
"""Number of legs, and of arms, of a character whose retarget can be finished."""


@dataclass(frozen=True, slots=True)
class SourceOfLimb:
    """The limb of the source that one of the result corresponds to."""

    joints: tuple[Quantity, Quantity, Quantity]
    """World matrices of the upper bone, of the lower one, and of that which carries the tip."""
    tip: Array
    """`(3,)` the tip in the space of the bone that carries it."""
    end: Array
    """`(3,)` ball or palm in that space."""


@dataclass(frozen=True, slots=True)
class FinishPlan:
    """A character, the source of its motion, and their limbs in pairs."""

    settings: FinishSettings
    planting: PlantPlan
    """The legs, the root and the ground; its contacts are those of the source."""
    source: ContactPlan
    """The feet of the source, in the order of the legs."""
    arms: list[LegPlan]
    """Left and right arm; none unless both characters have both."""
    of_legs: list[SourceOfLimb]
    of_arms: list[SourceOfLimb]

    @property
    def limbs(self) -> list[LegPlan]:
        """All limbs that are posed."""
        return [*self.planting.legs, *self.arms]

    def quantities(self) -> list[Quantity]:
        """Quantities to sample before solving."""
        arms = [quantity for arm in self.arms for quantity in (*replace(self.planting, legs=[arm]).quantities(),)]
        source = [quantity for limb in (*self.of_legs, *self.of_arms) for quantity in limb.joints]
        ground = [self.planting.contacts.ground] if self.planting.contacts.ground else []
        return [*self.planting.quantities(), *arms, *source, *ground]

    def reaches(self) -> list[ToWrite]:
        """Where keys are written: those that it keyed before are taken back first."""
        within = float(self.planting.frames[0]), float(self.planting.frames[-1])
        in_strips, root = self.settings.destination == "NLA", self.planting.root
        paths = [(limb.chain, limb.plan.rotation_paths()) for limb in self.limbs]
        paths += [(root.name, [root.path])] if root is not None else []
        return [ToWrite(self.planting.armature, frozenset(own), within, name if in_strips else "") for name, own in paths]


def plan_finish(scene: Scene, settings: FinishSettings, active: Object | None, span: Span | None) -> FinishPlan:
    """Pair the limbs of both characters; raises a `TwoBoneError` where they do not correspond, or cannot be keyed."""
    armature = find_armature(settings.armature, active)
    if not settings.source:
        raise ObjectError(
            'No source of the motion of armature "{armature}" is named. Select it as well, or set Source.', armature=armature.name
        )
    source = find_object("Source", settings.source)
    if source.type != "ARMATURE":
        raise ObjectError(
            'Source "{source}" is not an armature. Choose the character whose motion was copied.', source=source.name
        )
    planting = plan_planting(scene, _as_planting(settings, armature), active, span)
    contacts = planting.contacts
    within = float(planting.frames[0]), float(planting.frames[-1])
    theirs = contacts_source(scene, replace(contacts.settings, contacts_from=settings.source), contacts.legs, within)
    theirs = replace(theirs, frames=planting.frames, rate=contacts.rate)
    _refuse_other_frames(source, planting)
    _refuse_other_legs(planting)
    of_legs = [_source_limb(source, theirs.legs.names[foot.chain], foot.points.ball) for foot in theirs.feet]
    arms, of_arms = _arms(scene, settings, armature, source, planting)
    return FinishPlan(settings, planting, theirs, arms, of_legs, of_arms)


def _as_planting(settings: FinishSettings, armature: Object) -> PlantSettings:
    shared = ("actions", "frame_range", "frame_start", "frame_end", "ground", "ground_height", "ground_object", "max_repair")
    values = {name: getattr(settings, name) for name in (*shared, "destination", "verify", "evaluation")}
    return PlantSettings(armature=armature.name, **values)


def _refuse_other_legs(planting: PlantPlan) -> None:
    sides = sorted(planting.contacts.legs.sides[leg.chain] for leg in planting.legs)
    if sides != sorted(SIDES):
        raise ChainError(
            'Armature "{armature}" has {count} legs ({sides}), but a retarget is finished on one left and one right leg. '
            "Disable the other chains, or set the Side of these.",
            armature=planting.armature,
            count=len(sides),
            sides=", ".join(sides),
        )


def _refuse_other_frames(source: Object, planting: PlantPlan) -> None:
    """Refuse a source whose keys do not cover the frames, within which it would stand still while the character moves."""
    action = source.animation_data.action if source.animation_data else None
    own = None if action is None else key_span(action)
    first, last = float(planting.frames[0]), float(planting.frames[-1])
    if own is not None and (own[0] > first + 1.0 or own[1] < last - 1.0):
        raise RangeError(
            'Source "{source}" moves from frame {start:g} to {end:g}, but the range goes from {first:g} to {last:g}. '
            "Set the range to frames at which both move.",
            source=source.name,
            start=own[0],
            end=own[1],
            first=first,
            last=last,
        )


def _source_limb(source: Object, names: ChainNames, end: Array | None) -> SourceOfLimb:
    """A limb of the source; without an `end` its palm is assumed beyond the wrist."""
    joints = chain_found(source, names).rest.rest_joints()
    foot = foot_bone(source, names)
    carrier = foot.name if foot is not None else carrier_of(source, names)
    bone_from_armature = np.linalg.inv(np.array(source.data.bones[carrier].matrix_local, dtype=float))
    tip, palm = ((bone_from_armature @ [*place, 1.0])[:3] for place in (joints[-1], _palm(joints)))
    bones = (names.upper, names.lower, carrier)
    upper, lower, carried = (Quantity("WORLD", source.name, bone) for bone in bones)
    return SourceOfLimb((upper, lower, carried), tip, palm if end is None else end)


def _palm(joints: Array) -> Array:
    """The middle of the hand `(3,)` of an arm with these joints at rest `(3, 3)`."""
    return joints[-1] + PALM * float(magnitude(np.diff(joints, axis=0)).sum()) * unit(joints[-1] - joints[-2])


def _arms(
    scene: Scene, settings: FinishSettings, armature: Object, source: Object, planting: PlantPlan
) -> tuple[list[LegPlan], list[SourceOfLimb]]:
    """Left and right arm of both characters; none where hands are left alone, or one of the characters has not both."""
    if settings.hands == "KEEP":
        return [], []
    pairs = []
    for character in (armature, source):
        limbs, legs = legs_of(scene, character, arms=True), legs_of(scene, character)
        arms = {limbs.sides[chain]: chain for chain in reversed(list(limbs.names)) if chain not in legs.names}
        if not SIDES.keys() <= arms.keys():
            return [], []
        pairs.append([(arms[side], limbs.names[arms[side]]) for side in SIDES])
    plans, within = [], (float(planting.frames[0]), float(planting.frames[-1]))
    for chain, names in pairs[0]:
        plan = planned_leg(scene, armature, ChainRequest(chain, names, ""), planting.settings, planting.samples)
        refuse_posed(who_poses(scene, armature, names, within))
        foot = foot_bone(armature, names)
        palm = np.zeros(3)
        if foot is not None:
            bone_from_armature = np.linalg.inv(np.array(foot.bone.matrix_local, dtype=float))
            palm = (bone_from_armature @ [*_palm(plan.plan.rest.rest_joints()), 1.0])[:3]
        plans.append(replace(plan, points=FootPoints(palm, palm, 0.0)))
    return plans, [_source_limb(source, names, None) for _, names in pairs[1]]
