"""Whose feet are meant, over which frames and on which ground: everything that can be refused is refused here."""

from __future__ import annotations

from dataclasses import dataclass

from ...array_types import Array
from ...contacts.points import FootPoints
from ...curves.frames import frame_grid
from ...errors import ChainError, RangeError
from ...rig.bones import RestChain
from ...scene.blender_types import Object, Scene
from ...scene.ground import GroundSurface
from ...scene.keys.contact_keys import contact_path
from ...scene.keys.guarding import refuse_stretched_time, refuse_unwritable
from ...scene.lookup import find_armature, object_named
from ...scene.moves.shapes import changes_shape
from ...scene.rig.foot_reading import foot_bone, read_foot_points
from ...scene.walk.evaluate import Quantity
from ...settings import BakeSettings
from ...settings.contacts import ContactSettings
from ..limbs.finding import find_and_store
from ..plan.completing import StoredChain, names_of
from ..plan.finding import chain_found
from ..plan.frame_choice import frame_range

MOST_FRAMES = 300_000
"""Of one search: what fits into memory."""


@dataclass(frozen=True, slots=True)
class FootPlan:
    """One limb that may stand."""

    chain: str
    """Name of the stored chain."""
    rest: RestChain
    points: FootPoints
    foot: Quantity
    """World matrices of the bone that has the points."""
    hip: Quantity
    """World matrices of the upper bone."""


@dataclass(frozen=True, slots=True)
class ContactPlan:
    """The feet of one armature."""

    armature: str
    settings: ContactSettings
    frames: Array
    """`(F,)`"""
    rate: float
    """Frames a second."""
    feet: list[FootPlan]
    surface: GroundSurface | None
    held_ground: str
    """Name of a ground that changes its shape over time, and is taken as it is at the current frame; empty otherwise."""

    @property
    def world(self) -> Quantity:
        """World matrices of the armature."""
        return Quantity("WORLD", self.armature)

    @property
    def ground(self) -> Quantity | None:
        """World matrices of the ground, if it is an object."""
        return Quantity("WORLD", self.surface.name) if self.surface else None

    def quantities(self) -> list[Quantity]:
        """What to sample."""
        found = [self.world, *(quantity for foot in self.feet for quantity in (foot.foot, foot.hip))]
        return [*found, self.ground] if self.ground else found


def plan_contacts(scene: Scene, settings: ContactSettings, active: Object | None) -> ContactPlan:
    """Find the feet and their ground; raises a `TwoBoneError` where there are none, or nothing could be keyed."""
    armature = find_armature(settings.armature, active)
    frames = contact_frames(scene, settings)
    refuse_stretched_time(scene)
    refuse_unwritable(armature, [], "ACTION")
    surface = GroundSurface(scene, settings.ground_object) if settings.ground == "OBJECT" else None
    list_missing_legs(scene, armature)
    chains = standing_chains(armature, arms=settings.arms)
    refuse_unwritable(armature, [contact_path(chain) for chain in chains], "ACTION")
    rate = scene.render.fps / scene.render.fps_base
    feet = [foot_plan(armature, chain) for chain in chains]
    held = surface.name if surface is not None and changes_shape(object_named(surface.name)) else ""
    return ContactPlan(armature.name, settings, frames, rate, feet, surface, held)


def list_missing_legs(scene: Scene, armature: Object) -> None:
    """Where no enabled chain may be a leg, find the limbs of the armature and add them to its list."""
    if not _legs(armature):
        find_and_store(scene, armature.name, armature, targets=False)


def standing_chains(armature: Object, *, arms: bool = False) -> list[StoredChain]:
    """The enabled stored chains that are legs; where none is known to be a leg, all enabled ones that are no arms.

    Raises `ChainError` where there are none.
    """
    legs = _legs(armature)
    if not legs:
        raise ChainError(
            f'Armature "{armature.name}" has no enabled chain that is a leg, and no legs were found. Add its legs to the list.'
        )
    return [*legs, *(chain for chain in armature.twobone.chains if arms and chain.enabled and chain.limb == "ARM")]


def _legs(armature: Object) -> list[StoredChain]:
    enabled = [chain for chain in armature.twobone.chains if chain.enabled]
    return [chain for chain in enabled if chain.limb == "LEG"] or [chain for chain in enabled if chain.limb != "ARM"]


def contact_frames(scene: Scene, settings: ContactSettings) -> Array:
    """The frames `(F,)` that the settings mean; raises `RangeError` where there are too many."""
    own = BakeSettings(frame_range=settings.frame_range, frame_start=settings.frame_start, frame_end=settings.frame_end)
    start, end = frame_range(scene, own)
    if end - start >= MOST_FRAMES:
        raise RangeError(f"The range from {start:g} to {end:g} has more than {MOST_FRAMES:,} frames. Choose a shorter range.")
    return frame_grid(start, end)


def foot_plan(armature: Object, chain: StoredChain) -> FootPlan:
    """The foot of a stored chain; raises `ChainError` where its bones are not there."""
    names = names_of(chain)
    rest = chain_found(armature, names).rest
    foot = foot_bone(armature, names)
    return FootPlan(
        chain=chain.name,
        rest=rest,
        points=read_foot_points(armature, names, rest, chain.toe),
        foot=Quantity("WORLD", armature.name, foot.name if foot else names.tip),
        hip=Quantity("WORLD", armature.name, names.upper),
    )
