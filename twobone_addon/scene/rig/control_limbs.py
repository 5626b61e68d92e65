"""Limbs that are posed through controls: which forward (FK) chain a control, mechanism or deform bone belongs to.

Rigs with both IK and FK show a limb by bones that copy two chains, one of them turned by an IK constraint; the other one is
the forward chain, whatever its name. Rigs with IK alone turn the limb's own bones. A bone that only one limb's bones depend on
controls that limb; a bone that depends on them and lies on the limb stands for it. Names decide only where constraints, drivers
and parents do not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import bpy
from mathutils.geometry import intersect_point_line

from ..blender_types import Object, PoseBone
from ..graph.rig_graph import Node, RigGraph
from ..lookup import bone_owner
from .constraints import LINKS, turned_bones

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
class ControlLimb:
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
    """Finds the limb that a bone of one armature controls, stands for or is part of."""

    def __init__(self, armature: Object) -> None:
        """Take the armature; it is searched at the first question."""
        self._armature = armature
        self._finder = RigGraph({armature.name: armature})

    def limb_of(self, bone: PoseBone) -> ControlLimb | None:
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
    def limbs(self) -> list[ControlLimb]:
        """Every two-link limb that an IK constraint turns, muted or not."""
        found: dict[tuple[str, str], ControlLimb] = {}
        for carrier in self._armature.pose.bones:
            for constraint in carrier.constraints:
                if constraint.type != "IK":
                    continue
                turned = turned_bones(constraint, carrier)
                if len(turned) == LINKS:
                    limb = self._limb(turned[1], turned[0])
                    found.setdefault(limb.forward, limb)
        return list(found.values())

    def _limb(self, upper: PoseBone, lower: PoseBone) -> ControlLimb:
        copying = [self._copying.get(bone.name, {}) for bone in (upper, lower)]
        for shown_upper, forward_upper in copying[0].items():
            for shown_lower, forward_lower in copying[1].items():
                bones = self._armature.pose.bones
                if bones[forward_upper] in bones[forward_lower].parent_recursive:
                    shown = (shown_upper, shown_lower, *self._further(bones[shown_lower], bones[forward_lower]))
                    return ControlLimb((forward_upper, forward_lower), shown, (upper.name, lower.name))
        names = (upper.name, lower.name)
        return ControlLimb(names, (*names, *self._further(lower, lower)), names)

    @cached_property
    def _copying(self) -> dict[str, dict[str, str]]:
        """For each copied bone, the bones that copy it and another bone, each with that other bone; all by name."""
        found: dict[str, dict[str, str]] = {}
        for bone in self._armature.pose.bones:
            copied = self._copied_by(bone)
            for name in copied:
                others = [other for other in copied if other != name]
                if others:
                    found.setdefault(name, {})[bone.name] = others[0]
        return found

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
                child for child in shown.children if any(forward in bones[it].parent_recursive for it in self._copied_by(child))
            ]
            following = below or shown.children
            if len(following) != 1:
                break
            shown = following[0]
            names.append(shown.name)
        return names

    @cached_property
    def _controls(self) -> list[tuple[ControlLimb, set[str]]]:
        """For each limb, the bones that only it depends on, and neither its parent nor other limbs."""
        above = [self._above([*limb.bones]) | self._switches(limb) for limb in self.limbs]
        parents = [self._armature.pose.bones[limb.shown[0]].parent for limb in self.limbs]
        carried = [self._above([parent.name] if parent else []) for parent in parents]
        own = []
        for number, limb in enumerate(self.limbs):
            others = set().union(*(found for other, found in enumerate(above) if other != number), carried[number])
            own.append((limb, above[number] - others))
        return own

    def _switches(self, limb: ControlLimb) -> set[str]:
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

    def _lies_on(self, bone: PoseBone, limb: ControlLimb) -> bool:
        bones = self._armature.pose.bones
        shown = [bones[name].bone for name in limb.shown]
        joints = [*(each.head_local for each in shown), shown[-1].tail_local if len(shown) == LINKS else shown[-1].head_local]
        length = sum((second - first).length for first, second in pairwise(joints))
        head = bone.bone.head_local
        for first, second in pairwise(joints):
            if (second - first).length > 0.0:
                place, part = intersect_point_line(head, first, second)
                if (place - head).length <= ON_LIMB * length and -ON_LIMB <= part <= 1.0 + ON_LIMB:
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
