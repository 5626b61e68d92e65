"""Which bones are meant: from names, or from what is selected, whatever was clicked first."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from ...core.limbs.finding import find_limbs
from ...core.limbs.names import LIMBS, Family, NameReading, meaning_of
from ...errors import ChainError, SelectionError
from ...said import Sentence
from ..blender_types import Object, PoseBone
from ..bones import ChainNames
from ..versions import is_hidden, selection_flags
from .control_limbs import ControlLimbs, named_alike, source_of
from .rest_reading import COINCIDENT, read_skeleton


def selected_bones(armature: Object) -> list[PoseBone]:
    """The selected bones that can be seen: neither hidden themselves nor by their bone collections."""
    holders, flags = selection_flags(armature)
    selected = (armature.pose.bones[holders[int(index)].name] for index in np.flatnonzero(flags))
    return [bone for bone in selected if is_seen(bone)]


def is_seen(bone: PoseBone) -> bool:
    """Whether a bone is shown in Pose Mode; one in no bone collection always is unless it is hidden itself."""
    collections = bone.bone.collections
    return not is_hidden(bone) and (not collections or any(each.is_visible_effectively for each in collections))


def selection_mark(armature: Object) -> str:
    """What tells one selection of bones from another, in tens of microseconds: panels ask with every redraw."""
    _, flags = selection_flags(armature)
    active = armature.data.bones.active
    return f"{armature.name}:{zlib.crc32(flags.tobytes()):x}:{active.name if active else ''}"


TWIST_WORD = re.compile(r"[Tt]wist|TWIST|(?<![A-Za-z])roll(?![a-z])|Roll(?![a-z])|ROLL")
"""What riggers call bones that only spread a turn along a limb; a controller does not, and neither does a troll."""

NUMBER = re.compile(r"[._-]?\d+(?=([._-][LlRr])?$)")
"""The number of a piece, before or behind its side: `thigh.L.001`, `thigh.001.L`."""

STRAIGHT = 1e-3
"""Sine of the angle up to which a bone goes straight on: pieces that one bone was cut into lie in line."""

PassedOver: TypeAlias = Callable[[PoseBone, PoseBone], bool]
"""Whether a bone is passed over as belonging to the whole bone above it, which is the second argument."""


def is_twist(bone: PoseBone, _whole: PoseBone) -> bool:
    """Whether its name says that a bone only twists."""
    return TWIST_WORD.search(bone.name) is not None


def is_piece(bone: PoseBone, whole: PoseBone) -> bool:
    """Whether a bone is a twist bone, or goes straight on from the whole one under its name and a number."""
    if is_twist(bone, whole):
        return True
    if NUMBER.sub("", bone.name) != whole.name:
        return False
    before = bone.bone.head_local - whole.bone.head_local
    along = bone.bone.tail_local - bone.bone.head_local
    return before.dot(along) > 0.0 and before.cross(along).length <= STRAIGHT * before.length * along.length


def is_nothing(_bone: PoseBone, _whole: PoseBone) -> bool:
    """Passes nothing over."""
    return False


def is_body(bone: PoseBone) -> bool:
    """Whether several limbs are parented to a bone, as legs from hips and fingers from a hand: two children with children."""
    return sum(bool(child.children) for child in bones_below(bone, bone)) > 1


def whole_of(bone: PoseBone, passed_over: PassedOver) -> PoseBone:
    """The bone that this one belongs to, or itself."""
    if bone.parent is None:
        return bone
    above = whole_of(bone.parent, passed_over)
    return above if passed_over(bone, above) else bone


def bones_below(bone: PoseBone, whole: PoseBone, passed_over: PassedOver = is_piece) -> Iterator[PoseBone]:
    """The children of a bone and of what is passed over below it, but not these."""
    for child in bone.children:
        if passed_over(child, whole):
            yield from bones_below(child, whole, passed_over)
        else:
            yield child


MOST_BONES = 3
"""Upper, lower and tip."""

SHOULDER_WORDS = ("shoulder", "clavicle", "collar")

DOUBT = 0.5
"""Weight of a pair of bones that begins with a shoulder (which may mean the upper arm in rigs that name joints), or ends
with a tail that nothing starts from (which importers make up)."""

ALIKE = 0.6
"""Ratio of the links from which a pair of bones looks like a limb. Arms and legs are above; a whole leg and its foot below."""


def chain_from_names(armature: Object, upper: str, lower: str, tip: str = "", tip_end: str = "AUTO") -> ChainNames:
    """The chain with these bones; raises `ChainError` where they do not form one."""
    bones = armature.pose.bones
    for role, name in (("Upper bone", upper), ("Lower bone", lower), ("Tip bone", tip)):
        if name and name not in bones:
            raise ChainError(
                '{role} "{bone}" is not in armature "{armature}". Choose one of its bones.',
                role=Sentence(role),
                bone=name,
                armature=armature.name,
            )
    if bones[upper] not in ancestors(bones[lower]):
        raise ChainError(
            'Bone "{bone}" is not a descendant of "{upper}". Choose an upper bone and a lower bone of the same limb.',
            bone=lower,
            upper=upper,
        )
    tip_name, at_tail = _named_tip(bones[lower], bones[tip], tip_end) if tip else automatic_tip(bones[lower], tip_end)
    return ChainNames(armature.name, upper, lower, tip_name, at_tail)


def chain_from_selection(armature: Object, tip: str = "", tip_end: str = "AUTO") -> ChainNames:
    """The chain that the selected bones mean; raises `SelectionError` with what to select.

    Bones that are hidden do not count. Controls, mechanism and deform bones of a limb mean its forward chain. Three bones
    are upper, lower and tip; two are upper and lower. One bone may be any of the three, or a piece of one: of the pairs of
    bones around it that meet at a joint, the one most like a limb is meant. Twist bones and pieces that a bone was cut into
    ride along: the tip is the joint below them.
    """
    found = selected_bones(armature)
    limb = _controlled(found, ControlLimbs(armature))
    if limb is not None:
        selected = [armature.pose.bones[name] for name in limb]
    else:
        selected = sorted(found, key=lambda bone: len(ancestors(bone)))
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
        if above not in ancestors(below):
            raise SelectionError(
                'Bones "{above}" and "{below}" are not on one limb. Choose a bone and one of its descendants.',
                above=above.name,
                below=below.name,
            )
    upper, lower = selected[:2]
    if not tip and len(selected) < MOST_BONES:
        return ChainNames(armature.name, upper.name, lower.name, *_tip_at(lower, list(bones_below(lower, lower)), tip_end))
    return chain_from_names(armature, upper.name, lower.name, tip or selected[2].name, tip_end)


def limb_meant(bone: PoseBone, limbs: ControlLimbs) -> tuple[str, str] | None:
    """Upper and lower bone of the limb that a single bone means; `None` where it means none."""
    controlled = _controlled([bone], limbs)
    if controlled is not None:
        return controlled
    pair = _pair_at(bone)
    return (pair[0].name, pair[1].name) if pair else None


def limb_finder(armature: Object) -> Callable[[PoseBone], tuple[str, str] | None]:
    """What tells upper and lower bone of the limb that a single bone means; it looks through the armature once."""
    return partial(limb_meant, limbs=ControlLimbs(armature))


def bones_of_selected_limbs(armature: Object) -> frozenset[str]:
    """The selected bones, and all bones of the limbs that they control or stand for."""
    limbs = ControlLimbs(armature)
    selected = selected_bones(armature)
    found = (limbs.limb_of(bone) for bone in selected)
    return frozenset({bone.name for bone in selected}.union(*(limb.bones for limb in found if limb is not None)))


def _controlled(selected: list[PoseBone], limbs: ControlLimbs) -> tuple[str, str] | None:
    """Upper and lower bone of the limb that all selected bones control or stand for; `None` where they are a limb's own."""
    found = [limbs.limb_of(bone) for bone in selected]
    first = found[0] if found else None
    if first is None or any(limb != first for limb in found):
        return None
    upper = selected[0].id_data.pose.bones[first.forward[0]]
    # Bones of the chain itself say by themselves which of them are meant.
    speaks = first.forward == first.turned or len(selected) > 1
    is_own = all(bone == upper or upper in ancestors(bone) for bone in selected)
    return None if speaks and is_own else first.forward


def ancestors(bone: PoseBone) -> list[PoseBone]:
    """Its parents, nearest first."""
    return list(bone.parent_recursive)


def bones_between(armature: Object, first: str, last: str) -> list[PoseBone]:
    """The named bones and those between them, from the last one up; none where they are not on one limb."""
    bones = armature.pose.bones
    if first not in bones or last not in bones:
        return []
    path = [bones[last], *ancestors(bones[last])]
    return path[: path.index(bones[first]) + 1] if bones[first] in path else []


def bones_of(armature: Object, names: ChainNames) -> list[PoseBone]:
    """The bones of a chain from the last one up; a foot that is parented elsewhere, which may be the tip, is one."""
    above = bones_between(armature, names.upper, names.tip)
    return above or [armature.pose.bones[names.tip], *bones_between(armature, names.upper, names.lower)]


def automatic_tip(lower: PoseBone, tip_end: str) -> tuple[str, bool]:
    """Tip of a lower bone: its tail, or where its children start if that is one other place.

    Imported bones often end anywhere (their tails are made up), but their children start at the joint.
    """
    return _tip_at(lower, lower.children, tip_end)


def _tip_at(lower: PoseBone, below: Sequence[PoseBone], tip_end: str) -> tuple[str, bool]:
    """The same, with the bones that are to count as its children."""
    if tip_end == "TAIL":
        return lower.name, True
    origin = lower.bone.head_local
    starts = [child for child in below if (child.bone.head_local - origin).length > 0.0]
    if not starts:
        if tip_end == "HEAD":
            raise ChainError('Bone "{bone}" has no child bone. Use its tail as the tip.', bone=lower.name)
        return lower.name, True
    first = starts[0]
    reach = (first.bone.head_local - origin).length
    apart = max((child.bone.head_local - first.bone.head_local).length for child in starts)
    at_tail = (first.bone.head_local - lower.bone.tail_local).length <= COINCIDENT * reach
    if tip_end == "HEAD" or (apart <= COINCIDENT * reach and not at_tail):
        return first.name, False
    return lower.name, True


def _named_tip(lower: PoseBone, tip: PoseBone, tip_end: str) -> tuple[str, bool]:
    """The tip that is named: below the lower bone, or, where that ends a branch, a foot that hangs from what the limb does."""
    if tip == lower:
        if tip_end == "HEAD":
            raise ChainError('The tip is the head of the lower bone "{bone}" itself. Choose its tail.', bone=lower.name)
        return tip.name, True
    above = ancestors(lower)
    is_loose = not lower.children and tip_end != "TAIL" and tip not in above and len(ancestors(tip)) < len(above)
    if lower not in ancestors(tip) and not is_loose:
        raise ChainError(
            'Tip bone "{bone}" is not a descendant of the lower bone "{lower}". Choose a bone below it.',
            bone=tip.name,
            lower=lower.name,
        )
    return tip.name, tip_end == "TAIL"


def _limb_around(bone: PoseBone) -> tuple[PoseBone, PoseBone]:
    """The pair of bones that a single one means; raises `SelectionError` where there is none."""
    pair = _pair_at(bone)
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
    """Whether a pair of bones is one of spine, neck or head, or is parented to the body itself, as roots and torsos are.

    By their names, where these can be relied on; else by the limbs that the character has.
    """
    armature = pair[0].id_data
    skeleton = read_skeleton(armature)
    reading = NameReading(skeleton.names, skeleton.parents)
    if reading.parts_hold:
        families = {meaning_of(bone.name).family for bone in pair}
        return Family.TRUNK in families or (is_body(pair[0]) and not families & set(LIMBS))
    if not is_body(pair[0]):
        return False
    limbs = find_limbs(skeleton).limbs
    return bool(limbs) and all(pair[0].name not in {limb.upper, limb.lower} for limb in limbs)


def _pair_at(bone: PoseBone) -> tuple[PoseBone, PoseBone] | None:
    """The limb that a bone is part of, or, where it only copies another one, that one.

    A bone that is part of none means the limb of the bone whose name says the same. `None` where that is none either.
    """
    source = source_of(bone)
    pair = _limb_at(source)
    if pair is not None:
        return pair
    alike = named_alike(source)
    return _limb_at(alike) if alike is not None else None


def _limb_at(bone: PoseBone) -> tuple[PoseBone, PoseBone] | None:
    """The pair of bones at or just above this bone that is most like a limb; `None` where there is no pair.

    Numbers in names may mean pieces or nothing, so passing over pieces must lead to a limb; a twist bone says what it is.
    """
    for passed_over, least in ((is_piece, ALIKE), (is_twist, 0.0), (is_nothing, 0.0)):
        pairs = _pairs_around(bone, passed_over)
        best = max(pairs, key=_likeness, default=None)
        if best is not None and _evenness(best) >= least:
            return best
    return None


def _pairs_around(bone: PoseBone, passed_over: PassedOver) -> list[tuple[PoseBone, PoseBone]]:
    """Bones that meet at a joint, at or just above this one; what is passed over belongs to the bone it is a piece of."""
    middle = whole_of(bone, passed_over)
    pairs = [(middle, below) for below in bones_below(middle, middle, passed_over)]
    above = _above(middle, passed_over)
    if above is not None:
        pairs.append((above, middle))
        highest = _above(above, passed_over)
        if highest is not None and not is_body(above):
            pairs.append((highest, above))
    return pairs


def _above(bone: PoseBone, passed_over: PassedOver) -> PoseBone | None:
    """Its parent, beyond those that start where it starts: rigs have such helpers."""
    apart = (up for up in ancestors(bone) if (up.bone.head_local - bone.bone.head_local).length > COINCIDENT * bone.bone.length)
    parent = next(apart, None)
    return whole_of(parent, passed_over) if parent else None


def _likeness(pair: tuple[PoseBone, PoseBone]) -> tuple[bool, float]:
    """How much like a limb, to be compared: no limb begins in the body; else both links are long, and nearly in line."""
    upper, lower = pair
    first, second = _links(pair)
    in_line = 0.7 + 0.3 * first.normalized().dot(second.normalized())
    tip = lower.bone.head_local + second
    joined = any((below.bone.head_local - tip).length <= COINCIDENT * second.length for below in bones_below(lower, lower))
    doubts = any(word in upper.name.lower() for word in SHOULDER_WORDS) + (not joined)
    return not is_body(upper), min(first.length, second.length) * in_line * DOUBT**doubts


def _evenness(pair: tuple[PoseBone, PoseBone]) -> float:
    """Ratio of the shorter to the longer link."""
    shorter, longer = sorted(link.length for link in _links(pair))
    return shorter / longer if longer > 0.0 else 0.0


def _links(pair: tuple[PoseBone, PoseBone]) -> tuple[Any, Any]:
    """Vectors from joint to joint."""
    upper, lower = pair
    name, at_tail = _tip_at(lower, list(bones_below(lower, lower)), "AUTO")
    carrier = lower.id_data.pose.bones[name].bone
    tip = carrier.tail_local if at_tail else carrier.head_local
    return lower.bone.head_local - upper.bone.head_local, tip - lower.bone.head_local
