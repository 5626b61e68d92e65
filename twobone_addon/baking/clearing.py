"""Take a bake back: only what a bake wrote, only on the chain, only in the range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..rig.scaling import scale_carriers
from ..scene.blender_types import Object, Scene
from ..scene.clearing import remove_baked_keys, remove_stretch
from ..scene.destinations import remove_baked_strip
from ..scene.guarding import refuse_uneditable
from ..scene.lookup import find_armature, object_named, rotation_path, scale_path
from ..scene.rest_reading import read_rest_chain
from ..scene.restoring import edits_kept
from ..scene.versions import curve_bag
from ..settings import BakeSettings
from .frame_choice import frame_range
from .planning import chain_names, end_bone_of


@dataclass(frozen=True, slots=True)
class _Clearing:
    """What is to be cleared of one chain."""

    armature: str
    strip: str
    """Name of the strip that a bake into the NLA made; empty where keys are in the action."""
    rotations: list[str]
    scales: list[str]
    start: float
    end: float


def clear_baked(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None = None) -> int:
    """Remove the baked keys of one or more chains, and curves that are left empty; returns how many keys went.

    Keys held beside the range by a bake go as well, and of chains that are baked into the NLA their own strip. The
    target may be gone already. Raises a `TwoBoneError` before anything is changed.
    """
    return sum(_clear(scene, clearing) for clearing in [_planned(scene, settings, active) for settings in wanted])


def _planned(scene: Scene, settings: BakeSettings, active: Object | None) -> _Clearing:
    armature = find_armature(settings.armature, active)
    names = chain_names(armature, settings)
    rest = read_rest_chain(armature, names, all_joints=settings.joints == "ALL")
    end_bone, _ = end_bone_of(armature, settings, names, rest)
    turned = [rest.bones[index] for index in rest.turning] + ([end_bone] if end_bone else [])
    rotations = [rotation_path(bone) for bone in turned]
    refuse_uneditable(armature, rotations, settings.destination)
    start, end = frame_range(scene, settings)
    return _Clearing(
        armature.name,
        (settings.stored or names.upper) if settings.destination == "NLA" else "",
        rotations,
        [scale_path(rest.bones[index]) for index in scale_carriers(rest)],
        start - (1.0 if settings.key_before else 0.0),
        end + (1.0 if settings.key_after else 0.0),
    )


def _clear(scene: Scene, clearing: _Clearing) -> int:
    armature = object_named(clearing.armature)
    paths = {(armature, path) for path in (*clearing.rotations, *clearing.scales)}
    with edits_kept(scene, [armature], paths):
        if clearing.strip:
            return remove_baked_strip(armature, clearing.strip)
        bag = curve_bag(armature)
        if bag is None:
            return 0
        stretched = remove_stretch(armature, bag, clearing.scales, clearing.start, clearing.end)
        return stretched + remove_baked_keys(bag, clearing.rotations, clearing.start, clearing.end)
