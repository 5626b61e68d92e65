"""Find the bones of a chain from their names or from the selected bones, in whatever order these were clicked."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import bpy
import numpy as np
from mathutils.geometry import intersect_point_line

from ...core.limbs.finding import find_limbs
from ...core.limbs.names import LIMBS, Family, NameReading, meaning_of
from ...errors import ChainError, SelectionError
from ...said import Sentence
from ..blender_types import Object, PoseBone
from ..bones import ChainNames, bones_below
from ..graph.rig_graph import Node, RigGraph
from ..lookup import MISSING_BONE, bone_owner
from ..versions import is_hidden, selection_flags
from .constraints import LINKS, turned_bones
from .rest_reading import COINCIDENT, is_added_leaf, read_skeleton, starts_at_tail

COPIES = {"COPY_TRANSFORMS", "COPY_ROTATION"}
"""Constraints by which a bone copies another one's rotation."""

FURTHER = 2
"""Maximum number of bones below a limb's two links that still belong to it: foot and toe."""

ON_LIMB = 1e-3
"""Distance from a limb, relative to its length, up to which a joint lies on it."""

PROPERTY_OF = re.compile(r'pose\.bones\["(?P<bone>.+?)"\]\[')
"""Data path of a bone's custom property."""

PREFIX = re.compile(r"^(ORG|DEF|MCH|VIS|CTRL|ctrl|c)[-_]")
ROLE = re.compile(r"[-_.](ik|fk|IK|FK|tweak|target|pole|parent|master|spin|heel|roll|ctrl|control)(?=$|[-_.])")
"""Words that riggers add to a bone's name for its purpose."""

SIDE = re.compile(r"(.*?)((?:[._-](?:[LlRr]|[Ll]eft|[Rr]ight))?)")
"""A name and its side suffix, which may be empty."""

FORWARD = ("_fk", "_FK", "")
"""Suffixes of forward (FK) bones, the empty one included."""


@dataclass(frozen=True, slots=True)
class LimbControls:
    """A limb that is posed through controls."""

    forward: tuple[str, str]
    """Upper and lower bone of the forward (FK) chain."""
    shown: tuple[str, ...]
    """Bones that show the limb's pose, from the upper one down."""
    turned: tuple[str, str]
    """Upper and lower bone that the IK constraint turns."""

    @property
    def bones(self) -> set[str]:
        """Names of all bones of the limb."""
        return {*self.forward, *self.shown, *self.turned}


class ControlLimbs:
    """Finds the limb that a bone of one armature controls, stands for or is part of.

    Rigs with both IK and FK show a limb by bones that copy two chains, one of them turned by an IK constraint; the other one is
    the forward chain, whatever its name. Rigs with IK alone turn the limb's own bones. A bone that only one limb's bones depend
    on controls that limb; a bone that depends on them and lies on the limb stands for it. Names decide only where constraints,
    drivers and parents do not.
    """

    def __init__(self, armature: Object) -> None:
        """Take the armature; it is searched at the first question."""
        self._armature = armature
        self._finder = RigGraph({armature.name: armature})

    def limb_of(self, bone: PoseBone) -> LimbControls | None:
        """The limb that a bone belongs to; `None` where constraints, drivers and parents do not tell a single one."""
        for limb in self.limbs:
            if bone.name in limb.bones:
                return limb
        controlled = [limb for limb, controls in self._controls if bone.name in controls]
        if controlled:
            return controlled[0] if len(controlled) == 1 else None
        below = self._above([bone.name])
        return next((limb for limb in self.limbs if below & limb.bones and self._lies_on(bone, limb)), None)

    @cached_property
    def limbs(self) -> list[LimbControls]:
        """Every two-link limb that an IK constraint turns, muted or not."""
        by_forward: dict[tuple[str, str], LimbControls] = {}
        for carrier in self._armature.pose.bones:
            for constraint in carrier.constraints:
                if constraint.type != "IK":
                    continue
                turned = turned_bones(constraint, carrier)
                if len(turned) == LINKS:
                    limb = self._limb(turned[1], turned[0])
                    by_forward.setdefault(limb.forward, limb)
        return list(by_forward.values())

    def _limb(self, upper: PoseBone, lower: PoseBone) -> LimbControls:
        copying = [self._copying.get(bone.name, {}) for bone in (upper, lower)]
        for shown_upper, forward_upper in copying[0].items():
            for shown_lower, forward_lower in copying[1].items():
                bones = self._armature.pose.bones
                # Both bones may copy several chains; the two copied ones must be of the same.
                if bones[forward_upper] in bones[forward_lower].parent_recursive:
                    shown = (shown_upper, shown_lower, *self._further(bones[shown_lower], bones[forward_lower]))
                    return LimbControls((forward_upper, forward_lower), shown, (upper.name, lower.name))
        names = (upper.name, lower.name)
        return LimbControls(names, (*names, *self._further(lower, lower)), names)

    @cached_property
    def _copying(self) -> dict[str, dict[str, str]]:
        """For each copied bone, the bones that copy it and another bone, each with that other bone; all by name."""
        copying: dict[str, dict[str, str]] = {}
        for bone in self._armature.pose.bones:
            copied = self._copied_by(bone)
            for name in copied:
                others = [other for other in copied if other != name]
                if others:
                    copying.setdefault(name, {})[bone.name] = others[0]
        return copying

    def _copied_by(self, bone: PoseBone) -> list[str]:
        """Names of the bones of its armature that a bone copies."""
        return [
            constraint.subtarget
            for constraint in bone.constraints
            if constraint.type in COPIES
            and constraint.target == self._armature
            and constraint.subtarget in self._armature.pose.bones
        ]

    def _further(self, shown: PoseBone, forward: PoseBone) -> list[str]:
        """Names of the bones that continue the limb below its lower one: those that copy the forward chain, or only children."""
        names: list[str] = []
        bones = self._armature.pose.bones
        while len(names) < FURTHER:
            below = [
                child
                for child in shown.children
                if any(forward in bones[copied].parent_recursive for copied in self._copied_by(child))
            ]
            following = below or shown.children
            if len(following) != 1:
                break
            shown = following[0]
            names.append(shown.name)
        return names

    @cached_property
    def _controls(self) -> list[tuple[LimbControls, set[str]]]:
        """For each limb, the bones that only it depends on, and neither its parent nor other limbs."""
        above = [self._above([*limb.bones]) | self._switches(limb) for limb in self.limbs]
        parents = [self._armature.pose.bones[limb.shown[0]].parent for limb in self.limbs]
        carried = [self._above([parent.name] if parent else []) for parent in parents]
        controls = []
        for number, limb in enumerate(self.limbs):
            others = set().union(*(bones_above for other, bones_above in enumerate(above) if other != number), carried[number])
            controls.append((limb, above[number] - others))
        return controls

    def _switches(self, limb: LimbControls) -> set[str]:
        """Bones whose properties drive the bones that show the limb, such as its switch from IK to FK."""
        shown = {bone_owner(self._armature.pose.bones[name]) for name in limb.shown}
        drivers = (fcurve for owner in shown for fcurve in self._finder.drivers(self._armature, owner))
        variables = (variable for fcurve in drivers for variable in fcurve.driver.variables)
        read = (PROPERTY_OF.match(target.data_path) for variable in variables for target in variable.targets)
        names = {bpy.utils.unescape_identifier(match["bone"]) for match in read if match}
        return {name for name in names if name in self._armature.pose.bones}

    def _above(self, bones: list[str]) -> set[str]:
        name = self._armature.name
        starts: list[Node] = [(name, bone) for bone in bones]
        return {bone for owner, bone in self._finder.above(starts).nodes if owner == name and bone}

    def _lies_on(self, bone: PoseBone, limb: LimbControls) -> bool:
        bones = self._armature.pose.bones
        shown = [bones[name].bone for name in limb.shown]
        joints = [
            *(shown_bone.head_local for shown_bone in shown),
            shown[-1].tail_local if len(shown) == LINKS else shown[-1].head_local,
        ]
        length = sum((second - first).length for first, second in pairwise(joints))
        head = bone.bone.head_local
        for first, second in pairwise(joints):
            if (second - first).length > 0.0:
                nearest, fraction = intersect_point_line(head, first, second)
                if (nearest - head).length <= ON_LIMB * length and -ON_LIMB <= fraction <= 1.0 + ON_LIMB:
                    return True
        return False


def source_of(bone: PoseBone) -> PoseBone:
    """The bone that a bone fully copies, or the source of that one in turn; the bone itself where it copies none."""
    armature, seen = bone.id_data, {bone.name}
    while True:
        copied = [
            constraint.subtarget
            for constraint in bone.constraints
            if constraint.type in COPIES and constraint.target == armature and not constraint.mute and constraint.influence == 1.0
        ]
        following = armature.pose.bones.get(copied[-1]) if copied else None
        if following is None or following.name in seen:
            return bone
        bone = following
        seen.add(bone.name)


def named_alike(bone: PoseBone) -> PoseBone | None:
    """The forward (FK) bone named as the same part of the body; `None` where there is none."""
    stem, side = SIDE.fullmatch(plain_name(bone.name)).groups()
    names = [f"{stem}{word}{side}" for word in FORWARD] + [f"{stem}{side}{word}" for word in FORWARD]
    bones = bone.id_data.pose.bones
    return next((bones[name] for name in names if name in bones and name != bone.name), None)


def plain_name(name: str) -> str:
    """A bone's name without the prefix and words that riggers add: `foot.L` for `MCH-foot_fk.L`."""
    return ROLE.sub("", PREFIX.sub("", name)) or name


def end_name(armature: Object, names: ChainNames) -> str:
    """Plain name of the bone that begins at a limb's tip, such as a foot: by it lists, targets and reports name the limb.

    If several bones begin there, the first visible one is used; if none does, the bone that ends there.
    """
    tip = armature.pose.bones[names.tip]
    starting = [child for child in tip.children if starts_at_tail(child)] if names.tip_at_tail else [tip]
    if not starting:
        return plain_name(names.tip)
    first = starting[0]
    below = (armature.pose.bones[child.name] for child in bones_below(first.bone) if child.head_local == first.bone.head_local)
    return plain_name(next((bone for bone in (first, *below) if is_seen(bone)), first).name)


def selected_bones(armature: Object) -> list[PoseBone]:
    """The selected bones that are visible: hidden neither themselves nor by their bone collections."""
    holders, flags = selection_flags(armature)
    selected = (armature.pose.bones[holders[int(index)].name] for index in np.flatnonzero(flags))
    return [bone for bone in selected if is_seen(bone)]


def is_seen(bone: PoseBone) -> bool:
    """Whether a bone is visible in Pose Mode; one in no bone collection is, unless it is hidden itself."""
    collections = bone.bone.collections
    return not is_hidden(bone) and (not collections or any(collection.is_visible_effectively for collection in collections))


def selection_mark(armature: Object) -> str:
    """Text that changes with the selection of bones; takes tens of microseconds, because panels ask at every redraw."""
    _, flags = selection_flags(armature)
    active = armature.data.bones.active
    return f"{armature.name}:{zlib.crc32(flags.tobytes()):x}:{active.name if active else ''}"


TWIST_WORD = re.compile(r"[Tt]wist|TWIST|(?<![A-Za-z])roll(?![a-z])|Roll(?![a-z])|ROLL")
"""Words for bones that only spread a twist along a limb; does not match "controller" or "troll"."""

NUMBER = re.compile(r"[._-]?\d+(?=([._-][LlRr])?$)")
"""Number of a piece in its name, before or after its side: `thigh.L.001`, `thigh.001.L`."""

STRAIGHT = 1e-3
"""Sine of the angle up to which a bone continues another one straight: pieces that one bone was cut into lie in line."""

PassedOver: TypeAlias = Callable[[PoseBone, PoseBone], bool]
"""Whether a bone is skipped as a part of the whole bone above it, which is the second argument."""


def is_twist(bone: PoseBone, _whole: PoseBone) -> bool:
    """Whether a bone's name says that it only twists."""
    return TWIST_WORD.search(bone.name) is not None


def is_piece(bone: PoseBone, whole: PoseBone) -> bool:
    """Whether a bone is a twist bone, or continues the whole bone straight under the same name with a number."""
    if is_twist(bone, whole):
        return True
    if NUMBER.sub("", bone.name) != whole.name:
        return False
    before = bone.bone.head_local - whole.bone.head_local
    along = bone.bone.tail_local - bone.bone.head_local
    return before.dot(along) > 0.0 and before.cross(along).length <= STRAIGHT * before.length * along.length


def is_body(bone: PoseBone) -> bool:
    """Whether several limbs are parented to a bone, as legs to hips and fingers to a hand: two children with children."""
    return sum(bool(child.children) for child in next_bones_below(bone, bone)) > 1


def whole_of(bone: PoseBone, passed_over: PassedOver) -> PoseBone:
    """The whole bone that a bone is part of, or the bone itself."""
    if bone.parent is None:
        return bone
    above = whole_of(bone.parent, passed_over)
    return above if passed_over(bone, above) else bone


def next_bones_below(bone: PoseBone, whole: PoseBone, passed_over: PassedOver = is_piece) -> Iterator[PoseBone]:
    """The children of a bone, each skipped one replaced by its own children."""
    for child in bone.children:
        if passed_over(child, whole):
            yield from next_bones_below(child, whole, passed_over)
        else:
            yield child


MOST_BONES = 3
"""Maximum number of selected bones of a chain: upper, lower and tip."""

SHOULDER_WORDS = ("shoulder", "clavicle", "collar")

DOUBT = 0.5
"""Factor on the likeness of a pair of bones that begins with a shoulder (which may mean the upper arm in rigs that name
joints), or ends with a tail where no bone starts (which importers make up)."""

ALIKE = 0.6
"""Ratio of the shorter to the longer link of a limb, at least. Arms and legs are above; a whole leg and its foot below."""


def chain_from_names(armature: Object, upper: str, lower: str, tip: str = "", tip_end: str = "AUTO") -> ChainNames:
    """The chain of these bones; raises `ChainError` where they do not form one."""
    bones = armature.pose.bones
    for role, name in (("Upper bone", upper), ("Lower bone", lower), ("Tip bone", tip)):
        if name and name not in bones:
            raise ChainError(
                MISSING_BONE,
                role=Sentence(role),
                bone=name,
                armature=armature.name,
            )
    if bones[upper] not in bones[lower].parent_recursive:
        raise ChainError(
            'Bone "{bone}" is not a descendant of "{upper}". Choose an upper bone and a lower bone of the same limb.',
            bone=lower,
            upper=upper,
        )
    end = _named_tip(bones[lower], bones[tip], tip_end) if tip else automatic_tip(bones[lower], tip_end)
    return ChainNames(armature.name, upper, lower, *end)


def chain_from_selection(armature: Object, tip: str = "", tip_end: str = "AUTO") -> ChainNames:
    """The chain that the selected bones stand for; raises `SelectionError` with what to select.

    Hidden bones do not count. Controls, mechanism and deform bones of a limb stand for its forward (FK) chain. Three bones
    are upper, lower and tip; two are upper and lower. One bone may be any of the three, or a piece of one: it stands for the
    most limb-like of the pairs of bones around it that meet at a joint. Twist bones and pieces that a bone was cut into
    belong to that bone: the tip is the joint below them.
    """
    bones = selected_bones(armature)
    limb = _controlled_limb(bones, ControlLimbs(armature))
    if limb is not None:
        selected = [armature.pose.bones[name] for name in limb]
    else:
        # From the body outwards, whichever was clicked first.
        selected = sorted(bones, key=lambda bone: len(bone.parent_recursive))
    if not 1 <= len(selected) <= MOST_BONES:
        raise SelectionError(
            'Armature "{armature}" has {count} bones selected. Select the upper and the lower bone of a limb, such as thigh and '
            "shin.",
            armature=armature.name,
            count=len(selected),
        )
    if len(selected) == 1:
        selected = list(_limb_around(selected[0]))
    for above, below in pairwise(selected):
        if above not in below.parent_recursive:
            raise SelectionError(
                'Bones "{above}" and "{below}" are not on one limb. Choose a bone and one of its descendants.',
                above=above.name,
                below=below.name,
            )
    upper, lower = selected[:2]
    if not tip and len(selected) < MOST_BONES:
        return ChainNames(armature.name, upper.name, lower.name, *_tip_at(lower, list(next_bones_below(lower, lower)), tip_end))
    return chain_from_names(armature, upper.name, lower.name, tip or selected[2].name, tip_end)


def limb_finder(armature: Object) -> Callable[[PoseBone], tuple[str, str] | None]:
    """A function that finds upper and lower bone of the limb that a bone stands for, and searches the armature only once."""
    limbs = ControlLimbs(armature)

    def limb_meant(bone: PoseBone) -> tuple[str, str] | None:
        pair = None if (controlled := _controlled_limb([bone], limbs)) else _limb_of(bone)
        return (pair[0].name, pair[1].name) if pair else controlled

    return limb_meant


def bones_of_selected_limbs(armature: Object) -> frozenset[str]:
    """The selected bones, and all bones of the limbs that they control or stand for."""
    limbs = ControlLimbs(armature)
    selected = selected_bones(armature)
    limbs_of_selected = (limbs.limb_of(bone) for bone in selected)
    return frozenset({bone.name for bone in selected}.union(*(limb.bones for limb in limbs_of_selected if limb is not None)))


def _controlled_limb(selected: list[PoseBone], limbs: ControlLimbs) -> tuple[str, str] | None:
    """Upper and lower bone of the limb that all selected bones control or stand for; `None` where they are the limb itself."""
    limbs_of_selected = [limbs.limb_of(bone) for bone in selected]
    first = limbs_of_selected[0] if limbs_of_selected else None
    if first is None or any(limb != first for limb in limbs_of_selected):
        return None
    upper = selected[0].id_data.pose.bones[first.forward[0]]
    # Selected bones of the chain itself say which of them are upper, lower and tip.
    is_chain = first.forward == first.turned or len(selected) > 1
    is_own = all(bone == upper or upper in bone.parent_recursive for bone in selected)
    return None if is_chain and is_own else first.forward


def bones_between(armature: Object, first: str, last: str) -> list[PoseBone]:
    """The bones from the last one up to the first one, both included; none where they are not on one limb."""
    bones = armature.pose.bones
    if first not in bones or last not in bones:
        return []
    path = [bones[last], *bones[last].parent_recursive]
    return path[: path.index(bones[first]) + 1] if bones[first] in path else []


def bones_of(armature: Object, names: ChainNames) -> list[PoseBone]:
    """The bones of a chain from the last one up, including a tip that is a foot parented elsewhere."""
    above = bones_between(armature, names.upper, names.tip)
    return above or [armature.pose.bones[names.tip], *bones_between(armature, names.upper, names.lower)]


class Tip(NamedTuple):
    """Where a chain ends: at the tail or the head of a bone."""

    bone: str
    at_tail: bool


def automatic_tip(lower: PoseBone, tip_end: str) -> Tip:
    """The tip where none is named: the lower bone's tail, or where its children start if that is one other place.

    Tails of imported bones are often made up, but their children start at the joint.
    """
    return _tip_at(lower, lower.children, tip_end)


def _tip_at(lower: PoseBone, below: Sequence[PoseBone], tip_end: str) -> Tip:
    """Like `automatic_tip`, with the bones `below` as the children of the lower one."""
    if tip_end == "TAIL":
        return Tip(lower.name, at_tail=True)
    origin = lower.bone.head_local
    starts = [child for child in below if (child.bone.head_local - origin).length > 0.0]
    if not starts:
        if tip_end == "HEAD":
            raise ChainError('Bone "{bone}" has no child bone. Use its tail as the tip.', bone=lower.name)
        return Tip(lower.name, at_tail=True)
    first = starts[0]
    reach = (first.bone.head_local - origin).length
    apart = max((child.bone.head_local - first.bone.head_local).length for child in starts)
    at_tail = (first.bone.head_local - lower.bone.tail_local).length <= COINCIDENT * reach
    if tip_end == "HEAD" or (apart <= COINCIDENT * reach and not at_tail):
        return Tip(first.name, at_tail=False)
    return Tip(lower.name, at_tail=True)


def _named_tip(lower: PoseBone, tip: PoseBone, tip_end: str) -> Tip:
    """Like `automatic_tip`, for a named tip below the lower bone, or, where that ends a branch, a foot parented further up."""
    if tip == lower:
        if tip_end == "HEAD":
            raise ChainError('The tip is the head of the lower bone "{bone}" itself. Choose its tail.', bone=lower.name)
        return Tip(tip.name, at_tail=True)
    above = lower.parent_recursive
    is_end = all(map(is_added_leaf, lower.children))
    is_loose = is_end and tip_end != "TAIL" and tip not in above and len(tip.parent_recursive) < len(above)
    if lower not in tip.parent_recursive and not is_loose:
        raise ChainError(
            'Tip bone "{bone}" is not a descendant of the lower bone "{lower}". Choose a bone below it.',
            bone=tip.name,
            lower=lower.name,
        )
    return Tip(tip.name, at_tail=tip_end == "TAIL")


def _limb_around(bone: PoseBone) -> tuple[PoseBone, PoseBone]:
    """Upper and lower bone of the limb that a single bone stands for; raises `SelectionError` where there is none."""
    pair = _limb_of(bone)
    if pair is None:
        raise SelectionError(
            'Bone "{bone}" has no parent or child bone. Select the upper and the lower bone of a limb.', bone=bone.name
        )
    if _is_of_trunk(pair):
        raise SelectionError(
            'Bone "{bone}" is not part of an arm or leg. Select a bone of one, or both bones of a chain.', bone=bone.name
        )
    return pair


def _is_of_trunk(pair: tuple[PoseBone, PoseBone]) -> bool:
    """Whether a pair of bones is part of spine, neck or head, or begins with the body itself, such as a root or torso.

    Decided by names where these are reliable, else by the limbs that the character has.
    """
    armature = pair[0].id_data
    skeleton = read_skeleton(armature)
    reading = NameReading(skeleton.names, skeleton.parents)
    if reading.is_trusted:
        families = {meaning_of(bone.name).family for bone in pair}
        return Family.TRUNK in families or (is_body(pair[0]) and not families & set(LIMBS))
    if not is_body(pair[0]):
        return False
    limbs = find_limbs(skeleton).limbs
    return bool(limbs) and all(pair[0].name not in {limb.upper, limb.lower} for limb in limbs)


def _limb_of(bone: PoseBone) -> tuple[PoseBone, PoseBone] | None:
    """Upper and lower bone of the limb that a bone is part of; for a bone that only copies another one, of that one's limb.

    A bone without a limb stands for the limb of the bone named alike. `None` where that has none either.
    """
    source = source_of(bone)
    pair = _limb_at(source)
    if pair is not None:
        return pair
    alike = named_alike(source)
    return _limb_at(alike) if alike is not None else None


def _limb_at(bone: PoseBone) -> tuple[PoseBone, PoseBone] | None:
    """The most limb-like pair of bones at or just above a bone; `None` where there is no pair.

    Numbers in names may mean pieces or nothing, so skipping pieces must lead to a limb; names of twist bones are clear.
    """
    for passed_over, least in ((is_piece, ALIKE), (is_twist, 0.0), (lambda _bone, _whole: False, 0.0)):
        pairs = _pairs_around(bone, passed_over)
        best = max(pairs, key=_likeness, default=None)
        if best is not None and _evenness(best) >= least:
            return best
    return None


def _pairs_around(bone: PoseBone, passed_over: PassedOver) -> list[tuple[PoseBone, PoseBone]]:
    """Pairs of bones that meet at a joint at or just above a bone; skipped bones belong to the bone they are a piece of."""
    middle = whole_of(bone, passed_over)
    pairs = [(middle, below) for below in next_bones_below(middle, middle, passed_over)]
    above = _above(middle, passed_over)
    if above is not None:
        pairs.append((above, middle))
        highest = _above(above, passed_over)
        if highest is not None and not is_body(above):
            pairs.append((highest, above))
    return pairs


def _above(bone: PoseBone, passed_over: PassedOver) -> PoseBone | None:
    """The nearest ancestor that does not start where the bone does, as helper bones of rigs do; as a whole bone."""
    apart = (
        up for up in bone.parent_recursive if (up.bone.head_local - bone.bone.head_local).length > COINCIDENT * bone.bone.length
    )
    parent = next(apart, None)
    return whole_of(parent, passed_over) if parent else None


def _likeness(pair: tuple[PoseBone, PoseBone]) -> tuple[bool, float]:
    """Likeness to a limb, for comparison: first, it does not begin in the body; then, both links are long and nearly in line."""
    upper, lower = pair
    first, second = _links(pair)
    # From 0.4 for links that lie on one another to 1 for straight ones.
    in_line = 0.7 + 0.3 * first.normalized().dot(second.normalized())
    tip = lower.bone.head_local + second
    joined = any((below.bone.head_local - tip).length <= COINCIDENT * second.length for below in next_bones_below(lower, lower))
    doubts = any(word in upper.name.lower() for word in SHOULDER_WORDS) + (not joined)
    return not is_body(upper), min(first.length, second.length) * in_line * DOUBT**doubts


def _evenness(pair: tuple[PoseBone, PoseBone]) -> float:
    """Ratio of the shorter to the longer link."""
    shorter, longer = sorted(link.length for link in _links(pair))
    return shorter / longer if longer > 0.0 else 0.0


def _links(pair: tuple[PoseBone, PoseBone]) -> tuple[Any, Any]:
    """Vectors of the two links, from joint to joint."""
    upper, lower = pair
    tip = _tip_at(lower, list(next_bones_below(lower, lower)), "AUTO")
    carrier = lower.id_data.pose.bones[tip.bone].bone
    end = carrier.tail_local if tip.at_tail else carrier.head_local
    return lower.bone.head_local - upper.bone.head_local, end - lower.bone.head_local
