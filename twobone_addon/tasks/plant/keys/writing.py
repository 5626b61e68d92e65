"""Write the keys of planted legs and their root to the destination of the settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....scene.blender_types import Scene
from ....scene.keys.destinations import note_root
from ....scene.keys.writing import Change, Earlier, write
from ....scene.lookup import object_named
from ..plan.planning import PlantingPlan
from .curves import ChannelPieces


def write_pieces(
    scene: Scene, plan: PlantingPlan, channels: Sequence[ChannelPieces], *, task: str = "plant", earlier: Sequence[Earlier] = ()
) -> None:
    """Write the keys of all channels; unkeyed edits are kept."""
    changes = [
        Change(
            owner=plan.armature,
            keys=[replace(piece, outside=channel.outside) for piece in channel.pieces],
            within=(float(plan.frames[0]), float(plan.frames[-1])),
            task=task,
            destination=plan.settings.destination,
            strip=channel.strip,
            in_pieces=True,
        )
        for channel in channels
    ]
    write(scene, changes, earlier)
    if plan.settings.destination == "NLA" and plan.root is not None:
        note_root(object_named(plan.armature), {channel.strip for channel in channels} - {plan.root.name}, plan.root.name)
