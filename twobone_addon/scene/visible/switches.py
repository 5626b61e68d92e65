"""Settings that switch a limb between IK and FK: properties that drive influences, found by trial, and influences.

The properties may be the armature's own, or those of any other datablock, such as its data or a control object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix

from ...core.array_types import Array
from ...records import replace
from ..blender_types import Channel, Constraint, FCurve, Object, PoseBone, Property, Scene
from ..bones import ChainNames, constraint_path
from ..graph.rig_graph import Node, Stillness, drivers_by_owner
from ..keys.reading import is_animated, moving_curves, read_frames
from ..lookup import bone_owner, object_named, owner_of, resolved
from ..restoring import Edit, apply_edits, component
from ..rig.constraints import acts_on, entries_of, turned_bones
from ..sampling.evaluate import values_over
from ..versions import is_hidden
from .rig_ik import COPYING, RigIk, RigReader
from .skin import Skins
from .trials import TrialRig, trial
from .visible_bone import TURNS, Hindrance, LimbInfluences, bones_along

TRIED = (1.0, 0.0)
"""Values to try for a switch property."""

SAME = 1e-4
"""Difference of a switch's values that is not visible."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A property and its required value."""

    owner: Object
    """Datablock of the property, usually the armature."""
    path: str
    """Its data path, with the number of the component of one that has several, such as a slider's `location[0]`."""
    value: float
    other: float | None = None
    """Value that chooses the other side; `None` for the other one of 0 and 1."""

    @property
    def opposite(self) -> float:
        """Value that chooses the other side."""
        return 1.0 - self.value if self.other is None else self.other

    @property
    def channel(self) -> Channel:
        """The channel that keys are for."""
        return component(self.path)


def fk_settings(
    armature: Object, names: ChainNames, skins: Skins | None = None, hindering: Sequence[Hindrance] | None = None
) -> list[Setting]:
    """Settings that make the visible limb follow the chain; empty where it does, or nothing would help.

    Properties are tried on a copy of the armature. What shows what, and what hinders the limb now, is read where it is not given.
    """
    skins = skins or Skins()
    hindering = LimbInfluences(armature, names, skins).hindrances if hindering is None else hindering
    helpful: dict[Property, Sides] = {}
    switches: dict[Property, list[Hindrance]] = {}
    bare: list[Hindrance] = []
    for hindrance in hindering:
        driving = driving_properties(armature, hindrance)
        if driving is None:
            bare.append(hindrance)
        for found in driving or ():
            switches.setdefault(found, []).append(hindrance)
    if switches:
        helpful, remaining = _helpful_values(armature, names, switches, skins)
        # An IK copy that is always on does not hinder below an FK copy that a switch turns on.
        bare = [hindrance for hindrance in bare if hindrance in remaining or not helpful]
    for hindrance in bare:
        helpful |= {found: Sides(value) for found, value in _undriven_values(armature, hindrance).items()}
    return [Setting(owner, path, *sides) for (owner, path), sides in helpful.items()]


def state_of_switches(armature: Object, deciding: Iterable[Hindrance]) -> tuple[object, ...]:
    """All values, as they are now, by which a limb follows what it follows; where they are the same, so is all of that."""
    properties: dict[Property, None] = {}
    for hindrance in deciding:
        properties |= dict.fromkeys(_influences(armature, hindrance))
        properties |= dict.fromkeys(
            found for found, is_driven in _read_by(_drivers_of(armature, hindrance)).items() if not is_driven
        )
    values = ((owner.name, path, resolved(owner, path)) for owner, path in properties)
    return tuple((*place, value if isinstance(value, bool | int | float) else repr(value)) for *place, value in values)


def influences_change(armature: Object, deciding: Iterable[Hindrance]) -> bool:
    """Whether anything that decides what a limb follows may change over time."""
    stillness = Stillness()
    return not all(stillness.keeps(owner, path) for hindrance in deciding for owner, path in _influences(armature, hindrance))


def _influences(armature: Object, hindrance: Hindrance) -> list[Property]:
    """A constraint's influence and mute, or the properties that drive a bone's rotation."""
    if not hindrance.constraint:
        return driving_properties(armature, hindrance) or []
    path = _constraint_path(hindrance)
    return [Property(_armature_of(armature, hindrance), f"{path}.{name}") for name in ("influence", "mute")]


def switch_frames(scene: Scene, armature: Object, deciding: Iterable[Hindrance], within: tuple[float, float]) -> list[float]:
    """Frames inside a range at which keys change what a limb follows: one for each combination of switches off, on or between."""
    properties = _switches(armature, deciding)
    curves = [curve for owner, path in properties for curve in moving_curves(owner, path) if curve.keyframe_points]
    keyed = np.unique(np.concatenate([np.empty(0), *map(read_frames, curves)]))
    keyed = keyed[(keyed > within[0]) & (keyed < within[1])]
    if not len(keyed):
        return []
    values = values_over(scene, properties, keyed)
    # A switch may have any range; the ends of what it plays are as telling as 0 and 1.
    ends = (0.0, 1.0, values.min(axis=1, keepdims=True), values.max(axis=1, keepdims=True))
    states = np.select([np.abs(values - end) <= SAME for end in ends], [0.0, 1.0, 2.0, 3.0], 0.5)
    return keyed[np.sort(np.unique(states, axis=1, return_index=True)[1])].tolist()


def switch_values(scene: Scene, armature: Object, deciding: Iterable[Hindrance], frames: Array) -> tuple[Array, Array]:
    """What decides what a limb follows: its values now, `(P, 1)`, and at `frames` `(F,)`, `(P, F)`."""
    properties = _switches(armature, deciding)
    present = np.array([[float(owner.path_resolve(path))] for owner, path in properties])
    return present, values_over(scene, properties, frames)


def same_values(values: Array, others: Array) -> bool:
    """Whether switches at some frames do the same as others."""
    return bool((np.abs(values - others) <= SAME).all())


def _switches(armature: Object, deciding: Iterable[Hindrance]) -> list[Property]:
    """The properties that decide what a limb follows: those that drive its influences, or else these."""
    properties: dict[Property, None] = {}
    for hindrance in deciding:
        properties |= dict.fromkeys(driving_properties(armature, hindrance) or _influences(armature, hindrance))
    return list(properties)


def set_value(datablock: Object, path: str, value: float) -> None:
    """Set a property to a number, converted to its own type."""
    apply_edits([Edit(datablock, path, 0, type(datablock.path_resolve(path))(value))])
    datablock.update_tag()


def _constraint_path(hindrance: Hindrance) -> str:
    return constraint_path(hindrance.bone, hindrance.constraint)


def _armature_of(armature: Object, hindrance: Hindrance) -> Object:
    return object_named(hindrance.armature) if hindrance.armature else armature


def driving_properties(armature: Object, hindrance: Hindrance) -> list[Property] | None:
    """Switch properties that drive a constraint, or the rotation of a bone; `None` where nothing drives it.

    They may be anywhere, also the channels of a slider; of a property that is driven itself, it is those that drive it.
    """
    drivers = _drivers_of(armature, hindrance)
    if not drivers:
        return None
    return [found for found, is_driven in _read_by(drivers).items() if not is_driven and _is_switch(*found)]


def steering_owners(armature: Object, hindrances: Iterable[Hindrance]) -> list[Object]:
    """The datablocks through which properties drive constraints, or the rotation of bones."""
    owners: dict[Object, None] = {}
    for hindrance in hindrances:
        owners |= dict.fromkeys(owner for owner, _ in _read_by(_drivers_of(armature, hindrance)))
    return list(owners)


def _drivers_of(armature: Object, hindrance: Hindrance) -> list[FCurve]:
    owner = _armature_of(armature, hindrance)
    curves = owner.animation_data.drivers if owner.animation_data else ()
    if hindrance.constraint:
        start = f"{_constraint_path(hindrance)}."
        return [fcurve for fcurve in curves if fcurve.data_path.startswith(start)]
    prefix, paths = bone_owner(owner.pose.bones[hindrance.bone]), [(fcurve, fcurve.data_path) for fcurve in curves]
    return [fcurve for fcurve, path in paths if owner_of(path) == prefix and path.rpartition(".")[2] in TURNS]


SLIDES = {"LOC_X": "location[0]", "LOC_Y": "location[1]", "LOC_Z": "location[2]"}
"""Channels of a slider that a driver reads as a transform."""


def _read_by(drivers: Iterable[FCurve], read: dict[Property, bool] | None = None) -> dict[Property, bool]:
    """The properties that drivers read, also through driven ones, each once, and whether it is driven itself.

    read : those that are known already
    """
    read = {} if read is None else read
    targets = [(variable, target) for fcurve in drivers for variable in fcurve.driver.variables for target in variable.targets]
    for variable, target in targets:
        found = None
        if variable.type == "SINGLE_PROP" and target.id is not None:
            found = Property(target.id, target.data_path)
        elif variable.type == "TRANSFORMS" and target.id is not None and target.transform_type in SLIDES:
            bone = target.id.pose.bones.get(target.bone_target) if target.bone_target and target.id.pose else None
            prefix = "" if bone is None else f"{bone.path_from_id()}."
            found = Property(target.id, prefix + SLIDES[target.transform_type])
        if found is None or found in read:
            continue
        channel, data = component(found.path), getattr(found.owner, "animation_data", None)
        inner = [
            fcurve
            for fcurve in (data.drivers if data is not None else ())
            if fcurve.data_path == channel.path and fcurve.array_index == channel.array_index
        ]
        read[found] = bool(inner)
        _read_by(inner, read)
    return read


def _is_switch(owner: Object, path: str) -> bool:
    """Whether a property could be a switch: a plain number, and no rotation channel."""
    return path.rpartition(".")[2].partition("[")[0] not in TURNS and isinstance(resolved(owner, path), bool | int | float)


def _undriven_values(armature: Object, hindrance: Hindrance) -> dict[Property, float]:
    """Required influence, and mute, of a constraint that nothing drives."""
    owner, path = _armature_of(armature, hindrance), _constraint_path(hindrance)
    if hindrance.acts:
        return {Property(owner, f"{path}.influence"): 0.0}
    values = {Property(owner, f"{path}.influence"): 1.0}
    if owner.path_resolve(path).mute:
        values[Property(owner, f"{path}.mute")] = 0.0
    return values


class Sides(NamedTuple):
    """Values of a switch property."""

    wanted: float
    other: float | None = None
    """On the other side; `None` for the other one of 0 and 1."""


def _helpful_values(
    armature: Object, names: ChainNames, switches: Mapping[Property, Sequence[Hindrance]], skins: Skins
) -> tuple[dict[Property, Sides], list[Hindrance]]:
    """The properties that can reduce the limb's hindrances, with the values that do, and what hinders it with them.

    0 and 1 are tried first; where more hinders, the ends of the range that the drivers have.
    """
    helpful: dict[Property, Sides] = {}
    concerned = list(dict.fromkeys(hindrance for driven in switches.values() for hindrance in driven))
    owners = [*(owner for owner, _ in switches), *steering_owners(armature, concerned)]
    bones = bones_along(armature, names, skins) | {hindrance.bone for hindrance in concerned if not hindrance.armature}
    with trial(armature, owners, skins=skins, bones=bones) as tried:
        fewest = len(_hindering(armature, names, skins, tried))
        ranges: dict[Property, DriverRange] = {}
        for has_range in (False, True):
            for found, driven in switches.items():
                if has_range and not fewest:
                    break
                if has_range:
                    ranges[found] = _range_of(tried, found, [_influence_of(armature, hindrance) for hindrance in driven])
                copied = tried.copies[found.owner]
                best = copied.path_resolve(found.path)
                for value in ranges[found].tried if has_range else TRIED:
                    set_value(copied, found.path, value)
                    remaining = len(_hindering(armature, names, skins, tried))
                    if remaining < fewest:
                        fewest, best = remaining, value
                        helpful[found] = Sides(value)
                # It stays at its best while the next is tried: some switches help only together.
                set_value(copied, found.path, best)
        for found, sides in helpful.items():
            known = ranges.get(found) or _range_of(
                tried, found, [_influence_of(armature, hindrance) for hindrance in switches[found]]
            )
            helpful[found] = known.sides(sides.wanted)
        return helpful, _hindering(armature, names, skins, tried)


class DrivenInfluence(NamedTuple):
    """A constraint whose influence drivers decide."""

    armature: Object
    bone: str
    constraint: str


def _influence_of(armature: Object, hindrance: Hindrance) -> DrivenInfluence:
    return DrivenInfluence(_armature_of(armature, hindrance), hindrance.bone, hindrance.constraint)


class DriverRange(NamedTuple):
    """The range of a switch property: where an influence that it drives is 0, and where it is 1."""

    ends: tuple[tuple[float, float], ...]
    """Both values, for each influence that is in proportion to the property."""
    further: tuple[float, ...]
    """Ends of the range that the property has in the interface."""

    @property
    def tried(self) -> list[float]:
        """All values that are worth trying beside 0 and 1."""
        values = [*(value for pair in self.ends for value in pair), *self.further]
        return [value for value in dict.fromkeys(values) if value not in TRIED]

    def sides(self, value: float) -> Sides:
        """The end of the range that is meant by a value near it, and the other one; the value itself where none is known."""
        for pair in self.ends:
            for end, other in (pair, pair[::-1]):
                if abs(value - end) <= NEAR_END * abs(other - end):
                    return Sides(end, other)
        return Sides(value)


NEAR_END = 0.02
"""Part of a range within which a value means its end: 1 of 100 means 0."""

FARTHEST = 1e6
"""Value of a property beyond which it is no switch."""


def _range_of(tried: TrialRig, found: Property, driven: Iterable[DrivenInfluence]) -> DriverRange:
    """The range of a property, from the influences that it drives at 0 and at 1; its value in the trial stays."""
    copied = tried.copies[found.owner]
    present, looked = copied.path_resolve(found.path), [influence for influence in driven if influence.constraint]
    measured = []
    for value in (0.0, 1.0):
        set_value(copied, found.path, value)
        tried.layer.update()
        bones = {influence.armature: tried.evaluated(tried.copies[influence.armature]).pose.bones for influence in looked}
        measured.append(
            [bones[influence.armature][influence.bone].constraints[influence.constraint].influence for influence in looked]
        )
    set_value(copied, found.path, present)
    pairs = []
    for at_zero, at_one in zip(*measured, strict=True):
        slope = at_one - at_zero
        if abs(slope) * FARTHEST > 1.0:
            ends = (round(-at_zero / slope, RANGE_DECIMALS), round((1.0 - at_zero) / slope, RANGE_DECIMALS))
            pairs.append((ends[0] + 0.0, ends[1] + 0.0))
    return DriverRange(tuple(dict.fromkeys(pairs)), _interface_range(*found))


RANGE_DECIMALS = 3
"""Decimals of the ends of a range, which riggers choose; influences are of single precision."""


def _interface_range(owner: Object, path: str) -> tuple[float, ...]:
    """Ends of the range of a custom property, as somebody chose it; none where nobody has."""
    if not path.endswith('"]'):
        return ()
    prefix, _, name = path[:-2].rpartition('["')
    holder = owner.path_resolve(prefix) if prefix else owner
    shown = holder.id_properties_ui(bpy.utils.unescape_identifier(name)).as_dict()
    ends = [float(shown[end]) for end in ("min", "max") if end in shown]
    return tuple(end for end in ends if abs(end) < FARTHEST)


def _hindering(armature: Object, names: ChainNames, skins: Skins, tried: TrialRig) -> list[Hindrance]:
    tried.layer.update()
    return LimbInfluences(armature, names, skins, tried).hindrances


class Influence(NamedTuple):
    """The influence that a constraint is to have."""

    bone: str
    constraint: str
    required: float


NEARLY = 0.01
"""Difference of influences that does not matter."""


def ik_settings(
    armature: Object, reader: RigReader, ik: RigIk, shown: Iterable[str], control: Node, *, skins: Skins | None = None
) -> list[Setting]:
    """Settings that make the bones that show a limb follow its IK; empty where they do.

    Properties are tried on a copy of the armature.
    """
    copies = (copied for bone in shown for copied in _copy_influences(armature, reader, bone, control))
    settings: dict[Property, Sides] = {}
    switches: dict[Property, list[Influence]] = {}
    for bone, name, influence in (*_ik_influence(armature, ik), *copies):
        constraint = armature.pose.bones[bone].constraints[name]
        driving = driving_properties(armature, Hindrance(bone, name, acts=True))
        if driving is None:
            undriven = _undriven_influence(armature, constraint, constraint_path(bone, name), influence)
            settings |= {found: Sides(value) for found, value in undriven.items()}
        for found in driving or ():
            switches.setdefault(found, []).append(Influence(bone, name, influence))
    if switches:
        settings |= _tried_values(armature, switches, skins)
    return [Setting(owner, path, *sides) for (owner, path), sides in settings.items()]


def _ik_influence(armature: Object, ik: RigIk) -> Iterator[Influence]:
    """Full influence of the IK constraint, unless it is muted and another one on the same bone acts."""
    constraints = armature.pose.bones[ik.bone].constraints
    acts = any(constraint.type == "IK" and not constraint.mute and constraint.influence > NEARLY for constraint in constraints)
    if not acts or not constraints[ik.constraint].mute:
        yield Influence(ik.bone, ik.constraint, 1.0)


def _copy_influences(armature: Object, reader: RigReader, bone: str, control: Node) -> Iterator[Influence]:
    """Influences of a bone's copying constraints: full for the last one that follows the IK, none for those after it."""
    copies = [
        constraint
        for constraint in armature.pose.bones[bone].constraints
        if constraint.type in COPYING and list(_sources(constraint))
    ]
    follow = [any(reader.depends(source, control) for source in _sources(copying)) for copying in copies]
    last = max((number for number, follows in enumerate(follow) if follows), default=None)
    if last is None:
        return
    yield Influence(bone, copies[last].name, 1.0)
    for copy in copies[last + 1 :]:
        yield Influence(bone, copy.name, 0.0)


def _sources(constraint: Constraint) -> Iterator[Node]:
    for entry in entries_of(constraint):
        if entry.target is not None:
            yield entry.target.name, entry.subtarget


def _undriven_influence(armature: Object, constraint: Constraint, path: str, influence: float) -> dict[Property, float]:
    needed: dict[Property, float] = {}
    if abs(constraint.influence - influence) > NEARLY or is_animated(armature, f"{path}.influence"):
        needed[armature, f"{path}.influence"] = influence
    if influence and (constraint.mute or is_animated(armature, f"{path}.mute")):
        needed[armature, f"{path}.mute"] = 0.0
    return needed


def _tried_values(
    armature: Object, switches: Mapping[Property, Sequence[Influence]], skins: Skins | None
) -> dict[Property, Sides]:
    """Values of properties that bring influences closest to those required; for properties that do now, only if animated."""
    helpful: dict[Property, Sides] = {}
    constraints = {Hindrance(bone, name, acts=True) for influences in switches.values() for bone, name, _ in influences}
    owners = [*(owner for owner, _ in switches), *steering_owners(armature, constraints)]
    bones = {constraint.bone for constraint in constraints}
    with trial(armature, owners, skins=skins, bones=bones) as tried:
        for found, influences in switches.items():
            copied = tried.copies[found.owner]
            now = copied.path_resolve(found.path)
            best, least, most = float(now), _deviation(tried, influences), 0.0
            known = _range_of(tried, found, [DrivenInfluence(armature, bone, name) for bone, name, _ in influences])
            for value in (*TRIED, *known.tried):
                if least <= NEARLY and value not in TRIED:
                    break
                set_value(copied, found.path, value)
                deviation = _deviation(tried, influences)
                most = max(most, deviation)
                if deviation < least - NEARLY:
                    best, least = value, deviation
            set_value(copied, found.path, best)
            if best != now or (most > least + NEARLY and is_animated(*found)):
                helpful[found] = known.sides(best)
    return helpful


def _deviation(tried: TrialRig, influences: list[Influence]) -> float:
    tried.layer.update()
    bones = tried.evaluated(tried.thing).pose.bones
    constraints = ((bones[bone].constraints[name], required) for bone, name, required in influences)
    return sum(abs((0.0 if constraint.mute else constraint.influence) - required) for constraint, required in constraints)


ONE_PLACE = 0.01
"""Distance between the heads of two bones at rest, relative to the lower one's length, within which they are one joint."""

SWITCHES_OVER = 0.5
"""Change of an influence from which on a constraint counts as switched."""


LEAST = 1e-12
"""Determinant of a pose that counts as none."""


@dataclass(frozen=True, slots=True)
class SwitchedBone:
    """A bone that a switch moves."""

    shown: str
    control: str
    """Bone that an animator poses to pose it on the wanted side; itself where nothing else does."""
    control_from_shown: Array
    """`(4, 4)` pose of the control in the space of the shown bone."""
    is_copy: bool
    """Whether a constraint copies the control; else the bone itself is posed, once the other side lets it go."""

    @property
    def apart(self) -> float:
        """Distance of the two bones' heads at rest."""
        return float(np.linalg.norm(self.control_from_shown[:3, 3]))


def opposite(settings: Sequence[Setting]) -> list[Setting]:
    """The settings that choose the other side."""
    return [replace(setting, value=setting.opposite, other=setting.value) for setting in settings]


def switched_bones(
    armature: Object, settings: Sequence[Setting], sides: Sequence[str] = (), skins: Skins | None = None
) -> list[SwitchedBone]:
    """The bones that follow something else with these settings than with the opposite ones, in the order of the rig.

    A visible bone need not be a twin of its control: riggers put a helper with the visible bone's rest pose below a control that
    lies as an animator likes it. What is constant is the offset from one to the other, which the rig itself tells at rest.

    sides : names of bones that carry a limb, above which no control of what hangs on them is looked for
    """
    if not settings:
        return []
    skins = skins or Skins()
    owners = list(dict.fromkeys(setting.owner for setting in settings))
    with trial(armature, owners, skins=skins, bones=_may_be_moved(armature, settings, skins)) as tried:
        for bone in tried.thing.pose.bones:
            bone.matrix_basis = Matrix.Identity(4)
        other = _influence_values(tried, opposite(settings))
        influences = _influence_values(tried, settings)
        names = _moved_names(armature, {key for key, value in influences.items() if abs(value - other[key]) > SWITCHES_OVER})
        poses = {bone.name: np.array(bone.matrix) for bone in tried.evaluated(tried.thing).pose.bones}
        switched = []
        for bone in armature.pose.bones:
            if bone.name in names:
                source = _source(bone, influences)
                control = bone if source is None else _control_of(source, sides)
                # An armature without size has no offsets; whoever samples it refuses that.
                has_size = np.isfinite(poses[bone.name]).all() and abs(np.linalg.det(poses[bone.name])) > LEAST
                offset = np.linalg.inv(poses[bone.name]) @ poses[control.name] if has_size else np.eye(4)
                switched.append(SwitchedBone(bone.name, control.name, offset, is_copy=source is not None))
    return switched


def _may_be_moved(armature: Object, settings: Sequence[Setting], skins: Skins) -> set[str]:
    """Names of the bones that settings might move: those with a constraint that reads what has them, and those that it turns."""
    holders = {(setting.owner, owner_of(setting.path)) for setting in settings}
    reads = skins.table(_holders_read, armature)
    constraints = {
        (bone.name, constraint.name)
        for bone in armature.pose.bones
        if len(bone.constraints)
        and ((armature, bone_owner(bone)) in holders or reads.get(bone_owner(bone), set()) & {None, *holders})
        for constraint in bone.constraints
    }
    return _moved_names(armature, constraints)


Holder = tuple[Object, str]
"""A datablock and what in it has properties, see `owner_of`."""


def _holders_read(armature: Object) -> dict[str, set[Holder | None]]:
    """What drivers of the constraints of each bone read, also through driven properties; `None` for more than properties."""
    read = dict[str, set[Holder | None]]()
    for owner, drivers in drivers_by_owner(armature).items():
        of_constraints = [fcurve for fcurve in drivers if ".constraints[" in fcurve.data_path]
        if not of_constraints:
            continue
        holders = {(found.owner, owner_of(found.path)) for found in _read_by(of_constraints)}
        kinds = {variable.type for fcurve in of_constraints for variable in fcurve.driver.variables}
        read[owner] = holders if kinds <= {"SINGLE_PROP"} else {None, *holders}
    return read


def _influence_values(tried: TrialRig, settings: Sequence[Setting]) -> dict[tuple[str, str], float]:
    """Evaluated influence of every constraint of the copy's bones with some settings; 0 for muted ones."""
    for setting in settings:
        set_value(tried.copies[setting.owner], setting.path, setting.value)
    tried.layer.update()
    bones = tried.evaluated(tried.thing).pose.bones
    return {
        (bone.name, constraint.name): 0.0 if constraint.mute else constraint.influence
        for bone in bones
        for constraint in bone.constraints
    }


def _moved_names(armature: Object, switched: set[tuple[str, str]]) -> set[str]:
    """Names of the bones that these constraints pose: their own, or those that an IK turns."""
    names = set()
    for name, constraint_name in switched:
        bone = armature.pose.bones[name]
        constraint = bone.constraints[constraint_name]
        turned = turned_bones(constraint, bone) if constraint.type == "IK" else []
        names |= {turned_bone.name for turned_bone in turned} if turned else {name}
    return names


def _source(bone: PoseBone, influences: dict[tuple[str, str], float]) -> PoseBone | None:
    """The bone of the same armature that a bone copies with these influences, the last one that counts."""
    for constraint in reversed(list(bone.constraints)):
        if constraint.type in COPYING and influences[bone.name, constraint.name] > SWITCHES_OVER:
            return _copied(bone, constraint)
    return None


def _copied(bone: PoseBone, constraint: Constraint) -> PoseBone | None:
    for entry in entries_of(constraint):
        if entry.target == bone.id_data and entry.subtarget in bone.id_data.pose.bones:
            return bone.id_data.pose.bones[entry.subtarget]
    return None


def _control_of(source: PoseBone, sides: Sequence[str]) -> PoseBone:
    """The bone that an animator turns to turn `source`: itself, or, for a helper, the bone at the same joint above it."""
    bone = source
    while bone.parent is not None and bone.name not in sides and not _is_keyed(bone):
        parent = bone.parent
        is_posed = acts_on(parent) and not _is_keyed(parent)
        if not starts_with(bone, parent) or is_posed or is_hidden(parent) or all(parent.lock_rotation):
            break
        bone = parent
    return bone


def starts_with(bone: PoseBone, other: PoseBone) -> bool:
    """Whether two bones begin at the same joint at rest."""
    return (bone.bone.head_local - other.bone.head_local).length <= ONE_PLACE * bone.bone.length


def _is_keyed(bone: PoseBone) -> bool:
    return any(is_animated(bone.id_data, bone.path_from_id(channel)) for channel in TURNS)
