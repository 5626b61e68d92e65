"""What has to be set so that a limb is seen to follow its rig's IK: influences, and the properties that drive them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..blender_types import Constraint, Object
from ..keys.reading import is_animated
from ..moves.dependencies import Node
from .links import Hindrance
from .rig_ik import COPYING, RigIk, RigReader, constraint_path
from .switches import TRIED, Property, Setting, driving_properties, set_value
from .trials import Trial, trial

Influence = tuple[str, str, float]
"""Names of a bone and of its constraint, and the influence that it is to have."""

NEARLY = 0.01


def ik_settings(armature: Object, reader: RigReader, ik: RigIk, shown: Iterable[str], control: Node) -> list[Setting]:
    """What has to be set so that the bones that show a limb follow its IK; empty where they do.

    Properties are tried on a copy of the armature.
    """
    wanted = [*_wanted_of_ik(armature, ik), *(each for bone in shown for each in _wanted_of(armature, reader, bone, control))]
    found: dict[Property, float] = {}
    asked: dict[Property, list[Influence]] = {}
    for bone, name, influence in wanted:
        constraint = armature.pose.bones[bone].constraints[name]
        driving = driving_properties(armature, Hindrance(bone, name, acts=True))
        if driving is None:
            found |= _own(armature, constraint, constraint_path(bone, name), influence)
        for owner, path in driving or ():
            if owner == armature:
                asked.setdefault((owner, path), []).append((bone, name, influence))
    if asked:
        found |= _tried(armature, asked)
    return [Setting(owner, path, value) for (owner, path), value in found.items()]


def _wanted_of_ik(armature: Object, ik: RigIk) -> Iterator[Influence]:
    """The constraint itself, unless another one on the same bone does the same."""
    own = armature.pose.bones[ik.bone].constraints
    acts = any(each.type == "IK" and not each.mute and each.influence > NEARLY for each in own)
    if not acts or not own[ik.constraint].mute:
        yield ik.bone, ik.constraint, 1.0


def _wanted_of(armature: Object, reader: RigReader, bone: str, control: Node) -> Iterator[Influence]:
    """Of what a bone copies, all of the last one that follows the IK, and nothing of what comes after it."""
    copies = [each for each in armature.pose.bones[bone].constraints if each.type in COPYING and list(_sources(each))]
    follow = [any(reader.depends(source, control) for source in _sources(each)) for each in copies]
    last = max((number for number, follows in enumerate(follow) if follows), default=None)
    if last is None:
        return
    yield bone, copies[last].name, 1.0
    for each in copies[last + 1 :]:
        yield bone, each.name, 0.0


def _sources(constraint: Constraint) -> Iterator[Node]:
    entries = constraint.targets if constraint.type == "ARMATURE" else [constraint]
    for entry in entries:
        if entry.target is not None:
            yield entry.target.name, entry.subtarget


def _own(armature: Object, constraint: Constraint, path: str, influence: float) -> dict[Property, float]:
    needed: dict[Property, float] = {}
    if abs(constraint.influence - influence) > NEARLY or is_animated(armature, f"{path}.influence"):
        needed[armature, f"{path}.influence"] = influence
    if influence and (constraint.mute or is_animated(armature, f"{path}.mute")):
        needed[armature, f"{path}.mute"] = 0.0
    return needed


def _tried(armature: Object, asked: dict[Property, list[Influence]]) -> dict[Property, float]:
    """The values of properties that bring influences to what they are to be; of those that do now, if they are animated."""
    helpful: dict[Property, float] = {}
    with trial(armature) as tried:
        for (owner, path), influences in asked.items():
            copied = tried.copies[owner]
            now = copied.path_resolve(path)
            best, least, most = float(now), _off(tried, influences), 0.0
            for value in TRIED:
                set_value(copied, path, value)
                off = _off(tried, influences)
                most = max(most, off)
                if off < least - NEARLY:
                    best, least = value, off
            set_value(copied, path, best)
            if best != now or (most > least + NEARLY and is_animated(owner, path)):
                helpful[owner, path] = best
    return helpful


def _off(tried: Trial, influences: list[Influence]) -> float:
    tried.layer.update()
    bones = tried.evaluated(tried.thing).pose.bones
    constraints = ((bones[bone].constraints[name], wanted) for bone, name, wanted in influences)
    return sum(abs((0.0 if each.mute else each.influence) - wanted) for each, wanted in constraints)
