"""Trace the motion of a chain to other bones: by parents, by constraints with their influences, by drivers of rotations.

A bone's *share* is the part of the chain's motion that reaches it: 1 if it moves as the chain does, 0 if it does not follow.
It is computed from parents and constraints with their present evaluated influences, so nothing needs to be moved to find
it. What takes part of a share away, such as the constraint that copies an IK limb, is a hindrance.

The visible bone of a limb is the deforming bone beside the chain's lower bone that follows it best.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import bpy
from mathutils import Vector

from ..blender_types import Constraint, FCurve, Object, PoseBone
from ..bones import ChainNames
from ..graph.rig_graph import Node, RigGraph, turning
from ..lookup import BONES, bone_owner, owner_of
from ..rig.chain_finding import bones_between
from .skin import BESIDE, Skins, deforming_beside
from .trials import TrialRig, Turned

REPLACING = {
    "COPY_TRANSFORMS", "COPY_LOCATION", "COPY_ROTATION", "CHILD_OF", "DAMPED_TRACK", "TRACK_TO", "LOCKED_TRACK", "STRETCH_TO",
}  # fmt: skip
"""Constraints by which a bone follows their target, in proportion to their influence."""

TRACED = REPLACING | {"ARMATURE", "IK"}
"""Constraints whose part in what a bone follows is traced; what others do, only Blender's own evaluation tells."""

WHOLE = {"COPY_TRANSFORMS", "ARMATURE"}
"""Constraints that replace the whole transform from before, at full influence."""

FOLLOWS = 0.99
"""Share from which a bone counts as following."""

TURNS = ("rotation_euler", "rotation_quaternion", "rotation_axis_angle")
"""Rotation channels, by whose drivers a bone may turn with another one."""


@dataclass(frozen=True, slots=True)
class Hindrance:
    """A constraint, or the drivers of its rotation, that keep a bone from following the chain."""

    bone: str
    constraint: str
    """Name of the constraint; empty for drivers."""
    acts: bool
    """Whether it hinders because it acts; else because it does not (it is muted, or has no influence)."""
    armature: str = ""
    """Name of the bone's armature, if it is not the chain's."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The visible bone where the chain's lower bone is."""

    bone: str
    share: float
    """0..1, part of the chain's motion that reaches the bone."""
    hindrances: tuple[Hindrance, ...]
    """Hindrances that keep the rest of the motion from the bone."""
    deciding: tuple[Hindrance, ...]
    """Every influence that affects the share, whether it hinders now or not."""
    armature: str
    """Name of the bone's armature: the chain's, or one that follows it."""

    @property
    def follows(self) -> bool:
        """Whether it moves as the chain does."""
        return self.share >= FOLLOWS


class MotionLinks:
    """Finds how the motion of a chain reaches the bones of its armature and of others; reads each bone only once."""

    def __init__(self, armature: Object, chain: Collection[str], skins: Skins, tried: TrialRig | None = None) -> None:
        """Take the chain's armature, and the names of its bones whose motion is traced.

        tried : where influences are read; by default in the file's own objects, which have those of the scene's evaluation
        """
        self._armature = armature
        self._chain = chain
        self._skins = skins
        self._tried = tried
        self._things = {thing.name: thing for thing in (armature, *skins.followers(armature))}
        self._seen = {name: tried.seen(thing) if tried else thing for name, thing in self._things.items()}
        self._turned: Turned | None = None
        self._shares: dict[Node, float] = {}
        self._best: dict[Node, _Best] = {}
        self._acting: dict[Node, _Acting] = {}

    def shown_beside(self, other: Object, start: Vector, end: Vector) -> list[Shown]:
        """The deforming bones of an armature between two points at rest that could follow the chain."""
        if other != self._armature:
            other_from_armature = other.matrix_world.inverted_safe() @ self._armature.matrix_world
            start, end = other_from_armature @ start, other_from_armature @ end
        return self._that_can_follow(other, deforming_beside(other, start, end, self._skins))

    def shown_at(self, other: Object, point: Vector, near: float) -> list[Shown]:
        """The deforming bones of an armature that begin at a point and could follow the chain."""
        return self._that_can_follow(other, _starting_at(self._armature, other, point, near))

    def shown(self, node: Node) -> Shown:
        """A bone and its share."""
        best = self._best_of(node)
        return Shown(node[1], self._share(node), tuple(best.hindrances), tuple(best.deciding), node[0])

    def _that_can_follow(self, other: Object, names: list[str]) -> list[Shown]:
        nodes = [(other.name, name) for name in names]
        return [self.shown(node) for node in nodes if self._best_of(node).share >= FOLLOWS]

    def _bone(self, node: Node) -> PoseBone | None:
        thing = self._things.get(node[0])
        return thing.pose.bones.get(node[1]) if thing is not None and node[1] else None

    def _is_of_chain(self, node: Node) -> bool:
        return node[0] == self._armature.name and node[1] in self._chain

    def _constraints(self, node: Node) -> _Acting:
        """Constraints that decide what a bone follows, in the order of evaluation, with their present influences."""
        if node not in self._acting:
            links = self._skins.table(_Links, self._things[node[0]]).of(node[1], self._skins.graph)
            bones = self._seen[node[0]].pose.bones
            self._acting[node] = [(link, link.present(bones[link.carrier].constraints[link.name])) for link in links]
        return self._acting[node]

    def gives_the_same(self) -> bool:
        """Whether all that was traced would be found again; not known where Blender's evaluation had to tell."""
        if self._turned is not None:
            return False
        before, self._acting = self._acting, {}
        return all(self._constraints(node) == acting for node, acting in before.items())

    def _foreign(self, armature: str) -> str:
        return armature if armature != self._armature.name else ""

    def _can_be_turned(self, node: Node, bone: PoseBone) -> bool:
        """Whether drivers turn a bone with one that could follow the chain."""
        driven = self._skins.graph.drivers(self._things[node[0]], bone_owner(bone))
        turning = [fcurve for fcurve in driven if fcurve.data_path.rpartition(".")[2] in TURNS]
        return not self._is_of_chain(node) and any(
            self._best_of(read).share >= FOLLOWS for fcurve in turning for read in _read_bones(fcurve)
        )

    def _turned_share(self, node: Node) -> float:
        """Share of a bone turned by drivers, which only Blender's own evaluation tells."""
        if self._turned is None:
            self._turned = Turned(self._tried.thing if self._tried else self._armature, self._chain)
        copies = self._tried.copies if self._tried else {}
        thing = self._things[node[0]]
        return self._turned.share((copies.get(thing, thing).name, node[1]))

    def _share(self, node: Node) -> float:
        """Share of a bone with the present influences."""
        if node in self._shares:
            return self._shares[node]
        self._shares[node] = 0.0  # a dependency cycle adds nothing
        bone = self._bone(node)
        if bone is None:
            return 0.0
        share = 1.0 if self._is_of_chain(node) else self._share((node[0], bone.parent.name)) if bone.parent else 0.0
        if self._can_be_turned(node, bone):
            share = self._turned_share(node)
        for link, present in self._constraints(node):
            sources = link.weighted(present)
            if sources and present.influence:
                offered = sum(part * self._share(source) for source, part in sources)
                share += present.influence * (offered - share)
        self._shares[node] = share
        return share

    def _best_of(self, node: Node) -> _Best:
        """The greatest share that a bone could have, and what would have to change for that."""
        if node in self._best:
            return self._best[node]
        self._best[node] = _Best(0.0, {}, {})
        bone = self._bone(node)
        if bone is None:
            return self._best[node]
        if self._is_of_chain(node):
            best = _Best(1.0, {}, {})
        else:
            best = self._best_of((node[0], bone.parent.name)) if bone.parent else _Best(0.0, {}, {})
        if self._can_be_turned(node, bone):
            drivers = Hindrance(bone.name, "", acts=True, armature=self._foreign(node[0]))
            hinders = self._turned_share(node) < FOLLOWS
            best = _Best(1.0, {drivers: None} if hinders else {}, {drivers: None})
        for link, present in self._constraints(node):
            best = self._better(node[0], link, present, best)
        self._best[node] = best
        return best

    def _better(self, armature: str, link: _Link, present: _Present, before: _Best) -> _Best:
        """The best with or without a constraint, whichever lets more of the chain's motion through."""
        offers = [(self._best_of(source), part) for source, part in link.weighted(present)]
        if not offers:
            return before
        share = sum(part * offer.share for offer, part in offers)
        weight = present.influence
        offered = _Best(share, _merged(offer.hindrances for offer, _ in offers), _merged(offer.deciding for offer, _ in offers))
        # As much gets through either way, so both matter, unless the constraint leaves nothing of what was before.
        if share == before.share:
            if weight == 0.0:
                return before
            return offered if link.kind in WHOLE and weight == 1.0 else before.together(offered)
        taken = offered if share > before.share else before
        hinders = weight < FOLLOWS if taken is offered else weight > 0.0
        decides = {Hindrance(link.carrier, link.name, acts=taken is before, armature=self._foreign(armature)): None}
        return _Best(taken.share, taken.hindrances | (decides if hinders else {}), taken.deciding | decides)


@dataclass(frozen=True, slots=True)
class _Best:
    """The greatest share that a bone could have."""

    share: float
    hindrances: dict[Hindrance, None]
    """Hindrances that would have to change for it."""
    deciding: dict[Hindrance, None]
    """Every influence that affects it."""

    def together(self, other: _Best) -> _Best:
        """Own share, with the hindrances and influences of both."""
        return _Best(self.share, self.hindrances | other.hindrances, self.deciding | other.deciding)


def _merged(records: Iterable[dict]) -> dict:
    return {key: None for record in records for key in record}


def bone_carrying(constraint: Constraint) -> str:
    """Name of the bone that carries a constraint."""
    path = constraint.path_from_id()
    owner = constraint.id_data.path_resolve(path[: path.rindex(".constraints[")])
    return owner.name


def _read_bones(fcurve: FCurve) -> Iterator[Node]:
    """Bones whose transform or rotation channels a driver reads."""
    for variable in fcurve.driver.variables:
        for target in variable.targets:
            if target.id is None:
                continue
            if variable.type == "SINGLE_PROP":
                owner = owner_of(target.data_path)
                if owner and target.data_path.rpartition(".")[2].partition("[")[0] in TURNS:
                    yield target.id.name, bpy.utils.unescape_identifier(owner.removeprefix(BONES))
            elif target.bone_target:
                yield target.id.name, target.bone_target


@dataclass(frozen=True, slots=True)
class _Link:
    """A constraint that decides what a bone follows."""

    carrier: str
    """Name of the bone that carries it."""
    name: str
    kind: str
    """Its type."""
    sources: tuple[Node | None, ...]
    """The bones or objects that it makes the bone follow; `None` for an entry without any."""

    @classmethod
    def of(cls, constraint: Constraint) -> _Link:
        """Read a constraint."""
        kind, sources = constraint.type, []
        if kind == "ARMATURE":
            sources = [None if entry.target is None else (entry.target.name, entry.subtarget) for entry in constraint.targets]
        elif kind in {*REPLACING, "IK"} and constraint.target is not None:
            sources = [(constraint.target.name, constraint.subtarget)]
        return cls(bone_carrying(constraint), constraint.name, kind, tuple(sources))

    def present(self, constraint: Constraint) -> _Present:
        """How much it acts; `constraint` is this one, where that is read."""
        weights = tuple(entry.weight for entry in constraint.targets) if self.kind == "ARMATURE" else ()
        return _Present(0.0 if constraint.mute else constraint.influence, weights)

    def weighted(self, present: _Present) -> list[tuple[Node, float]]:
        """The sources with their present weights."""
        if self.kind != "ARMATURE":
            return [(source, 1.0) for source in self.sources if source is not None]
        total = sum(present.weights) or 1.0
        weighted = zip(self.sources, present.weights, strict=True)
        return [(source, weight / total) for source, weight in weighted if source is not None]


class _Present(NamedTuple):
    """How much a constraint acts at present."""

    influence: float
    """0..1; 0 if it is muted."""
    weights: tuple[float, ...]
    """Those of the entries of an Armature constraint."""


_Acting: TypeAlias = list[tuple[_Link, _Present]]
"""Constraints that decide what a bone follows."""


class _Links:
    """The constraints that decide what the bones of an armature follow; each bone is read once."""

    def __init__(self, armature: Object) -> None:
        self._armature = armature
        self._by_bone: dict[str, list[_Link]] = {}

    def of(self, bone: str, graph: RigGraph) -> list[_Link]:
        """Those of a bone in the order of evaluation: IK that runs through it, then its own."""
        if bone not in self._by_bone:
            own = self._armature.pose.bones[bone].constraints
            replacing = [constraint for constraint in own if constraint.type in REPLACING or constraint.type == "ARMATURE"]
            self._by_bone[bone] = [_Link.of(entry) for entry in (*graph.turned(self._armature).get(bone, []), *replacing)]
        return self._by_bone[bone]


def shown_bone(armature: Object, names: ChainNames, skins: Skins | None = None) -> Shown | None:
    """The visible bone of the chain's lower link; `None` where no bone deforms anything there.

    skins : deformed meshes and followers in the file, if they are known already, with what was traced by them before
    """
    skins = skins or Skins()
    traces = skins.table(_traces, armature)
    if names in traces and traces[names].links.gives_the_same():
        return traces[names].shown
    linked, (_, mid, tip) = MotionLinks(armature, {names.lower}, skins), _rest_joints(armature, names)
    deforms = skins.deforms_a_mesh(armature)
    # A control rig deforms nothing itself, but another armature that follows it does.
    others = [] if deforms else [other for other in skins.followers(armature) if skins.deforms_a_mesh(other)]
    candidates = [shown for other in others for shown in linked.shown_beside(other, mid, tip)]
    if not candidates:
        is_seen = armature.data.bones[names.lower].use_deform
        if is_seen and (not deforms or skins.deforms_a_mesh(armature, names.lower)):
            candidates = [linked.shown((armature.name, names.lower))]
        else:
            candidates = [shown for shown in linked.shown_beside(armature, mid, tip) if shown.bone != names.lower]
            if is_seen and not candidates:
                candidates = [linked.shown((armature.name, names.lower))]
    shown = max(candidates, key=lambda shown: shown.share) if candidates else None
    if not others:  # Which bones of another armature lie there also depends on where it is.
        traces[names] = _Traced(shown, linked)
    return shown


@dataclass(frozen=True, slots=True)
class _Traced:
    """The visible bone of a link, and how it was found."""

    shown: Shown | None
    links: MotionLinks


def _traces(_armature: Object) -> dict[ChainNames, _Traced]:
    """What `shown_bone` has found of an armature, by chain: nothing yet."""
    return {}


def shows_others(armature: Object, names: ChainNames, shown: Shown) -> bool:
    """Whether a visible bone that does not follow shows the motion of other bones than the chain's own.

    Where only constraints of the chain's own bones keep it from following the keys, it shows what these bones do.
    """
    return not shown.hindrances or len(shown.hindrances) != len(on_chain(armature, names, shown))


def is_switched(armature: Object, names: ChainNames, shown: Shown) -> bool:
    """Whether a visible bone that does not follow is posed by other bones, or by IK of the chain's own: Switch to FK helps."""
    bones = armature.pose.bones
    first = next((hindrance for hindrance in shown.hindrances if hindrance.constraint), None)
    if first is None or shows_others(armature, names, shown):
        return True
    return any(bones[entry.bone].constraints[entry.constraint].type in IK for entry in on_chain(armature, names, shown))


IK = {"IK", "SPLINE_IK"}


def shown_elsewhere(armature: Object, names: ChainNames, skins: Skins | None = None) -> Shown | None:
    """The visible bone of the lower link where it shows the motion of other bones than the chain's own; else `None`."""
    shown = shown_bone(armature, names, skins)
    return shown if shown is not None and not shown.follows and shows_others(armature, names, shown) else None


def on_chain(armature: Object, names: ChainNames, shown: Shown) -> list[Hindrance]:
    """The hindrances of a visible bone that are constraints of the chain's own bones, or IK that turns these."""
    limb_bones = [armature.pose.bones[name] for name in (names.upper, names.lower)]
    iks = {(bone_carrying(constraint), constraint.name) for bone in limb_bones for constraint in turning(bone)}
    return [
        hindrance
        for hindrance in shown.hindrances
        if not hindrance.armature
        and hindrance.constraint
        and (hindrance.bone in {bone.name for bone in limb_bones} or (hindrance.bone, hindrance.constraint) in iks)
    ]


class LimbInfluences:
    """All deforming bones along a limb, and the one at its end, as they are now."""

    def __init__(self, armature: Object, names: ChainNames, skins: Skins, tried: TrialRig | None = None) -> None:
        """Trace the limb's motion to them; `tried` as in `MotionLinks`."""
        shown_bones = _shown_of_limb(armature, names, skins, tried)
        hindering = (hindrance for shown in shown_bones if not shown.follows for hindrance in shown.hindrances)
        self.hindrances: list[Hindrance] = list(dict.fromkeys(hindering))
        """Hindrances that keep them from following the chain."""
        self.deciding: list[Hindrance] = list(dict.fromkeys(entry for shown in shown_bones for entry in shown.deciding))
        """Every influence on what they follow, whether it hinders now or not."""


def bones_along(armature: Object, names: ChainNames, skins: Skins) -> set[str]:
    """The armature's own bones among those that `LimbInfluences` traces the motion to, and the chain's."""
    links = _links(armature, names)
    _, mid, tip = links[-1]
    at_end = _starting_at(armature, armature, tip, BESIDE * (tip - mid).length)
    beside = (bone for chain, *ends in links for bone in (*chain, *deforming_beside(armature, *ends, skins)))
    return {*beside, *at_end}


def _links(armature: Object, names: ChainNames) -> list[tuple[set[str], Vector, Vector]]:
    """The bones of the upper and of the lower link, and its two ends at rest."""
    root, mid, tip = _rest_joints(armature, names)
    above = {bone.name for bone in bones_between(armature, names.upper, names.lower)} - {names.lower}
    return [(above, root, mid), ({names.lower}, mid, tip)]


def _starting_at(armature: Object, other: Object, point: Vector, near: float) -> list[str]:
    """Names of the deforming bones of an armature that begin at a point of the first one at rest."""
    to_world = armature.matrix_world
    return [
        bone.name
        for bone in other.data.bones
        if bone.use_deform and (other.matrix_world @ bone.head_local - to_world @ point).length <= near * to_world.median_scale
    ]


def _shown_of_limb(armature: Object, names: ChainNames, skins: Skins, tried: TrialRig | None) -> list[Shown]:
    shown_bones: list[Shown] = []
    links = _links(armature, names)
    tip = links[-1][-1]
    for chain, start, end in links:
        linked = MotionLinks(armature, chain, skins, tried)
        shown_bones += [linked.shown((armature.name, name)) for name in chain]
        for other in (armature, *skins.followers(armature)):
            shown_bones += linked.shown_beside(other, start, end)
            shown_bones += linked.shown_at(other, tip, BESIDE * (tip - start).length) if end == tip else []
    return shown_bones


def _rest_joints(armature: Object, names: ChainNames) -> tuple[Vector, Vector, Vector]:
    bones = armature.data.bones
    tip = bones[names.tip].tail_local if names.tip_at_tail else bones[names.tip].head_local
    return bones[names.upper].head_local, bones[names.lower].head_local, tip
