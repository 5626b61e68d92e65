"""A limb that is shown by IK switched to FK, so that what a bake keys is what people see."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from ..errors import ChainError
from ..scene.blender_types import Object, Scene
from ..scene.keys.destinations import open_destination
from ..scene.keys.guarding import refuse_unwritable
from ..scene.keys.reading import read_keyed
from ..scene.keys.writing import ChannelKeys, write_keys
from ..scene.lookup import find_armature
from ..scene.rig.chain_finding import ChainNames
from ..scene.rig.showing import hindrances, shown_bone
from ..scene.rig.switches import Setting, fk_settings, set_value
from ..scene.versions import curve_bag
from ..scene.walk.restoring import edits_kept
from ..settings import BakeSettings
from .keys.holding import held_outside
from .plan.finding import chain_names
from .plan.frame_choice import frame_range


@dataclass(frozen=True, slots=True)
class SwitchReport:
    """What was switched for one chain."""

    armature: str
    upper: str
    lower: str
    to: str
    visible_bone: str
    """The bone that is seen where the lower bone is; empty where nothing is seen there."""
    properties: list[str]
    """Data paths of what was switched; empty where the limb was on FK already."""
    owners: list[str]
    """Names of the datablocks that have these properties: the armature as a rule."""
    values: list[float]
    keys: int
    """Keys that were written; 0 where there is no animation, so that the properties were set."""
    frame_start: float
    frame_end: float

    def to_json(self) -> str:
        """The report as JSON has it, under the names of a bake's."""
        own = asdict(self)
        return json.dumps({**own, "chains": [own]})


def switch_to_fk(scene: Scene, settings: BakeSettings, active: Object | None = None) -> SwitchReport:
    """Let all that is seen of a limb follow its chain over the range: keyed at its ends where there is animation, else set.

    Raises a `TwoBoneError` before anything is changed, also where something other than a switch hinders the limb.
    """
    armature = find_armature(settings.armature, active)
    names = chain_names(armature, settings)
    wanted = fk_settings(armature, names)
    if not wanted and hindrances(armature, names):
        raise ChainError(
            f'Found no switch that puts the limb from "{names.upper}" to "{names.lower}" on FK. '
            "Set the influence of the constraints that it follows by hand."
        )
    within = frame_range(scene, settings)
    keyed = {} if _is_still(armature) else _keys_by_owner(settings, wanted, within)
    for owner, keys in keyed.items():
        refuse_unwritable(owner, [key.path for key in keys], settings.destination)
    for owner, keys in keyed.items():
        _write(scene, owner, settings, keys, within)
    if not keyed:
        for setting in wanted:
            set_value(setting.owner, setting.path, setting.value)
    return _report(armature, names, wanted, [key for keys in keyed.values() for key in keys], within)


def _keys_by_owner(
    settings: BakeSettings, wanted: Sequence[Setting], within: tuple[float, float]
) -> dict[Object, list[ChannelKeys]]:
    keyed: dict[Object, list[ChannelKeys]] = {}
    for setting in wanted:
        keyed.setdefault(setting.owner, []).append(_keys(settings, setting, within))
    return keyed


def _report(
    armature: Object, names: ChainNames, wanted: Sequence[Setting], keys: Sequence[ChannelKeys], within: tuple[float, float]
) -> SwitchReport:
    shown = shown_bone(armature, names)
    return SwitchReport(
        armature=armature.name,
        upper=names.upper,
        lower=names.lower,
        to="FK",
        visible_bone=shown.bone if shown else "",
        properties=[setting.path for setting in wanted],
        owners=[setting.owner.name for setting in wanted],
        values=[setting.value for setting in wanted],
        keys=sum(len(key.frames) for key in keys),
        frame_start=within[0],
        frame_end=within[1],
    )


def _is_still(armature: Object) -> bool:
    """Whether nothing animates the armature."""
    bag, data = curve_bag(armature), armature.animation_data
    return not (bag is not None and bag.fcurves) and not (data is not None and data.nla_tracks)


def _write(scene: Scene, owner: Object, settings: BakeSettings, keys: Sequence[ChannelKeys], within: tuple[float, float]) -> None:
    name = settings.stored or settings.upper or owner.name
    with (
        edits_kept(scene, [owner], {(owner, key.path) for key in keys}),
        open_destination(owner, settings.destination, name, *within) as bag,
    ):
        write_keys(bag, keys, *within)


def _keys(settings: BakeSettings, setting: Setting, within: tuple[float, float]) -> ChannelKeys:
    """Keys at both ends of the range, and beside it such that all is as before there."""
    present = float(setting.owner.path_resolve(setting.path))
    frames = np.unique(np.array(within))
    held = BakeSettings(key_before=True, key_after=True, destination=settings.destination)
    outside = held_outside(
        read_keyed(setting.owner, setting.path, 0, *within), settings=held, within=within, present=(present, present)
    )
    group = setting.path.split('"')[1] if '"' in setting.path else ""
    values = np.full(len(frames), setting.value)
    return ChannelKeys(setting.path, 0, group, frames, values, "CONSTANT", outside=outside)
