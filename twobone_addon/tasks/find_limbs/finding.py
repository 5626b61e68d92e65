"""Find the limbs of a character, which only reads; and store chains for them, which is a separate edit."""

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
"""Number of an action's poses that are searched; three to five suffice, nine give steady results."""

HUGE = 1e30
"""Transform value from which on it counts as infinite: Blender stores infinity as the largest number it has."""

STILL = 1e-4
"""Largest distance of joints from the rest pose, relative to the skeleton's size, at which poses count as the rest pose."""


@dataclass(frozen=True, slots=True)
class LimbRecord:
    """A limb that was found, with its stored chain or the one that it would get."""

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
    """Kind or reason by shape alone, where names overrule it; else empty."""

    @property
    def is_new(self) -> bool:
        """Whether no chain is stored for the limb."""
        return bool(self.settings)

    def report(self, *, rest_stands: bool) -> LimbReport:
        """Report of the limb; with `rest_stands` the rest pose is a standing pose and may show where its foot stands."""
        names, sole, height = self.names, "", None
        if self.kind == "LEG":
            armature = object_named(names.armature)
            points = read_foot_points(armature, names, chain_found(armature, names).rest, self.toe)
            is_sole_known = rest_stands or points.source in {"MESH", "BONE"}
            sole = points.source if is_sole_known else "MOTION"
            scale = float(abs(armature.matrix_world.determinant())) ** (1 / 3)
            height = points.ankle_height * scale if is_sole_known else None
        bones = (names.upper, names.lower, names.tip, "TAIL" if names.tip_at_tail else "HEAD", self.toe)
        return LimbReport(self.kind, self.side, *bones, self.chain, self.is_new, sole, height, self.shape_says)


@dataclass(frozen=True, slots=True)
class FoundLimbs:
    """Limbs found on one armature, and branches that were left out; iterates over the limbs."""

    limbs: tuple[LimbRecord, ...]
    left_out: tuple[LeftOutLimb, ...]
    limbs_from: str
    """Whether the limbs were found in the rest pose or in motion: `REST` or `MOTION`."""
    rest_is_no_pose: bool
    """Whether nothing was found because the rest pose is no standing pose and there is no motion."""
    sides_differ: bool
    """Whether left and right by name contradict the direction of feet, knees or elbows."""

    def __iter__(self) -> Iterator[LimbRecord]:
        return iter(self.limbs)


def found_limbs(scene: Scene, armature: Object) -> FoundLimbs:
    """Find the limbs of an armature, each with its stored chain or the one that it would get. Changes nothing.

    Raises `ObjectError` where the armature is scaled to 0, or its transform is not finite.
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
    taken_names, records = {chain.name for chain in armature.twobone.chains}, []
    for limb in found.limbs:
        names = ChainNames(armature.name, limb.upper, limb.lower, limb.tip, limb.tip_at_tail)
        chain, settings = stored.get((limb.upper, limb.lower), ""), {}
        if not chain:
            chain = free_name(_title(limb), taken_names)
            taken_names.add(chain)
            end = "TAIL" if limb.tip_at_tail else "HEAD"
            bones = {"upper": limb.upper, "lower": limb.lower, "tip": limb.tip, "tip_end": end}
            settings = {**bones, **fresh_range(scene), **first_plane(chain_found(armature, names))}
        shape_says = limb.against.value if limb.against else ""
        records.append(LimbRecord(limb.kind.value, limb.side.value, limb.toe, names, chain, settings, shape_says))
    left_out = (LeftOutLimb(list(each.bones), each.reason.value) for each in found.left_out)
    return FoundLimbs(tuple(records), tuple(left_out), found.limbs_from, found.laid_out, found.sides_differ)


def _poses(scene: Scene, armature: Object, skeleton: Skeleton) -> Array | None:
    """Heads and tails `(P, B, 2, 3)` in poses spread over the armature's action; `None` without any that differs from rest.

    They are computed from the action's F-Curves. Bones that constraints or drivers move are assumed to follow their parents
    as at rest; Blender evaluates them only where the rest pose shows no limbs (is laid out).
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
        poses = {name: motion.find(quantity) for name, quantity in quantities.items()}
    if is_laid_out(skeleton) and any(pose is None for pose in poses.values()):
        samples = sample(scene, quantities.values(), frames)
        poses = {name: samples.values[quantity] for name, quantity in quantities.items()}
    posed: dict[str, Array] = {}
    places = np.empty((len(frames), len(bones), 2, 3))
    for number, bone in enumerate(bones):  # parents come before their children
        rest, pose = np.array(bone.matrix_local), poses[bone.name]
        if pose is None:
            parent = bone.parent
            pose = posed[parent.name] @ np.linalg.inv(np.array(parent.matrix_local)) @ rest if parent else rest[None]
        posed[bone.name] = pose
        places[:, number, 0] = pose[:, :3, 3]
        places[:, number, 1] = pose[:, :3, 3] + bone.length * pose[:, :3, 1]
    rest_places = np.stack([skeleton.heads, skeleton.tails], axis=1)
    is_moved = np.abs(places - rest_places).max() > STILL * np.ptp(rest_places)
    return places if is_moved and np.isfinite(places).all() else None


def store_limbs(armature: Object, records: Sequence[LimbRecord] | FoundLimbs) -> None:
    """Store a chain for every limb that has none, and mark each chain with its limb unless it is marked already."""
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
    """Store chains as `store_limbs` does; if the block fails, the list of chains is restored."""
    chains = armature.twobone.chains
    count, marks = len(chains), [(chain.limb, chain.side, chain.toe) for chain in chains]
    store_limbs(armature, records)
    is_done = False
    try:
        yield
        is_done = True
    finally:
        if not is_done:
            while len(chains) > count:
                chains.remove(len(chains) - 1)
            for chain, (limb, side, toe) in zip(chains, marks, strict=True):
                if chain.limb != limb:
                    chain.limb, chain.side, chain.toe = limb, side, toe


def _title(limb: FoundLimb) -> str:
    """Title of a limb, such as `Left Leg`, `Right Hind Leg` or `Left Arm 2`."""
    words = [limb.side.value.capitalize()] if limb.side.value != "CENTER" else []
    kind, number = limb.kind.value.capitalize(), limb.place.number
    if limb.place.count == 1:
        return " ".join([*words, kind])
    if limb.kind is Kind.LEG and limb.place.count == len(FRONT_AND_HIND):
        return " ".join([*words, FRONT_AND_HIND[number], kind])
    return " ".join([*words, kind, str(number + 1)])
