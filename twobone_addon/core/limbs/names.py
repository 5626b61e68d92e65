"""Interpret the names of bones, and judge whether the names of a skeleton as a whole can be trusted.

Names are trusted only if they are consistent with the hierarchy: a shin under a thigh of the same side, a finger under a hand.
A few right names among many wrong ones are chance; then no name is trusted, so that permuted names give exactly the same result
as no names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
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
    """Part of the body that a bone belongs to."""

    LEG = "LEG"
    ARM = "ARM"
    TRUNK = "TRUNK"
    OTHER = "OTHER"
    """Tails, wings, hair, cloth, faces, held objects."""
    HELPER = "HELPER"
    """Twist bones, correctives, mechanism bones."""
    UNKNOWN = "UNKNOWN"


LIMBS = (Family.LEG, Family.ARM)


class Rank(IntEnum):
    """Position of a bone in its limb, counted from the body."""

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
"""Word patterns with their family and their possible ranks in a limb, each with its doubt; the first match counts. Words are
lower-case, separated by spaces, and stripped of sides."""

_PATTERNS = [(re.compile(pattern), family, ranks) for pattern, family, ranks in VOCABULARY]

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]|\d+")
"""A word of a name: `Left` and `Up` of `LeftUpLeg01`, `L` of `thigh.L`; each non-Latin character is a word."""

SIDES = {
    Side.LEFT: {"left", "l", "lt", "lf", "lft", "左", "gauche", "izq", "izquierda", "links", "sx", "esquerda"},
    Side.RIGHT: {"right", "r", "rt", "rgt", "右", "droite", "der", "derecha", "rechts", "dx", "direita"},
}
"""Words that name a side."""

GLUED = re.compile(r"(left|right|l|r)(?=(?:thigh|calf|foot|toe|knee|hand|fore|shoulder|clav|finger|hip$|leg$|arm$|wrist))(.+)")
"""A word that starts with a side: `lefthand`, `lthigh`."""

FRONT, BEHIND = re.compile(r"front|fore(?!arm)", re.IGNORECASE), re.compile(r"back|hind|rear", re.IGNORECASE)
"""Words for the legs before and behind in names of bones."""

CONTROL = re.compile(r"ik", re.IGNORECASE)
"""Word that makes the name of a limb that of its control, which is where the limb ends."""

CONSISTENT_RANKS = 0.7
"""Least share of the names with a rank in a limb that must agree with the hierarchy for names to be trusted."""

LEAST_RANKS = 2
"""Least number of such names."""

CONSISTENT_SIDES = 0.9
"""Least share of the bones with a side whose parent has the same side, for sides to be trusted."""

LEAST_SIDES = 6
"""Least number of such bones where names give sides but no ranks."""

MOST_DOUBT = 1.0
"""Greatest summed doubt of a limb found by name."""

NO_END_DOUBT = 0.4
"""Doubt added for a limb whose hand or foot has no name."""

BETWEEN_DOUBT = 0.2
"""Doubt added for each bone between upper and lower that is not a helper."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """Interpretation of one bone name."""

    family: Family
    ranks: dict[Rank, float]
    """Possible ranks in a limb, each with its doubt."""
    side: Side
    """`CENTER` where the name has no side or both."""
    word: str
    """Text that matched the family's pattern."""


PIECE_MEANING = Meaning(Family.HELPER, {}, Side.CENTER, "")
"""Meaning of a bone that has its parent's name and a number: a piece of a bone that was cut up."""


@dataclass(frozen=True, slots=True)
class NamedLimb:
    """A limb found by names, given by bone indices."""

    family: Family
    side: Side
    upper: int
    lower: int
    end: int
    """Bone of the hand or foot; -1 where no bone has such a name."""


def meaning_of(name: str) -> Meaning:
    """Interpret one bone name."""
    words: list[str] = []
    sides: set[Side] = set()
    for word in map(str.lower, WORD.findall(name)):
        glued = GLUED.fullmatch(word)
        for part in glued.groups() if glued else (word,):
            named = {side for side, known in SIDES.items() if part in known}
            sides |= named
            if not named and not part.isdigit():
                words.append(part)
    side = sides.pop() if len(sides) == 1 else Side.CENTER
    text = " ".join(words)
    # Each non-Latin character was a word of its own; the vocabulary has them without spaces.
    text = re.sub(r"(?<=[^\x00-\x7f]) (?=[^\x00-\x7f])", "", text)
    for pattern, family, ranks in _PATTERNS:
        if match := pattern.search(text):
            return Meaning(family, ranks, side, match[0])
    return Meaning(Family.UNKNOWN, {}, side, "")


class NameReading:
    """The interpreted names of one skeleton."""

    def __init__(self, names: Sequence[str], parents: Sequence[int]) -> None:
        """Interpret the names of `B` bones, each with the index of its parent, -1 for none."""
        self.parents = parents
        self._names = names
        by_name = [meaning_of(name) for name in names]
        self.meanings = [
            PIECE_MEANING
            if len(meaning.ranks) == 1
            and min(meaning.ranks) in {Rank.UPPER, Rank.LOWER}
            and above >= 0
            and meaning == by_name[above]
            else meaning
            for meaning, above in zip(by_name, parents, strict=True)
        ]
        rank_checks = list(self._rank_checks())
        above = [self.meanings[parent].side if parent >= 0 else Side.CENTER for parent in parents]
        both = zip((meaning.side for meaning in self.meanings), above, strict=True)
        side_checks = [side is side_above for side, side_above in both if Side.CENTER not in (side, side_above)]
        self.parts_hold = len(rank_checks) >= LEAST_RANKS and sum(rank_checks) >= CONSISTENT_RANKS * len(rank_checks)
        """Whether the names of limb parts are consistent with the hierarchy."""
        sides_agree = sum(side_checks) >= CONSISTENT_SIDES * len(side_checks) and len(side_checks) > 0
        self.sides_hold = sides_agree and (self.parts_hold or (len(side_checks) >= LEAST_SIDES and not rank_checks))
        """Whether the sides in names are consistent with the hierarchy."""
        self.parts_hold &= sides_agree or not side_checks

    def above(self, bone: int) -> Iterator[int]:
        """The ancestors of a bone, nearest first."""
        bone = self.parents[bone]
        while bone >= 0:
            yield bone
            bone = self.parents[bone]

    def limbs(self) -> list[NamedLimb]:
        """The limbs found by name, least doubtful first; none where the names are not trusted."""
        if not self.parts_hold:
            return []
        ends = self._ends()
        options: list[tuple[float, int, NamedLimb]] = []
        for lower, meaning in enumerate(self.meanings):
            if Rank.LOWER not in meaning.ranks:
                continue
            between = 0
            for upper in self.above(lower):
                other = self.meanings[upper]
                if Rank.UPPER in other.ranks and other.family is meaning.family and other.side is meaning.side:
                    end, doubt = ends.get(lower, (-1, NO_END_DOUBT))
                    doubt += other.ranks[Rank.UPPER] + meaning.ranks[Rank.LOWER] + BETWEEN_DOUBT * between
                    options.append((doubt, len(options), NamedLimb(meaning.family, meaning.side, upper, lower, end)))
                if other.family in {Family.TRUNK, Family.OTHER}:
                    break
                between += other.family is not Family.HELPER
        limbs: list[NamedLimb] = []
        for doubt, _, limb in sorted(options, key=lambda option: option[:2]):
            bones = {limb.upper, limb.lower, limb.end} - {-1}
            if doubt <= MOST_DOUBT and not any(bones & {other.upper, other.lower, other.end} for other in limbs):
                limbs.append(limb)
        return limbs

    def _ends(self) -> dict[int, tuple[int, float]]:
        """For each possible lower bone, the nearest hand or foot below it, with its doubt."""
        nearest: dict[int, tuple[float, int, float]] = {}
        for end, meaning in enumerate(self.meanings):
            if Rank.END not in meaning.ranks:
                continue
            for steps, bone in enumerate(self.above(end)):
                other = self.meanings[bone]
                if other.family is meaning.family and other.side is meaning.side and Rank.LOWER in other.ranks:
                    doubt = meaning.ranks[Rank.END]
                    nearest[bone] = min(nearest.get(bone, (1e9, -1, 0.0)), (steps + doubt, end, doubt))
        ends = {bone: (end, doubt) for bone, (_, end, doubt) in nearest.items()}
        return self._loose_ends(ends.keys()) | ends

    def _loose_ends(self, known: Collection[int]) -> dict[int, tuple[int, float]]:
        """For each lower bone without children, the only hand or foot of its side that is parented to no limb.

        Where none is named so, a control counts that is named as the limb but for "IK": importers bake it to a bone.
        """
        lowers, ends, controls = (defaultdict[tuple[Family, Side, str], list[int]](list) for _ in range(3))
        for bone, meaning in enumerate(self.meanings):
            is_apart = not any(self.meanings[above].family in LIMBS for above in self.above(bone))
            if Rank.LOWER in meaning.ranks and bone not in self.parents and bone not in known:
                lowers[self._limb_key(bone, meaning)].append(bone)
            elif Rank.END in meaning.ranks and is_apart:
                ends[self._limb_key(bone, meaning)].append(bone)
            elif meaning.family is Family.HELPER and is_apart:
                # The control is named as the limb is without the word that makes it one.
                words = [word for word in WORD.findall(self._names[bone]) if not CONTROL.fullmatch(word)]
                controls[self._limb_key(bone, meaning_of(" ".join(words)))].append(bone)
        pairs = [
            (bones[0], named[0]) for key, bones in lowers.items() if len(bones) == len(named := ends[key] or controls[key]) == 1
        ]
        depths = [sum(1 for _ in self.above(bone)) for bone in range(len(self.parents))]
        return {
            lower: (end, self.meanings[end].ranks.get(Rank.END, NO_END_DOUBT))
            for lower, end in pairs
            if depths[end] < depths[lower]
        }

    def _limb_key(self, bone: int, meaning: Meaning) -> tuple[Family, Side, str]:
        """Family, side and place (before, behind or neither) of a bone."""
        places = [word for word, pattern in (("FRONT", FRONT), ("BEHIND", BEHIND)) if pattern.search(self._names[bone])]
        return meaning.family, meaning.side, " ".join(places)

    def _rank_checks(self) -> Iterator[bool]:
        """For each bone whose name has a rank below the upper bone, whether it hangs below a fitting bone of its limb."""
        for bone, meaning in enumerate(self.meanings):
            if meaning.family not in LIMBS or min(meaning.ranks) < Rank.LOWER:
                continue
            first = min(meaning.ranks)
            limb = next((above for above in self.above(bone) if self.meanings[above].family in (*LIMBS, Family.OTHER)), -1)
            other = self.meanings[limb] if limb >= 0 else None
            lowest = Rank.LOWER if first >= Rank.END else Rank.BEFORE
            yield (
                other is not None
                and other.family is meaning.family
                and other.side is meaning.side
                and max(other.ranks) >= lowest
                and min(other.ranks) <= first
            )
