"""The limbs of a character, which only reads, and chains for them, which is an edit of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from ...core.array_types import Array
from ...core.limbs.body.judging import Kind
from ...core.limbs.finding import FoundLimb, find_limbs, is_laid_out
from ...core.limbs.skeleton import Skeleton
from ...errors import ObjectError
from ...pipeline.motion.curve_motion import CurveMotion
from ...pipeline.motion.sampling import sample
from ...pipeline.plan.completing import free_name
from ...pipeline.plan.found_chain import chain_found
from ...pipeline.plan.frame_choice import fresh_range
from ...pipeline.plan.planes_of_rig import first_plane
from ...scene.blender_types import Object, Scene
from ...scene.bones import ChainNames
from ...scene.graph.lineage_reading import LineageReader
from ...scene.lookup import object_named, objects_known
from ...scene.rig.rest_reading import read_foot_points, read_skeleton
from ...scene.sampling.evaluate import Quantity, animation_times
from .limbs_report import LeftOutLimb, LimbReport

FRONT_AND_HIND = ("Front", "Hind")

POSES = 9
"""Poses of an action that are searched; three to five would do, nine are calm."""

HUGE = 1e30
"""Scale from which on a character's transform is taken for infinite: Blender keeps infinity as the largest number it has."""

STILL = 1e-4
"""Distance of all joints from the rest, relative to the skeleton's size, up to which poses are the rest."""


@dataclass(frozen=True, slots=True)
class LimbRecord:
    """A limb that was found, with what its chain is or would be."""

    kind: str
    """`LEG` or `ARM`."""
    side: str
    """`LEFT`, `RIGHT` or `CENTER`."""
    toe: str
    """Bone of the toes; empty where there is none."""
    names: ChainNames
    chain: str
    """Name of the stored chain with these bones, or the free name that a new one gets."""
    settings: Mapping[str, str | float]
    """Settings of that new chain; empty where the chain is stored already."""
    shape_says: str
    """What the shape alone says where names decide otherwise; empty elsewhere."""

    @property
    def is_new(self) -> bool:
        """Whether no chain is stored for the limb."""
        return bool(self.settings)

    def report(self, *, rest_stands: bool) -> LimbReport:
        """As it is reported; where feet stand is read from the rest if that is a stand."""
        names, sole, height = self.names, "", None
        if self.kind == "LEG":
            armature = object_named(names.armature)
            points = read_foot_points(armature, names, chain_found(armature, names).rest, self.toe)
            is_known = rest_stands or points.source in {"MESH", "BONE"}
            sole = points.source if is_known else "MOTION"
            height = points.ankle_height * float(abs(armature.matrix_world.determinant())) ** (1 / 3) if is_known else None
        bones = (names.upper, names.lower, names.tip, "TAIL" if names.tip_at_tail else "HEAD", self.toe)
        return LimbReport(self.kind, self.side, *bones, self.chain, self.is_new, sole, height, self.shape_says)


@dataclass(frozen=True, slots=True)
class FoundLimbs:
    """What a search found on one armature; iterates over the limbs."""

    limbs: tuple[LimbRecord, ...]
    left_out: tuple[LeftOutLimb, ...]
    limbs_from: str
    """`REST` or `MOTION`."""
    rest_is_no_pose: bool
    """Whether nothing was found because the rest is no pose, and there is no motion."""
    sides_differ: bool
    """Whether names call left what feet, knees or elbows say is right."""

    def __iter__(self) -> Iterator[LimbRecord]:
        return iter(self.limbs)


def found_limbs(scene: Scene, armature: Object) -> FoundLimbs:
    """The limbs of an armature, each with the chain that is stored for it or that would be. Changes nothing.

    Raises `ObjectError` where the armature is scaled to nothing, or its numbers are none.
    """
    skeleton = read_skeleton(armature)
    world = np.array(armature.matrix_world, dtype=np.float64)
    linear = world[:3, :3]
    if not (np.abs(world) < HUGE).all() or not np.isfinite([skeleton.heads, skeleton.tails]).all():
        raise ObjectError(
            'Armature "{armature}" has a transform that is not a number. Clear its transform.', armature=armature.name
        )
    if np.linalg.matrix_rank(linear) < len(linear):
        raise ObjectError(
            'Armature "{armature}" is scaled to 0. Give it a scale other than 0 on every axis.', armature=armature.name
        )
    found = find_limbs(replace(skeleton, poses=_poses(scene, armature, skeleton)))
    stored = {(chain.upper, chain.lower): chain.name for chain in reversed(armature.twobone.chains)}
    taken, records = {chain.name for chain in armature.twobone.chains}, []
    for limb in found.limbs:
        names = ChainNames(armature.name, limb.upper, limb.lower, limb.tip, limb.tip_at_tail)
        chain, settings = stored.get((limb.upper, limb.lower), ""), {}
        if not chain:
            chain = free_name(_title(limb), taken)
            taken.add(chain)
            end = "TAIL" if limb.tip_at_tail else "HEAD"
            bones = {"upper": limb.upper, "lower": limb.lower, "tip": limb.tip, "tip_end": end}
            settings = {**bones, **fresh_range(scene), **first_plane(chain_found(armature, names))}
        against = limb.against.value if limb.against else ""
        records.append(LimbRecord(limb.kind.value, limb.side.value, limb.toe, names, chain, settings, against))
    left_out = (LeftOutLimb(list(each.bones), each.reason.value) for each in found.left_out)
    return FoundLimbs(tuple(records), tuple(left_out), found.limbs_from, found.laid_out, found.sides_differ)


def _poses(scene: Scene, armature: Object, skeleton: Skeleton) -> Array | None:
    """Heads and tails `(P, B, 2, 3)` in poses spread over the armature's action; `None` without one.

    The action's curves tell them. Bones that constraints or drivers move are taken to follow their parents as they rest: what
    Blender would make of them is evaluated only where the rest tells nothing.
    """
    action = armature.animation_data.action if armature.animation_data else None
    bones = armature.data.bones
    if not len(bones) or (action is None and not is_laid_out(skeleton)):
        return None
    first, last = action.frame_range if action else (scene.frame_start, scene.frame_end)
    frames = np.unique(np.round(np.linspace(first, last, POSES)))
    quantities = {bone.name: Quantity("POSE", armature.name, bone.name) for bone in bones}
    motion = CurveMotion(LineageReader(animation_times(scene, frames)))
    with objects_known():
        found = {name: motion.find(quantity) for name, quantity in quantities.items()}
    if is_laid_out(skeleton) and any(pose is None for pose in found.values()):
        samples = sample(scene, quantities.values(), frames)
        found = {name: samples.values[quantity] for name, quantity in quantities.items()}
    posed: dict[str, Array] = {}
    places = np.empty((len(frames), len(bones), 2, 3))
    for number, bone in enumerate(bones):  # parents come before their children
        rest, pose = np.array(bone.matrix_local), found[bone.name]
        if pose is None:
            above = bone.parent
            pose = posed[above.name] @ np.linalg.inv(np.array(above.matrix_local)) @ rest if above else rest[None]
        posed[bone.name] = pose
        places[:, number, 0] = pose[:, :3, 3]
        places[:, number, 1] = pose[:, :3, 3] + bone.length * pose[:, :3, 1]
    rest_places = np.stack([skeleton.heads, skeleton.tails], axis=1)
    is_moved = np.abs(places - rest_places).max() > STILL * np.ptp(rest_places)
    return places if is_moved and np.isfinite(places).all() else None


def store_limbs(armature: Object, records: Sequence[LimbRecord] | FoundLimbs) -> None:
    """A stored chain for every limb: the one that is there or a new one, with a note which limb it is unless it has one."""
    for record in records:
        if record.is_new and record.chain not in armature.twobone.chains:
            chain = armature.twobone.chains.add()
            chain.name = record.chain
            for setting, value in record.settings.items():
                setattr(chain, setting, value)
        else:
            chain = armature.twobone.chains[record.chain]
        if chain.limb == "NONE":
            chain.limb, chain.side, chain.toe = record.kind, record.side, record.toe


@contextmanager
def stored_limbs(armature: Object, records: Sequence[LimbRecord]) -> Iterator[None]:
    """The same as `store_limbs`; if the block fails, the list of chains is as it was before."""
    chains = armature.twobone.chains
    count, noted = len(chains), [(chain.limb, chain.side, chain.toe) for chain in chains]
    store_limbs(armature, records)
    is_done = False
    try:
        yield
        is_done = True
    finally:
        if not is_done:
            while len(chains) > count:
                chains.remove(len(chains) - 1)
            for chain, (limb, side, toe) in zip(chains, noted, strict=True):
                if chain.limb != limb:
                    chain.limb, chain.side, chain.toe = limb, side, toe


def _title(limb: FoundLimb) -> str:
    """What people call a limb: `Left Leg`, `Right Hind Leg`, `Left Arm 2`."""
    words = [limb.side.value.capitalize()] if limb.side.value != "CENTER" else []
    kind, number = limb.kind.value.capitalize(), limb.place.number
    if limb.place.count == 1:
        return " ".join([*words, kind])
    if limb.kind is Kind.LEG and limb.place.count == len(FRONT_AND_HIND):
        return " ".join([*words, FRONT_AND_HIND[number], kind])
    return " ".join([*words, kind, str(number + 1)])
