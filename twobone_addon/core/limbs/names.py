"""Interpret the names of bones, and judge whether the names of a skeleton as a whole can be trusted.

Names are trusted only if they are consistent with the hierarchy: a shin under a thigh of the same side, a finger under a hand.
A few right names among many wrong ones are chance; then no name is trusted, so that permuted names give exactly the same result
as no names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum

from ...records import replace
from .skeleton import way_up


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
     r"\blids?\b|\blips?\b|tentacle|wheel|\btires?\b|\btyres?\b|\baxles?\b|\bcables?\b|\bropes?\b|\bhoses?\b|\bfang|\bbeak\b|ponytail|\bbraid|スカート|髪|尻尾|しっぽ|ツインテ|胸|目|耳|羽|翼"),
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

MIRRORED = 0.8
"""Least share of the sided bones that must hang as their namesakes of the other side do for names to be trusted; from .5 to .95
the same characters are right."""

LEAST_MIRRORED = 4
"""Least number of such bones."""

COUNT, COPY = re.compile(r"_\d+$"), re.compile(r"\.\d{3}$")
"""Number at the end of a name that an exporter counts bones with, and the one that Blender gives a second bone of a name."""

COUNTED = 0.8
"""Least share of the names that end in numbers, all different, for these to be an exporter's count of the bones."""


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
    text: str
    """All words but sides and numbers."""
    key: tuple[str, ...]
    """All words but sides, numbers among them: what a bone shares with its namesake of the other side."""

    @property
    def others(self) -> str:
        """The words beside the one that names the part: `front` of `FrontFoot`, which its leg shares."""
        return " ".join(word for word in self.text.replace(self.word, " ", 1).split() if not CONTROL.fullmatch(word))


SILENT = Meaning(Family.UNKNOWN, {}, Side.CENTER, "", "", ())
"""Meaning of a bone whose name says nothing: an end mark, or a copy of a bone that is not above it."""


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
            words += [] if named else [part]
    side = sides.pop() if len(sides) == 1 else Side.CENTER
    text = " ".join(word for word in words if not word.isdigit())
    # Each non-Latin character was a word of its own; the vocabulary has them without spaces.
    text = re.sub(r"(?<=[^\x00-\x7f]) (?=[^\x00-\x7f])", "", text)
    for pattern, family, ranks in _PATTERNS:
        if match := pattern.search(text):
            return Meaning(family, ranks, side, match[0], text, tuple(words))
    return Meaning(Family.UNKNOWN, {}, side, "", text, tuple(words))


SERIES = (Rank.UPPER, Rank.LOWER, Rank.END, Rank.AFTER)
"""Ranks of bones of a limb that are told apart by nothing but numbers."""


class NameReading:
    """The interpreted names of one skeleton."""

    def __init__(self, names: Sequence[str], parents: Sequence[int], marks: Collection[int] = ()) -> None:
        """Interpret the names of `B` bones, each with the index of its parent, -1 for none; those of end `marks` say nothing."""
        self.parents = parents
        self._names = names
        counts = [match[0] for name in names if (match := COUNT.search(name))]
        is_counted = len(set(counts)) == len(counts) >= COUNTED * len(names)
        by_name = [meaning_of(COUNT.sub("", name) if is_counted else name) for name in names]
        number = {name: bone for bone, name in enumerate(names)}
        self.meanings: list[Meaning] = []
        for bone, (name, meaning) in enumerate(zip(names, by_name, strict=True)):
            above = by_name[parents[bone]] if parents[bone] >= 0 else SILENT
            copied = number.get(COPY.sub("", name), -1)
            is_copy = copied not in {-1, bone, *self.above(bone)}
            is_piece = len(meaning.ranks) == 1 and min(meaning.ranks) in {Rank.UPPER, Rank.LOWER}
            is_piece &= (meaning.family, meaning.side, meaning.ranks) == (above.family, above.side, above.ranks)
            # A bone that has its parent's name and a number is a piece of a bone that was cut up: it helps, on its side.
            piece = replace(meaning, family=Family.HELPER, ranks={}) if is_piece and meaning.word == above.word else meaning
            self.meanings.append(SILENT if bone in marks or is_copy else piece)
        self._number_series()
        self.namesakes = self._namesakes()
        """Index of the bone of the same name on the other side, for each bone that has one."""
        self.is_trusted = self._is_mirrored()
        """Whether the sides in the names agree with the hierarchy: then names say what a limb is."""

    def above(self, bone: int) -> list[int]:
        """The ancestors of a bone, nearest first."""
        return way_up(self.parents, bone)[1:]

    def _number_series(self) -> None:
        """Rank the bones of limbs that only numbers tell apart: of `Leg`, `Leg2` and `Leg3` the first is the upper one."""
        places: dict[int, int] = {}
        for bone, meaning in sorted(enumerate(self.meanings), key=lambda entry: len(self.above(entry[0]))):
            above = self.parents[bone]
            if {Rank.UPPER, Rank.LOWER} <= meaning.ranks.keys():
                is_next = above in places and (self.meanings[above].text, self.meanings[above].side) == (
                    meaning.text,
                    meaning.side,
                )
                places[bone] = places[above] + 1 if is_next else 0
        firsts = {self.parents[bone] for bone, place in places.items() if place == 1}
        for bone, place in places.items():
            if place > 0 or bone in firsts:
                ranks = {SERIES[min(place, len(SERIES) - 1)]: 0.0}
                self.meanings[bone] = replace(self.meanings[bone], ranks=ranks)

    def _namesakes(self) -> dict[int, int]:
        bones: dict[tuple[Side, tuple[str, ...]], list[int]] = defaultdict(list)
        for bone, meaning in enumerate(self.meanings):
            if meaning.side is not Side.CENTER:
                bones[meaning.side, meaning.key].append(bone)
        return {
            both[0]: others[0]
            for (side, key), both in bones.items()
            if len(both) == len(others := bones.get((side.other, key), [])) == 1
        }

    def _is_mirrored(self) -> bool:
        """Whether most bones that have a namesake hang where that one does: from the same bone, or from its parent's namesake."""
        hangs = [
            self.parents[other]
            in {self.parents[bone] if self.parents[bone] not in self.namesakes else None, self.namesakes.get(self.parents[bone])}
            for bone, other in self.namesakes.items()
        ]
        return sum(hangs) >= max(MIRRORED * len(hangs), LEAST_MIRRORED)

    def limbs(self) -> list[NamedLimb]:
        """The limbs found by name, least doubtful first."""
        ends = self._ends()
        options: list[tuple[float, int, NamedLimb]] = []
        for lower, meaning in enumerate(self.meanings):
            if Rank.LOWER not in meaning.ranks:
                continue
            for upper in self.above(lower):
                other = self.meanings[upper]
                if Rank.UPPER in other.ranks and other.family is meaning.family and other.side is meaning.side:
                    doubt = other.ranks[Rank.UPPER] + meaning.ranks[Rank.LOWER]
                    limb = NamedLimb(meaning.family, meaning.side, upper, lower, ends.get(lower, -1))
                    options.append((doubt, len(options), limb))
                if other.family in {Family.TRUNK, Family.OTHER}:
                    break
        limbs: list[NamedLimb] = []
        for _, _, limb in sorted(options, key=lambda option: option[:2]):
            path = {limb.upper, limb.lower, limb.end, *self.above(limb.lower)}
            others = [(other.upper, {other.upper, other.lower, other.end, *self.above(other.lower)}) for other in limbs]
            # Of two limbs on one path, such as hip and leg above thigh and shin, the less doubtful one counts.
            if not any(upper in path or limb.upper in below for upper, below in others):
                limbs.append(limb)
        return limbs

    def _ends(self) -> dict[int, int]:
        """For each possible lower bone, the nearest hand or foot below it."""
        nearest: dict[int, tuple[float, int]] = {}
        for end, meaning in enumerate(self.meanings):
            if Rank.END not in meaning.ranks:
                continue
            for steps, bone in enumerate(self.above(end)):
                other = self.meanings[bone]
                if other.family is meaning.family and other.side is meaning.side and Rank.LOWER in other.ranks:
                    nearest[bone] = min(nearest.get(bone, (1e9, -1)), (steps + meaning.ranks[Rank.END], end))
        ends = {bone: end for bone, (_, end) in nearest.items()}
        return self._loose_ends(ends.keys()) | ends

    def _loose_ends(self, known: Collection[int]) -> dict[int, int]:
        """For each lower bone without children, the only hand or foot of its side that is parented to no limb.

        Where none is named so, a control counts that is named as the limb but for "IK": importers bake it to a bone.
        """
        lowers, ends, controls = (defaultdict[tuple[Family, Side, str], list[int]](list) for _ in range(3))
        for bone, meaning in enumerate(self.meanings):
            is_apart = not any(self.meanings[above].family in LIMBS for above in self.above(bone))
            if (
                Rank.LOWER in meaning.ranks
                and bone not in known
                and all(self.meanings[other] is SILENT for other in self._below(bone))
            ):
                lowers[meaning.family, meaning.side, meaning.others].append(bone)
            elif Rank.END in meaning.ranks and is_apart:
                ends[meaning.family, meaning.side, meaning.others].append(bone)
            elif meaning.family is Family.HELPER and is_apart:
                # The control is named as the limb is without the word that makes it one.
                words = [word for word in WORD.findall(self._names[bone]) if not CONTROL.fullmatch(word)]
                limb = meaning_of(" ".join(words))
                controls[limb.family, limb.side, limb.others].append(bone)
        pairs = [
            (bones[0], named[0]) for key, bones in lowers.items() if len(bones) == len(named := ends[key] or controls[key]) == 1
        ]
        depths = [len(self.above(bone)) for bone in range(len(self.parents))]
        return {lower: end for lower, end in pairs if depths[end] < depths[lower]}

    def _below(self, bone: int) -> list[int]:
        return [other for other, above in enumerate(self.parents) if above == bone]
