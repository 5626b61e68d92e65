"""Keys of planted legs and their root, put where the settings say."""

from __future__ import annotations

from collections.abc import Sequence

from ....scene.blender_types import Object, Scene
from ....scene.keys.destinations import note_root, open_destination
from ....scene.keys.replaced import note_replaced
from ....scene.keys.writing import write_pieces
from ....scene.lookup import object_named
from ....scene.walk.restoring import edits_kept
from ..plan.planning import PlantingPlan
from .curves import ChannelPieces


def write(scene: Scene, plan: PlantingPlan, channels: Sequence[ChannelPieces]) -> None:
    """Write the keys of all channels; edits that are not keyed stay."""
    armature = object_named(plan.armature)
    with edits_kept(scene, [armature], {(armature, channel.pieces[0].path) for channel in channels}):
        if plan.settings.destination == "NLA":
            for strip in dict.fromkeys(channel.strip for channel in channels):
                _put(armature, plan, strip, [channel for channel in channels if channel.strip == strip])
            if plan.root is not None:
                note_root(armature, {channel.strip for channel in channels} - {plan.root.name}, plan.root.name)
        elif channels:
            _put(armature, plan, "", channels)


def _put(armature: Object, plan: PlantingPlan, strip: str, channels: Sequence[ChannelPieces]) -> None:
    start, end = float(plan.frames[0]), float(plan.frames[-1])
    with open_destination(armature, plan.settings.destination, strip, start, end) as bag:
        if not strip:
            note_replaced(armature, bag, [channel.pieces for channel in channels])
        for channel in channels:
            write_pieces(bag, channel.pieces, channel.outside)
