"""What the names of bones say, all of them judged together.

Names are believed only where they hang together with the tree: a shin under a thigh of the same side, a finger under a hand.
A few right ones among many wrong ones are chance, and then no name is believed, so names that were permuted give exactly what
no names give.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum


class Side(Enum):
    """Side of the character."""

    LEFT = "LEFT"
    RIGHT = "RIGHT"
    CENTER = "CENTER"

    @property
    def other(self) -> Side:
        """The opposite side."""
        return {Side.LEFT: Side.RIGHT, Side.RIGHT: Side.LEFT}.get(self, self)


class Family(Enum):
    """What a bone belongs to."""

    LEG = "LEG"
    ARM = "ARM"
    TRUNK = "TRUNK"
    OTHER = "OTHER"
    """Tails, wings, hair, cloth, faces, things that are held."""
    HELPER = "HELPER"
    """Twist bones, correctives, bones of a mechanism."""
    UNKNOWN = "UNKNOWN"


LIMBS = (Family.LEG, Family.ARM)


class Rank(IntEnum):
    """Where a bone of a limb is, from the body on."""

    BEFORE = 0
    UPPER = 1
    LOWER = 2
    END = 3
    AFTER = 4


_B, _U, _L, _E, _A = Rank
VOCABULARY: tuple[tuple[str, Family, dict[Rank, float]], ...] = (
    ((r"\bik\b|\bmch\b|\bpole\b|\btarget\b|\btweak\b|\brolls?\b|twist|corrective|helper|\bpistons?\b|\bmuscle\b|\bjiggle\b|"
     r"\bpivot\b|\bnub\b|\bbck\b|\bfwd\b|\uff29\uff2b|捩"), Family.HELPER, {}),
    ((r"\btails?\b|wings?\b|\bhair|\bears?\b|\beyes?\b|\bjaw\b|\bcape|skirt|\bcoat|\bcloth|\bdress\b|\bbust|breast|pectoral|"
     r"\bsleeve|ribbon|\bbelt\b|weapon|sword|shield|\bgun\b|tongue|feather|\bfins?\b|antenna|\bhorns?\b|\bmane\b|\bbrow|"
     r"\blids?\b|\blips?\b|tentacle|\bfang|\bbeak\b|ponytail|\bbraid|スカート|髪|尻尾|しっぽ|ツインテ|胸|目|耳|羽|翼"),
     Family.OTHER, {}),
    (r"finger|thumb|\bindex\b|\bmiddle\b|\bring\b|\bpinky\b|\blittle\b", Family.ARM, {_A: 0.0}),
    (r"thigh|\bupp?e?r? ?leg\b|\bleg ?upper\b|femur|太もも|大腿", Family.LEG, {_U: 0.0}),
    (r"\bshins?\b|\bcal(?:f|ves)\b|\blow(?:er)? ?leg\b|\bleg ?lower\b|tibia|\bknee\b|ひざ|膝|すね|脛", Family.LEG, {_L: 0.0}),
    (r"\btoes?|\bball\b|つま先|足先|爪先", Family.LEG, {_A: 0.0}),
    (r"\bankle\b|metatars|\btarsus\b|\bhock\b|足首", Family.LEG, {_E: 0.0}),
    (r"foot\b|\bfeet\b|\bpaw\b|\bhoof\b", Family.LEG, {_E: 0.1, _A: 0.2}),
    (r"\bcoxa\b", Family.LEG, {_B: 0.0}),
    (r"\bhip\b", Family.LEG, {_B: 0.0, _U: 0.5}),
    (r"\bupp?e?r? ?arm\b|\barm ?upper\b|humerus|\bshldr\b|上腕", Family.ARM, {_U: 0.0}),
    (r"\bfore ?arm\b|\blow(?:er)? ?arm\b|\barm ?lower\b|\belbow\b|\bradius\b|ひじ|肘|前腕", Family.ARM, {_L: 0.0}),
    (r"\bfore\b", Family.ARM, {_L: 0.1}),
    (r"\bwrist\b|metacarp|\bpalm\b|手首", Family.ARM, {_E: 0.0}),
    (r"\bhand\b|手", Family.ARM, {_E: 0.1, _A: 0.2}),
    (r"\bclav|\bcollar|scapula|肩", Family.ARM, {_B: 0.0}),
    (r"\bshoulder\b", Family.ARM, {_B: 0.0, _U: 0.5}),
    (r"\bleg\b|足|脚", Family.LEG, {_U: 0.3, _L: 0.4}),
    (r"\barm\b|腕", Family.ARM, {_U: 0.3, _L: 0.6}),
    (r"\bhips\b|pelvis|spine|chest|torso|\bneck|\bhead\b|abdomen|waist|\bbody\b|thorax|首|頭|上半身|下半身|腰", Family.TRUNK, {}),
)  # fmt: skip
"""Patterns of words, what they belong to, and the places in a limb that they may mean, each with the doubt about it; the first
that matches counts. Words are lower-case, apart from one another by a space, and without sides."""

_PATTERNS = [(re.compile(pattern), family, ranks) for pattern, family, ranks in VOCABULARY]

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]|\d+")
"""A word of a name: `Left` and `Up` of `LeftUpLeg01`, `L` of `thigh.L`; signs of other writings stand alone."""

SIDES = {
    Side.LEFT: {"left", "l", "lt", "lf", "lft", "左", "gauche", "izq", "izquierda", "links", "sx", "esquerda"},
    Side.RIGHT: {"right", "r", "rt", "rgt", "右", "droite", "der", "derecha", "rechts", "dx", "direita"},
}
"""Words that tell a side."""

GLUED = re.compile(r"(left|right|l|r)(?=(?:thigh|calf|foot|toe|knee|hand|fore|shoulder|clav|finger|hip$|leg$|arm$|wrist))(.+)")
"""A side that a word begins with: `lefthand`, `lthigh`."""

TOGETHER = 0.7
"""Part of the names that tell their place in a limb from which they hang together with the tree."""

FEWEST_PLACES = 2
"""Such names that there are at least."""

ONE_SIDE = 0.9
"""Part of the bones with a side whose parents' side is the same from which sides hang together."""

FEWEST_SIDES = 6
"""Such bones that there are at least where nothing but sides is told."""

DOUBTFUL = 1.0
"""Doubt about a whole limb from which names do not tell it."""

NO_END = 0.4
"""Doubt about a limb whose hand or foot has no name."""

BETWEEN = 0.2
"""Doubt for each bone between two of a limb that is no helper."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the name of a bone says."""

    family: Family
    ranks: dict[Rank, float]
    """Places in a limb that it may mean, with the doubt about each."""
    side: Side
    """`CENTER` where it names none or both."""
    word: str
    """The word that told the family."""


PIECE = Meaning(Family.HELPER, {}, Side.CENTER, "")
"""Of a bone that has the name of the one above it and a number: that one was cut into pieces."""


@dataclass(frozen=True, slots=True)
class NamedLimb:
    """A limb as names tell it, by numbers of bones."""

    family: Family
    side: Side
    upper: int
    lower: int
    end: int
    """Bone of the hand or foot; -1 where no name tells it."""


def meaning_of(name: str) -> Meaning:
    """What one name says."""
    words: list[str] = []
    sides: set[Side] = set()
    for word in (found.lower() for found in WORD.findall(name)):
        glued = GLUED.fullmatch(word)
        for part in glued.groups() if glued else (word,):
            told = {side for side, known in SIDES.items() if part in known}
            sides |= told
            if not told and not part.isdigit():
                words.append(part)
    side = sides.pop() if len(sides) == 1 else Side.CENTER
    text = " ".join(words)
    text = re.sub(r"(?<=[^\x00-\x7f]) (?=[^\x00-\x7f])", "", text)
    for pattern, family, ranks in _PATTERNS:
        found = pattern.search(text)
        if found:
            return Meaning(family, ranks, side, found[0])
    return Meaning(Family.UNKNOWN, {}, side, "")


class NameReading:
    """The names of one skeleton."""

    def __init__(self, names: Sequence[str], parents: Sequence[int]) -> None:
        """Read the names `B` of bones, each with the number of its parent, -1 for none."""
        self.parents = parents
        told = [meaning_of(name) for name in names]
        self.meanings = [
            PIECE
            if len(own.ranks) == 1 and min(own.ranks) in {Rank.UPPER, Rank.LOWER} and above >= 0 and own == told[above]
            else own
            for own, above in zip(told, parents, strict=True)
        ]
        places, sides = list(self._places()), list(self._sides())
        self.parts_hold = len(places) >= FEWEST_PLACES and sum(places) >= TOGETHER * len(places)
        """Whether the names of parts of limbs hang together with the tree."""
        sides_agree = sum(sides) >= ONE_SIDE * len(sides) and len(sides) > 0
        self.sides_hold = sides_agree and (self.parts_hold or (len(sides) >= FEWEST_SIDES and not places))
        """Whether the sides do."""
        self.parts_hold &= sides_agree or not sides

    def above(self, bone: int) -> Iterator[int]:
        """The ancestors of a bone, nearest first."""
        bone = self.parents[bone]
        while bone >= 0:
            yield bone
            bone = self.parents[bone]

    def limbs(self) -> list[NamedLimb]:
        """The limbs that names tell, those without doubt first; none where the names do not hang together."""
        if not self.parts_hold:
            return []
        ends = self._ends()
        found = []
        for lower, meaning in enumerate(self.meanings):
            if Rank.LOWER not in meaning.ranks:
                continue
            between = 0
            for upper in self.above(lower):
                other = self.meanings[upper]
                if Rank.UPPER in other.ranks and other.family is meaning.family and other.side is meaning.side:
                    end, doubt = ends.get(lower, (-1, NO_END))
                    doubt += other.ranks[Rank.UPPER] + meaning.ranks[Rank.LOWER] + BETWEEN * between
                    found.append((doubt, len(found), NamedLimb(meaning.family, meaning.side, upper, lower, end)))
                if other.family in {Family.TRUNK, Family.OTHER}:
                    break
                between += other.family is not Family.HELPER
        limbs: list[NamedLimb] = []
        for doubt, _, limb in sorted(found, key=lambda entry: entry[:2]):
            own = {limb.upper, limb.lower, limb.end} - {-1}
            if doubt <= DOUBTFUL and not any(own & {each.upper, each.lower, each.end} for each in limbs):
                limbs.append(limb)
        return limbs

    def _ends(self) -> dict[int, tuple[int, float]]:
        """For each bone that may be a lower one the nearest hand or foot below it, with the doubt about that."""
        found: dict[int, tuple[float, int, float]] = {}
        for end, meaning in enumerate(self.meanings):
            if Rank.END not in meaning.ranks:
                continue
            for steps, bone in enumerate(self.above(end)):
                other = self.meanings[bone]
                if other.family is meaning.family and other.side is meaning.side and Rank.LOWER in other.ranks:
                    doubt = meaning.ranks[Rank.END]
                    found[bone] = min(found.get(bone, (1e9, -1, 0.0)), (steps + doubt, end, doubt))
        ends = {bone: (end, doubt) for bone, (_, end, doubt) in found.items()}
        return self._loose_ends(ends) | ends

    def _loose_ends(self, known: Mapping[int, tuple[int, float]]) -> dict[int, tuple[int, float]]:
        """For lower bones that end a branch the only hand or foot of the same side that is parented to no limb."""
        lowers, ends = (defaultdict[tuple[Family, Side], list[int]](list) for _ in range(2))
        for bone, meaning in enumerate(self.meanings):
            if Rank.LOWER in meaning.ranks and bone not in self.parents and bone not in known:
                lowers[meaning.family, meaning.side].append(bone)
            elif Rank.END in meaning.ranks and not any(self.meanings[each].family in LIMBS for each in self.above(bone)):
                ends[meaning.family, meaning.side].append(bone)
        pairs = [(own[0], ends[key][0]) for key, own in lowers.items() if len(own) == len(ends[key]) == 1]
        depths = [sum(1 for _ in self.above(bone)) for bone in range(len(self.parents))]
        return {lower: (end, self.meanings[end].ranks[Rank.END]) for lower, end in pairs if depths[end] < depths[lower]}

    def _places(self) -> Iterator[bool]:
        """For each bone whose name places it below others of its limb whether it is their descendant."""
        for bone, meaning in enumerate(self.meanings):
            if meaning.family not in LIMBS or min(meaning.ranks) < Rank.LOWER:
                continue
            first = min(meaning.ranks)
            limb = next((each for each in self.above(bone) if self.meanings[each].family in (*LIMBS, Family.OTHER)), -1)
            other = self.meanings[limb] if limb >= 0 else None
            lowest = Rank.LOWER if first >= Rank.END else Rank.BEFORE
            yield (
                other is not None
                and other.family is meaning.family
                and other.side is meaning.side
                and max(other.ranks) >= lowest
                and min(other.ranks) <= first
            )

    def _sides(self) -> Iterator[bool]:
        """For each bone with a side whose parent has one whether they are the same."""
        for bone, meaning in enumerate(self.meanings):
            above = self.parents[bone]
            if above >= 0 and Side.CENTER not in (meaning.side, self.meanings[above].side):
                yield meaning.side is self.meanings[above].side
