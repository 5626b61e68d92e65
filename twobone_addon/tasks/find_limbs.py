"""Find Limbs: add the arms and legs of a character to its list of chains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..core.array_types import Array
from ..core.limbs.body.judging import LimbKind
from ..core.limbs.finding import FoundLimb, find_limbs, is_laid_out
from ..core.limbs.skeleton import Skeleton
from ..core.rig.rotations import unit
from ..errors import ObjectError, SettingError, TwoBoneError
from ..pipeline.live import go_live
from ..pipeline.motion.action_poses import read_poses
from ..pipeline.plan.found_chain import chain_found
from ..pipeline.plan.planes_of_rig import first_plane
from ..pipeline.plan.stored import free_name, fresh_range, stored_settings
from ..pipeline.report.reports import Report
from ..pipeline.story import Make, Sample, Story, Task, Write, answered
from ..records import replace
from ..said import Sentence, joined, note
from ..scene.actions import OwnAction, actions_of
from ..scene.blender_types import Object, Scene
from ..scene.bones import ChainNames
from ..scene.keys.writing import Change
from ..scene.live.limbs import limb_on
from ..scene.live.marks import NEEDS_NEWER, can_go_live
from ..scene.lookup import find_armature, object_named
from ..scene.rig.chain_finding import chain_from_names
from ..scene.rig.rest_reading import joined_by_constraints, read_foot_points, read_skeleton
from ..scene.sampling.evaluate import Quantity
from ..scene.writer import add_item, assign
from ..settings.tasks import TABLES, FindLimbsSettings
from .give.guides import added_targets
from .give.task import target_keys

AHEAD = 0.3
"""Least horizontal part of the feet's direction, relative to its length, that gives a heading; a hanging foot has less."""

BESIDE = 0.02
"""Distance from a bone's tail, relative to its length, within which a child begins at the tail."""


def feet_of(armature: Object) -> list[tuple[str, str]]:
    """Foot bone and toe bone of every leg found; the toe is empty where there is none."""
    legs = (limb for limb in find_limbs(read_skeleton(armature)).limbs if limb.kind is LimbKind.LEG and not limb.tip_at_tail)
    return [(leg.tip, leg.toe) for leg in legs]


def foot_of_chain(armature: Object, upper: str, lower: str, tip: str, tip_end: str) -> list[tuple[str, str]]:
    """Bones that begin at a chain's tip, as feet without toes; raises `ChainError` where there is no such chain."""
    names = chain_from_names(armature, upper, lower, tip, tip_end)
    if not names.tip_at_tail:
        return [(names.tip, "")]
    last = armature.data.bones[names.tip]
    near = BESIDE * last.length
    return [(bone.name, "") for bone in last.children if (bone.head_local - last.tail_local).length < near]


def ahead(armature: Object, feet: list[tuple[str, str]]) -> Array:
    """Horizontal unit direction `(3,)`, world space, in which the feet point in the present pose; zeros where that is up or down.

    Where they do not agree, the lowest one tells: a foot that is lifted behind hangs, and may point backward.
    """
    if not feet:
        return np.zeros(3)
    bones = armature.pose.bones
    ends = np.array([[bones[foot].head, bones[toe].head if toe else bones[foot].tail] for foot, toe in feet], dtype=float)
    ends = ends @ np.array(armature.matrix_world.to_3x3()).T
    directions = unit(ends[:, 1] - ends[:, 0])
    level = directions * (1.0, 1.0, 0.0)
    total = directions.sum(axis=0)
    if (level @ level.T).min() < 0.0 or _is_steep(total):
        total = directions[np.argmin(ends[:, :, 2].mean(axis=1))]
    return np.zeros(3) if _is_steep(total) else unit(total * (1.0, 1.0, 0.0))


def _is_steep(direction: Array) -> bool:
    return bool(np.linalg.norm(direction[:2]) <= AHEAD * np.linalg.norm(direction))


STATEMENTS = {
    "SMALL": "too small",
    "STRAND": "a strand, such as hair, cloth or a cable",
    "FAN": "it fans out like a wing",
    "UNEVEN": "one link is much longer than the other",
    "SPLAYED": "too far apart for legs",
    "HIGH": "not on the ground, and not where arms are",
    "AROUND": "it surrounds the legs",
    "HEAD": "above the arms",
    "NAMED": "its name says it is no limb",
    "SELDOM": "not all poses show it",
    "LINKS": "three links",
    "DISAGREE": "names and shape disagree",
    "LOOSE": "its foot or hand is parented elsewhere: parent it to the limb",
}
"""Reasons why branches are no limbs, by code."""

SHAPES = {"ARM": "an arm", "LEG": "a leg"} | STATEMENTS | {"LOOSE": "its foot or hand is parented elsewhere"}
"""Kinds and reasons by shape alone, which names may overrule, by code."""

NO_POSE = "The rest pose is no standing pose. Choose an action, or store limbs by hand."

MOST = 4
"""Largest number of left-out branches that the note names; the report has all."""


@dataclass(frozen=True, slots=True)
class LimbReport:
    """One limb that was found."""

    kind: str
    """`LEG` or `ARM`."""
    side: str
    """`LEFT`, `RIGHT` or `CENTER`."""
    upper: str
    lower: str
    tip: str
    """Bone that carries the tip: foot or hand, or the lower bone where there is none."""
    tip_end: str
    """`HEAD` or `TAIL` of that bone."""
    toe: str
    """Bone of the toes; empty where there is none."""
    chain: str
    """Name of the stored chain."""
    added: bool
    """Whether the chain is new."""
    sole: str
    """Source of a leg's sole: `MESH`, `BONE` or `REST`; `MOTION` where Find Contacts has to find it; empty for arms."""
    ankle_height: float | None
    """Height of the ankle above the sole, world units; `None` where it is not known yet."""
    shape_says: str
    """Result by shape alone, where names overrule it: `ARM`, `LEG`, or a reason to leave it out; else empty."""


@dataclass(frozen=True, slots=True)
class LeftOutLimb:
    """A pair of branches, or one without a counterpart, that is no limb."""

    bones: list[str]
    """The first bone of each branch."""
    reason: str
    """A code, such as `SMALL`: [What is left out](limbs.md#what-is-left-out)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimbsReport(Report):
    """The limbs of one armature."""

    armature: str
    limbs: list[LimbReport]
    left_out: list[LeftOutLimb]
    limbs_from: str = "REST"
    """`REST`, or `MOTION` where poses of the action showed limbs that the rest pose does not."""
    rest_is_no_pose: bool = False
    """Whether nothing was found because the rest pose is no standing pose, and there is no motion."""
    sides_differ: bool = False
    """Whether left and right by name contradict the direction of feet, knees or elbows; names decide."""

    @property
    def is_as_asked(self) -> bool:
        """Whether any limbs were found; leaving branches out is a normal result."""
        return bool(self.limbs)

    @property
    def is_changed(self) -> bool:
        """Whether any limbs were found, added or known."""
        return bool(self.limbs)

    @property
    def shown_chain(self) -> str:
        """Name of the chain to show next, the first new one; empty where none is new."""
        return next((limb.chain for limb in self.limbs if limb.added), "")

    @property
    def summary(self) -> Sentence:
        """Summary of limbs added and known."""
        if not self.limbs and self.rest_is_no_pose:
            return Sentence(NO_POSE)
        if not self.limbs:
            return Sentence("No arms or legs found in {armature}.", {"armature": self.armature})
        added, known = (", ".join(limb.chain for limb in self.limbs if limb.added is new) for new in (True, False))
        parts = [Sentence("Limbs added: {names}.", {"names": added})] if added else []
        parts += [Sentence("Already in the list: {names}.", {"names": known})] if known else []
        parts += [Sentence("Sides are from the names; feet, knees or elbows say the opposite.")] if self.sides_differ else []
        return joined(parts)


def _because(bones: str, reason: str) -> Sentence:
    return Sentence("{bones} ({reason})", {"bones": bones, "reason": Sentence(reason)})


def said_left_out(left_out: Sequence[LeftOutLimb], apart: Sequence[str]) -> list[Sentence]:
    """Notes on what was left out and why; first on what names and shape disagree about, and on bones that constraints join."""
    disputed = [bone for limb in left_out if limb.reason == "DISAGREE" for bone in limb.bones]
    bones = ", ".join([*disputed[: 2 * MOST], *["..."][: len(disputed[2 * MOST :])]])
    notes = [note("Names and shape disagree about {bones}: not listed. Store them by hand.", bones=bones)] if disputed else []
    names = ", ".join([*apart[:MOST], *["..."][: len(apart[MOST:])]])
    said = "Only constraints join {bones} to the bones before them; limbs are searched along parents. Parent each to that bone."
    notes += [note(said, bones=names)] if apart else []
    left_out = [limb for limb in left_out if limb.reason != "DISAGREE"]
    things = [_because(" / ".join(limb.bones), STATEMENTS[limb.reason]) for limb in left_out[:MOST]]
    if len(left_out) > MOST:
        things.append(Sentence("{count} more", {"count": len(left_out) - MOST}))
    return [*notes, note("Left out: {things}.", things=joined(things, "; "))] if things else notes


def said_without_limbs(armature: Object, found: FoundLimbs) -> list[Sentence]:
    """Why no legs, or no limbs, were found on an armature, as far as it is known."""
    said = said_left_out(found.left_out, joined_by_constraints(armature))
    return said or ([Sentence(NO_POSE)] if found.rest_is_no_pose else [])


def said_named(limbs: Sequence[LimbReport]) -> list[Sentence]:
    """A note on limbs recognised by name against their shape, if there are any."""
    things = [_because(limb.upper, SHAPES[limb.shape_says]) for limb in limbs if limb.shape_says]
    return [note("Limbs recognised by name, against their shape: {things}.", things=joined(things, "; "))] if things else []


FRONT_AND_HIND = ("Front", "Hind")

POSES, MOST_POSES = 3, 27
"""Number of poses of each action that are searched, and of all; of more than nine actions every second, third ... is."""

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
    """`limbs_of` at once."""
    return answered(scene, limbs_of(scene, armature))


def limbs_of(scene: Scene, armature: Object) -> Story[FoundLimbs]:
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
    poses = yield from _poses(scene, armature, skeleton)
    found = find_limbs(replace(skeleton, poses=poses))
    # Of several chains with the same bones the first counts.
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
    left_out = (LeftOutLimb(list(branches.bones), branches.reason.value) for branches in found.left_out)
    return FoundLimbs(tuple(records), tuple(left_out), found.limbs_from, found.laid_out, found.sides_differ)


def _poses(scene: Scene, armature: Object, skeleton: Skeleton) -> Story[Array | None]:
    """Heads and tails `(P, B, 2, 3)` in poses of all actions of the armature; `None` without any that differs from rest.

    Which action is active does not matter. The poses are computed from F-Curves; bones that constraints or drivers move are
    assumed to follow their parents as at rest. Blender evaluates the scene's own poses where the rest is no pose (is laid out)
    and no action tells.
    """
    bones = armature.data.bones
    rest_places = np.stack([skeleton.heads, skeleton.tails], axis=1)

    def differ(places: Array) -> bool:
        is_moved = len(places) > 0 and np.abs(places - rest_places).max() > STILL * np.ptp(rest_places)
        return bool(is_moved and np.isfinite(places).all())

    actions = actions_of(armature)
    every = -(-len(actions) * POSES // MOST_POSES) if actions else 1
    poses = [places for own in actions[::every] if differ(places := read_poses(armature, own, POSES))]
    if poses:
        return np.concatenate(poses)
    if not len(bones) or not is_laid_out(skeleton):
        return None
    frames = np.unique(np.round(np.linspace(scene.frame_start, scene.frame_end, MOST_POSES // POSES)))
    quantities = [Quantity("POSE", armature.name, bone.name) for bone in bones]
    samples = yield Sample(quantities, frames)
    places = np.empty((len(frames), len(bones), 2, 3))
    for number, (bone, quantity) in enumerate(zip(bones, quantities, strict=True)):
        pose = samples.values[quantity]
        places[:, number, 0] = pose[:, :3, 3]
        places[:, number, 1] = pose[:, :3, 3] + bone.length * pose[:, :3, 1]
    return places if differ(places) else None


def store_limbs(armature: Object, records: Sequence[LimbRecord] | FoundLimbs) -> None:
    """Store a chain for every limb that has none, and mark each chain with its limb unless it is marked already."""
    for record in records:
        if record.is_new and record.chain not in armature.twobone.chains:
            chain = add_item(armature.twobone.chains)
            for setting, value in {"name": record.chain, **record.settings}.items():
                assign(chain, setting, value)
        else:
            chain = armature.twobone.chains[record.chain]
        if chain.limb == "NONE":
            for setting, value in {"limb": record.kind, "side": record.side, "toe": record.toe}.items():
                assign(chain, setting, value)


@contextmanager
def stored_limbs(armature: Object, records: Sequence[LimbRecord]) -> Iterator[None]:
    """Store chains as `store_limbs` does, before a block."""
    store_limbs(armature, records)
    yield


def _title(limb: FoundLimb) -> str:
    """Title of a limb, such as `Left Leg`, `Right Hind Leg` or `Left Arm 2`."""
    words = [limb.side.value.capitalize()] if limb.side.value != "CENTER" else []
    kind, number = limb.kind.value.capitalize(), limb.place.number
    if limb.place.count == 1:
        return " ".join([*words, kind])
    if limb.kind is LimbKind.LEG and limb.place.count == len(FRONT_AND_HIND):
        return " ".join([*words, FRONT_AND_HIND[number], kind])
    return " ".join([*words, kind, str(number + 1)])


def add_limbs(scene: Scene, settings: FindLimbsSettings, active: Object | None, _chosen: OwnAction | None) -> Story[LimbsReport]:
    """Add a chain for every limb of the named or active armature, or of the scene's only one; targets and Live on request."""
    if settings.live and not can_go_live():
        raise SettingError(NEEDS_NEWER)
    armatures = [known for known in scene.objects if known.type == "ARMATURE"]
    if (active is None or active.type != "ARMATURE") and len(armatures) == 1:
        active = armatures[0]
    armature = find_armature(settings.armature, active)
    if not armature.is_editable:
        raise ObjectError(
            'Armature "{armature}" is linked from another file. Make it local or override it first.', armature=armature.name
        )
    found = yield from limbs_of(scene, armature)
    limbs = [record.report(rest_stands=found.limbs_from == "REST") for record in found]
    apart = [] if any(limb.kind == "LEG" for limb in limbs) else joined_by_constraints(armature)
    report = LimbsReport(
        armature=armature.name,
        limbs=limbs,
        left_out=list(found.left_out),
        limbs_from=found.limbs_from,
        rest_is_no_pose=found.rest_is_no_pose,
        sides_differ=found.sides_differ,
        notes=[*said_named(limbs), *said_left_out(found.left_out, apart)],
    )
    yield Make(stored_limbs(armature, found.limbs))
    changes: list[Change] = []
    if settings.targets:
        chains = [armature.twobone.chains[record.chain] for record in found]
        without_target = [chain for chain in chains if chain.target is None]
        yield Make(added_targets(scene, without_target))
        changes = yield from target_keys(scene, without_target)
    not_live: list[Sentence] = []
    then = partial(_go_live, scene, armature, [record.chain for record in found], not_live) if settings.live else None
    yield Write(changes, lambda: report, then=then)
    return replace(report, notes=[*report.notes, *not_live])


def _go_live(scene: Scene, armature: Object, names: Sequence[str], not_live: list[Sentence]) -> None:
    """Let Blender pose those of the chains that have targets and no Live yet; adds notes on those of which it cannot."""
    for name in names:
        chain = armature.twobone.chains[name]
        if chain.target is None or limb_on(armature, (chain.upper, chain.lower)) is not None:
            continue
        try:
            go_live(scene, stored_settings(armature, chain, {}))
        except TwoBoneError as error:
            not_live.append(note("{chain} is not live: {reason}", chain=name, reason=error.sentence))


FIND_LIMBS = Task("find_limbs", TABLES["find_limbs"], add_limbs, LimbsReport)
