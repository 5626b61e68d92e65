"""Switch a visible limb from IK to FK, so that it shows the keys of a bake."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ...errors import ChainError
from ...pipeline.keys.holding import held_outside
from ...pipeline.plan.found_chain import chain_names
from ...pipeline.plan.frame_choice import frame_range
from ...scene.blender_types import Object, Scene
from ...scene.bones import ChainNames
from ...scene.keys.guarding import refuse_unwritable
from ...scene.keys.reading import read_keyed
from ...scene.keys.replaced import limb_name
from ...scene.keys.tables import ChannelKeys
from ...scene.keys.writing import Change, write
from ...scene.lookup import find_armature, key_of
from ...scene.restoring import frame_and_edits_kept
from ...scene.versions import curve_bag
from ...scene.visible.switches import Setting, fk_settings, set_value, switch_frames
from ...scene.visible.visible_bone import deciding, hindrances, shown_bone
from ...settings import BakeSettings
from .switch_report import SwitchReport


def plan_fk_switch(scene: Scene, settings: BakeSettings, active: Object | None = None) -> Callable[[], SwitchReport]:
    """Plan the switch of the whole visible limb to its chain over the range; returns the function that writes it.

    Switches are keyed at the ends of the range where the armature is animated, else only set. Raises a `TwoBoneError`, also
    where something other than a switch keeps the limb from following.
    """
    armature = find_armature(settings.armature, active)
    names = chain_names(armature, settings)
    within = frame_range(scene, settings)
    wanted = fk_settings(armature, names) if is_still(armature) else fk_settings_over(scene, armature, names, within)
    if not wanted and hindrances(armature, names):
        raise ChainError(
            'Found no switch that puts the limb from "{upper}" to "{lower}" on FK. Set the influence of the constraints that it '
            "follows by hand.",
            upper=names.upper,
            lower=names.lower,
        )
    settings = replace(settings, armature=armature.name, upper=names.upper, lower=names.lower)
    keyed = {} if is_still(armature) else switch_keys(settings, wanted, within)

    def write() -> SwitchReport:
        write_switch(scene, settings, keyed, within)
        if not keyed:
            for setting in wanted:
                set_value(setting.owner, setting.path, setting.value)
        return switch_report(armature, names, wanted, [key for keys in keyed.values() for key in keys], within)

    return write


def fk_settings_over(scene: Scene, armature: Object, names: ChainNames, within: tuple[float, float]) -> list[Setting]:
    """Settings that put the limb on FK wherever in the range it is not; searched at its ends, middle and switch keys."""
    found: dict[tuple[str, str], Setting] = {}
    key_frames = switch_frames(scene, armature, deciding(armature, names), within)
    with frame_and_edits_kept(scene):
        for frame in dict.fromkeys((within[0], 0.5 * (within[0] + within[1]), within[1], *key_frames)):
            scene.frame_set(round(frame))
            found |= {(setting.owner.name, setting.path): setting for setting in fk_settings(armature, names)}
    return list(found.values())


def switch_keys(
    settings: BakeSettings, wanted: Sequence[Setting], within: tuple[float, float]
) -> dict[Object, list[ChannelKeys]]:
    """Keys of all switches over a range, by the data-block that owns them; raises `WriteError` where they cannot be written."""
    keyed: dict[Object, list[ChannelKeys]] = {}
    for setting in wanted:
        keyed.setdefault(setting.owner, []).append(_keys(settings, setting, within))
    for owner, keys in keyed.items():
        refuse_unwritable(owner, [key.path for key in keys], settings.destination)
    return keyed


def switch_report(
    armature: Object,
    names: ChainNames,
    wanted: Sequence[Setting],
    keys: Sequence[ChannelKeys],
    within: tuple[float, float],
    *,
    to: str = "FK",
) -> SwitchReport:
    """Report of one switched limb."""
    shown = shown_bone(armature, names)
    return SwitchReport(
        armature=armature.name,
        upper=names.upper,
        lower=names.lower,
        to=to,
        visible_bone=shown.bone if shown else "",
        properties=[setting.path for setting in wanted],
        owners=[setting.owner.name for setting in wanted],
        values=[setting.value for setting in wanted],
        keys=sum(len(key.frames) for key in keys),
        frame_start=within[0],
        frame_end=within[1],
        ranges=[within],
    )


def is_still(armature: Object) -> bool:
    """Whether nothing animates the armature."""
    bag, data = curve_bag(armature), armature.animation_data
    return not (bag is not None and bag.fcurves) and not (data is not None and data.nla_tracks)


def write_switch(
    scene: Scene, settings: BakeSettings, keyed: dict[Object, list[ChannelKeys]], within: tuple[float, float]
) -> None:
    """Write the keys of a switch to the settings' destination."""
    changes = [
        Change(
            owner=key_of(owner),
            keys=keys,
            within=within,
            task="switch",
            limb=limb_name(settings.armature, settings.upper),
            destination=settings.destination,
            strip=settings.stored or settings.upper or owner.name,
        )
        for owner, keys in keyed.items()
    ]
    write(scene, changes)


def _keys(settings: BakeSettings, setting: Setting, within: tuple[float, float]) -> ChannelKeys:
    """Keys at both ends of the range, and beside it keys that preserve the values there."""
    present = float(setting.owner.path_resolve(setting.path))
    frames = np.unique(np.array(within))
    held = BakeSettings(key_before=True, key_after=True, destination=settings.destination)
    outside = held_outside(
        read_keyed(setting.owner, setting.path, 0, *within), settings=held, within=within, present=(present, present)
    )
    group = setting.path.split('"')[1] if '"' in setting.path else ""
    values = np.full(len(frames), setting.value)
    return ChannelKeys(setting.path, 0, group, frames, values, "CONSTANT", outside=outside)
