"""The two sides of a limb over time: which settings choose one, where they do not, and the keys that make them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.array_types import KeyFrames
from ...core.curves.frames import frame_grid, ranges
from ...errors import ChainError
from ...pipeline.keys.keying import held_outside
from ...pipeline.plan.frame_choice import frame_range
from ...pipeline.report.reports import statement
from ...said import Sentence, note
from ...scene.blender_types import Object, Scene
from ...scene.bones import ChainNames
from ...scene.graph.rig_graph import dependencies
from ...scene.graph.stillness import Stillness
from ...scene.keys.guarding import refuse_unwritable
from ...scene.keys.reading import is_animated, read_keyed
from ...scene.keys.replaced import limb_name
from ...scene.keys.tables import ChannelKeys, StraightKeys
from ...scene.keys.writing import Change
from ...scene.lookup import key_of, objects_by_name
from ...scene.restoring import frame_and_edits_kept
from ...scene.sampling.evaluate import values_over
from ...scene.versions import curve_bag
from ...scene.visible.rig_ik import RigReader
from ...scene.visible.switches import SAME, Setting, fk_settings, switch_frames
from ...scene.visible.visible_bone import deciding
from ...settings import BakeSettings
from .reports import in_words


def is_still(armature: Object) -> bool:
    """Whether nothing animates the armature."""
    bag, data = curve_bag(armature), armature.animation_data
    return not (bag is not None and bag.fcurves) and not (data is not None and data.nla_tracks)


def is_moved_by_ik(scene: Scene, settings: BakeSettings, armature: Object, names: ChainNames) -> bool:
    """Whether the limb is on IK in the range, and its IK's target or pole moves, or its FK bones have no animated rotation."""
    ik = RigReader(armature, names).steered_by(None)
    followed = [ik.target, *([ik.pole] if ik.pole else [])] if ik else []
    is_led = bool(followed) and not Stillness().holds(dependencies(objects_by_name(), followed).nodes)
    if is_still(armature) and not is_led:  # What the IK follows may be animated although the armature is not.
        return False
    if not fk_settings_over(scene, armature, names, frame_range(scene, settings)):
        return False
    if is_led:
        return True
    bones = (armature.pose.bones[name] for name in (names.upper, names.lower))
    paths = [bone.path_from_id(channel) for bone in bones for channel in ("rotation_quaternion", "rotation_euler")]
    return not any(is_animated(armature, path) for path in paths)


def fk_settings_over(scene: Scene, armature: Object, names: ChainNames, within: tuple[float, float]) -> list[Setting]:
    """Settings that put the limb on FK wherever in the range it is not; searched at its ends, middle and switch keys."""
    found: dict[tuple[str, str], Setting] = {}
    key_frames = switch_frames(scene, armature, deciding(armature, names), within)
    with frame_and_edits_kept(scene):
        for frame in dict.fromkeys((within[0], 0.5 * (within[0] + within[1]), within[1], *key_frames)):
            scene.frame_set(round(frame))
            found |= {(setting.owner.name, setting.path): setting for setting in fk_settings(armature, names)}
    return list(found.values())


@dataclass(frozen=True, slots=True)
class SwitchRanges:
    """Parts of a range, each as its first and last frame."""

    switched: list[tuple[float, float]]
    """Parts in which to switch the limb, with its motion; empty if it is on the wanted side throughout."""
    between: list[tuple[float, float]]
    """Parts in which it is blended between the sides, in poses that neither side may have."""

    @property
    def notes(self) -> list[Sentence]:
        """Notes on frames that stay blended between the sides."""
        if not self.between:
            return []
        return [note("Skipped frames {frames}: the limb is blended between FK and IK there.", frames=in_words(self.between))]

    @property
    def remarks(self) -> list[Sentence]:
        """Status bar statements on frames that stay blended between the sides."""
        return [statement("HALFWAY", {"frames": in_words(self.between)}, self.between)] if self.between else []


def ranges_to_switch(
    scene: Scene, names: ChainNames, wanted: Sequence[Setting], within: tuple[float, float], *, apart: bool
) -> SwitchRanges:
    """Find the frames of a range at which the switches do not have their wanted values.

    apart : FK, IK and visible bones are separate, so that the visible limb is a blend of both while a switch is halfway

    Raises `ChainError` where it is halfway at all of these frames.
    """
    frames = frame_grid(*within)
    values = values_over(scene, [(setting.owner, setting.path) for setting in wanted], frames)
    goals = np.array([[setting.value] for setting in wanted])
    to_switch = (np.abs(values - goals) > SAME).any(axis=0)
    halfway = ((np.abs(values) > SAME) & (np.abs(values - 1.0) > SAME)).any(axis=0) & apart
    found = [[(first, last) for first, last in ranges(frames, mask)] for mask in (to_switch & ~halfway, to_switch & halfway)]
    if found[1] and not found[0]:
        raise ChainError(
            'The limb from "{upper}" to "{lower}" is blended between FK and IK at frames {frames}. Key {path} to 0 or 1 there '
            "first.",
            upper=names.upper,
            lower=names.lower,
            frames=in_words(found[1]),
            path=wanted[0].path,
        )
    return SwitchRanges(*found)


def switch_changes(settings: BakeSettings, wanted: Sequence[Setting], within: tuple[float, float]) -> list[Change]:
    """Keys of all switches at the ends of a range, and beside it keys that preserve the values there.

    Raises `WriteError` where they cannot be written.
    """
    keyed: dict[Object, list[ChannelKeys]] = {}
    frames = KeyFrames(np.unique(np.array(within)))
    held = BakeSettings(key_before=True, key_after=True, destination=settings.destination)
    for setting in wanted:
        present = float(setting.owner.path_resolve(setting.path))
        earlier = read_keyed(setting.owner, setting.path, 0, *within)
        outside = held_outside(earlier, settings=held, within=within, present=(present, present))
        group = setting.path.split('"')[1] if '"' in setting.path else ""
        values = np.full(len(frames), setting.value)
        keys = StraightKeys(setting.path, 0, group, frames, values, "CONSTANT", outside=outside)
        keyed.setdefault(setting.owner, []).append(keys)
    for owner, channels in keyed.items():
        refuse_unwritable(owner, [key.path for key in channels], settings.destination)
    return [
        Change(
            owner=key_of(owner),
            keys=channels,
            within=within,
            task="switch",
            limb=limb_name(settings.armature, settings.upper),
            destination=settings.destination,
            strip=settings.stored or settings.upper or owner.name,
        )
        for owner, channels in keyed.items()
    ]
