"""What is seen of a limb: which bones deform beside the chain's lower bone, and how far they follow the chain now.

A bone's *share* says how much of the chain's motion reaches it: 1 if it moves as the chain does, 0 if it does not follow.
It is read off parents and constraints with their influences as they are evaluated now, so nothing needs to be moved to
find it. What takes part of a share away, such as the constraint that copies an IK limb, is what hinders it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from mathutils import Vector

from ..blender_types import Constraint, Object, PoseBone
from ..moves.dependencies import Node, inverse_kinematics
from .chain_finding import ChainNames, bones_between

REPLACING = {
    "COPY_TRANSFORMS", "COPY_LOCATION", "COPY_ROTATION", "CHILD_OF", "DAMPED_TRACK", "TRACK_TO", "LOCKED_TRACK", "STRETCH_TO",
}  # fmt: skip
"""Constraints after which a bone does what their target does, as far as their influence goes."""

WHOLE = {"COPY_TRANSFORMS", "ARMATURE"}
"""Those after which nothing is left of what was before."""

FOLLOWS = 0.99
"""Share from which on a bone follows."""

BESIDE = 0.05
"""Part of the lower link's length within which a bone's ends have to be for the bone to lie on it at rest."""


@dataclass(frozen=True, slots=True)
class Hindrance:
    """A constraint that keeps a bone from following the chain."""

    bone: str
    constraint: str
    acts: bool
    """Whether it is in the way because it acts; else because it does not (it is muted, or has no influence)."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The bone that people see where the chain's lower bone is."""

    bone: str
    share: float
    """0..1, how much of the chain's motion reaches it."""
    hindrances: tuple[Hindrance, ...]
    """What keeps the rest from it."""
    deciding: tuple[tuple[str, str], ...]
    """Bone and constraint of every influence that decides about it."""

    @property
    def follows(self) -> bool:
        """Whether it moves as the chain does."""
        return self.share >= FOLLOWS


def shown_bone(armature: Object, names: ChainNames) -> Shown | None:
    """What is seen of the chain's lower link; `None` where no bone deforms anything there."""
    linked, (_, mid, tip) = Links(armature, {names.lower}), _rest_joints(armature, names)
    beside = [name for name in deforming_beside(armature, mid, tip) if name != names.lower]
    followers = [name for name in beside if linked.can_follow(name)]
    own = armature.pose.bones[names.lower]
    if own.bone.use_deform and (not followers or _deforms_a_mesh(armature, own.name)):
        followers = [own.name]
    found = [linked.shown(name) for name in followers]
    return max(found, key=lambda shown: shown.share) if found else None


def hindrances(armature: Object, names: ChainNames) -> list[Hindrance]:
    """What keeps the bones that deform along the whole limb, and the one at its end, from following the chain."""
    root, mid, tip = _rest_joints(armature, names)
    near = BESIDE * (tip - mid).length
    ends = [bone.name for bone in armature.data.bones if bone.use_deform and (bone.head_local - tip).length <= near]
    above = {bone.name for bone in bones_between(armature, names.upper, names.lower)} - {names.lower}
    found: dict[Hindrance, None] = {}
    for chain, beside in (
        (above, deforming_beside(armature, root, mid)),
        ({names.lower}, deforming_beside(armature, mid, tip) + ends),
    ):
        linked = Links(armature, chain)
        shown = [linked.shown(name) for name in dict.fromkeys([*chain, *beside]) if name in chain or linked.can_follow(name)]
        found |= {hindrance: None for each in shown if not each.follows for hindrance in each.hindrances}
    return list(found)


def notes_on_sight(armature: Object) -> list[str]:
    """Sentences about meshes that do not show the armature's motion."""
    return [
        f'Modifier "{modifier.name}" of "{child.name}" is hidden in the viewport, so that mesh does not follow.'
        for child in armature.children_recursive
        for modifier in child.modifiers
        if modifier.type == "ARMATURE" and modifier.object == armature and not modifier.show_viewport
    ]


def deforming_beside(armature: Object, start: Vector, end: Vector) -> list[str]:
    """Bones that deform and lie between two points at rest, the one nearest to the end first."""
    along = end - start
    length = along.length
    if length == 0.0:
        return []
    found = [
        bone
        for bone in armature.data.bones
        if bone.use_deform
        and bone.length >= BESIDE * length
        and all(_is_on(place - start, along, length) for place in (bone.head_local, bone.tail_local))
    ]
    return [
        bone.name for bone in sorted(found, key=lambda bone: min((bone.tail_local - end).length, (bone.head_local - end).length))
    ]


def _rest_joints(armature: Object, names: ChainNames) -> tuple[Vector, Vector, Vector]:
    bones = armature.data.bones
    tip = bones[names.tip].tail_local if names.tip_at_tail else bones[names.tip].head_local
    return bones[names.upper].head_local, bones[names.lower].head_local, tip


def _is_on(place: Vector, along: Vector, length: float) -> bool:
    part = min(1.0, max(0.0, place.dot(along) / (length * length)))
    return (place - along * part).length <= BESIDE * length


def _deforms_a_mesh(armature: Object, bone: str) -> bool:
    """Whether a mesh has weights for a bone; also where no mesh hangs from the armature at all, for then nobody knows."""
    meshes = [child for child in armature.children_recursive if child.type == "MESH" and _is_deformed_by(child, armature)]
    return not meshes or any(bone in mesh.vertex_groups for mesh in meshes)


def _is_deformed_by(mesh: Object, armature: Object) -> bool:
    return any(modifier.type == "ARMATURE" and modifier.object == armature for modifier in mesh.modifiers)


class Links:
    """How the motion of a chain reaches the bones of its armature; looks at each bone once."""

    def __init__(self, armature: Object, chain: Collection[str]) -> None:
        """Take the chain's armature, and those of its bones whose motion is looked for."""
        self._armature = armature
        self._chain = chain
        self._turning: Mapping[str, list[Constraint]] = inverse_kinematics(armature)
        self._shares: dict[Node, float] = {}
        self._best: dict[Node, _Best] = {}

    def can_follow(self, name: str) -> bool:
        """Whether a bone could follow the chain, with other influences on the way than there are now."""
        return self._best_of((self._armature.name, name)).share >= FOLLOWS

    def shown(self, name: str) -> Shown:
        """A bone and its share."""
        node = (self._armature.name, name)
        best = self._best_of(node)
        return Shown(name, self._share(node), tuple(best.hindrances), tuple(best.deciding))

    def _bone(self, node: Node) -> PoseBone | None:
        return self._armature.pose.bones.get(node[1]) if node[0] == self._armature.name and node[1] else None

    def _constraints(self, bone: PoseBone) -> Iterator[Constraint]:
        """Those that decide what a bone follows, in the order of their effect."""
        yield from self._turning.get(bone.name, [])
        yield from (each for each in bone.constraints if each.type in REPLACING or each.type == "ARMATURE")

    def _share(self, node: Node) -> float:
        """The share that a bone has with the influences as they are."""
        if node in self._shares:
            return self._shares[node]
        self._shares[node] = 0.0  # a bone that hangs from itself gets nothing new that way
        bone = self._bone(node)
        if bone is None:
            return 0.0
        share = 1.0 if bone.name in self._chain else self._share((node[0], bone.parent.name)) if bone.parent else 0.0
        for constraint in self._constraints(bone):
            sources = list(_sources(constraint))
            if sources and not constraint.mute:
                offered = sum(part * self._share(source) for source, part in sources)
                share += constraint.influence * (offered - share)
        self._shares[node] = share
        return share

    def _best_of(self, node: Node) -> _Best:
        """The share that a bone could have, and what would have to change for that."""
        if node in self._best:
            return self._best[node]
        self._best[node] = _Best(0.0, {}, {})
        bone = self._bone(node)
        if bone is None:
            return self._best[node]
        if bone.name in self._chain:
            best = _Best(1.0, {}, {})
        else:
            best = self._best_of((node[0], bone.parent.name)) if bone.parent else _Best(0.0, {}, {})
        for constraint in self._constraints(bone):
            best = self._better(constraint, best)
        self._best[node] = best
        return best

    def _better(self, constraint: Constraint, before: _Best) -> _Best:
        """With a constraint or without it, whichever lets more of the chain's motion through."""
        offers = [(self._best_of(source), part) for source, part in _sources(constraint)]
        if not offers:
            return before
        share = sum(part * offer.share for offer, part in offers)
        weight = 0.0 if constraint.mute else constraint.influence
        offered = _Best(share, _merged(offer.hindrances for offer, _ in offers), _merged(offer.deciding for offer, _ in offers))
        if share == before.share:
            if weight == 0.0:
                return before
            return offered if constraint.type in WHOLE and weight == 1.0 else before.together(offered)
        carrier = _carrier(constraint)
        taken = offered if share > before.share else before
        hinders = weight < FOLLOWS if taken is offered else weight > 0.0
        found = {Hindrance(carrier, constraint.name, acts=taken is before): None} if hinders else {}
        return _Best(taken.share, taken.hindrances | found, taken.deciding | {(carrier, constraint.name): None})


@dataclass(frozen=True, slots=True)
class _Best:
    """A share that could be had."""

    share: float
    hindrances: dict[Hindrance, None]
    """What would have to change."""
    deciding: dict[tuple[str, str], None]
    """Bone and constraint of all that has a say in it."""

    def together(self, other: _Best) -> _Best:
        """Both have a part in it."""
        return _Best(self.share, self.hindrances | other.hindrances, self.deciding | other.deciding)


def _merged(found: Iterable[dict]) -> dict:
    return {key: None for each in found for key in each}


def _carrier(constraint: Constraint) -> str:
    """The bone that carries a constraint."""
    path = constraint.path_from_id()
    owner = constraint.id_data.path_resolve(path[: path.rindex(".constraints[")])
    return owner.name


def _sources(constraint: Constraint) -> Iterable[tuple[Node, float]]:
    """What a constraint makes a bone follow, and the part that each has in it."""
    if constraint.type == "ARMATURE":
        total = sum(entry.weight for entry in constraint.targets) or 1.0
        for entry in constraint.targets:
            if entry.target is not None:
                yield (entry.target.name, entry.subtarget), entry.weight / total
    elif constraint.type in {*REPLACING, "IK"} and constraint.target is not None:
        yield (constraint.target.name, constraint.subtarget), 1.0
