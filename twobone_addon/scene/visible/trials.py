"""Trial copies of rigs in a temporary scene, in which something is changed to observe its effect."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import bpy
from mathutils import Matrix, Vector

from ..blender_types import Object, ViewLayer
from ..graph.rig_graph import Node
from ..sampling.reduced_rigs import ReducedRig, needed_bones, pays, redirect, reduced_rig, remove_played
from .skin import Skins

STAGE_NAME = ".twobone_trial"

AS_FRAMES = 40
"""Frames that take as long as a trial: a change of a property takes five times as long as a frame, and it makes about eight."""

ANGLE = 0.4
"""Radians by which a chain is turned: far more than rounding, less than joint limits forbid."""


@dataclass(frozen=True, slots=True)
class TrialRig:
    """A copy of a rig without animation, but with its drivers, and copies of what follows or steers it."""

    thing: Object
    layer: ViewLayer
    copies: dict[Object, Object]
    """All copies by original, including the armature's."""

    def evaluated(self, copied: Object) -> Object:
        """A copy as evaluated in the trial scene."""
        return copied.evaluated_get(self.layer.depsgraph)

    def seen(self, original: Object) -> Object:
        """What stands for an object of the file in the trial, as evaluated there."""
        return self.evaluated(self.copies[original])


@contextmanager
def trial(
    armature: Object,
    steering: Iterable[bpy.types.ID] = (),
    *,
    skins: Skins | None = None,
    with_followers: bool = True,
    bones: Collection[str] | None = None,
) -> Iterator[TrialRig]:
    """Copies, during a block, of an armature, its followers, and the datablocks `steering` that their drivers read.

    bones : those that are asked about, where the copy may lack all that they do not depend on; all by default
    """
    skins = skins or Skins()
    followers = skins.followers(armature) if with_followers else ()
    originals = dict.fromkeys([armature, *followers, *steering])
    is_whole = bones is None or followers or armature.data in originals
    reduced = None if is_whole else _reduced(armature, bones, skins)
    stage = bpy.data.scenes.new(STAGE_NAME)
    copies = {original: reduced.thing if reduced and original == armature else original.copy() for original in originals}
    try:
        for copied in copies.values():
            remove_played(copied)
            if isinstance(copied, bpy.types.Object):
                copied.data = copies.get(copied.data, copied.data)
                copied.parent = copies.get(copied.parent, copied.parent)
                stage.collection.objects.link(copied)
            # Any of them may read any other one.
            for before, after in copies.items():
                redirect(copied, before, after)
        yield TrialRig(copies[armature], stage.view_layers[0], copies)
    finally:
        own_data = [reduced.thing.data] if reduced and reduced.thing.data != armature.data else []
        bpy.data.batch_remove([*copies.values(), *own_data])
        bpy.data.scenes.remove(stage)


def _reduced(armature: Object, bones: Collection[str], skins: Skins) -> ReducedRig | None:
    """A copy of an armature with only these bones and what they depend on; `None` where that might not pose them as it does.

    Blender copies a whole rig each time that a property of it changes, which takes longer than to evaluate it.
    """
    kept = needed_bones(armature, bones, skins.graph)
    return None if kept is None or not pays(armature, kept, AS_FRAMES) else reduced_rig(armature, kept, plays=False)


class Turned:
    """Measures how far bones follow a chain whose bones are turned in a trial."""

    def __init__(self, armature: Object, chain: Collection[str]) -> None:
        """Turn these bones of the armature, each about its own X axis, and record where that moves all bones."""
        with trial(armature) as tried:
            named = {copied: original.name for original, copied in tried.copies.items()}
            tried.layer.update()
            self._before = _world_matrices(tried, named)
            for name in chain:
                tried.thing.pose.bones[name].matrix_basis @= Matrix.Rotation(ANGLE, 4, "X")
            tried.layer.update()
            self._after = _world_matrices(tried, named)
        last = armature.data.bones[max(chain, key=lambda name: len(armature.data.bones[name].parent_recursive))]
        self._last = (armature.name, last.name)
        self._length = last.length

    def share(self, node: Node) -> float:
        """0..1, how far a bone follows the last bone that was turned: 1 if it follows completely."""
        # The last tail moves whichever bone of the chain turns; a head may stay in its place.
        tail = self._before[self._last] @ Vector((0.0, self._length, 0.0))
        moved, expected = (self._after[bone] @ self._before[bone].inverted_safe() @ tail for bone in (node, self._last))
        distance = (expected - tail).length
        return max(0.0, 1.0 - (moved - expected).length / distance) if distance > 0.0 else 0.0


def _world_matrices(tried: TrialRig, named: dict[Object, str]) -> dict[Node, Matrix]:
    """World matrices of all bones of the copies, by the originals' names."""
    matrices = {}
    for copied, name in named.items():
        evaluated = tried.evaluated(copied)
        if evaluated.id_type == "OBJECT" and evaluated.pose:
            matrices |= {(name, bone.name): evaluated.matrix_world @ bone.matrix for bone in evaluated.pose.bones}
    return matrices
