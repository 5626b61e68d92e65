"""Rigs on trial: copies in a scene of their own, in which something is changed to see what comes of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import bpy
from mathutils import Matrix, Vector

from ..blender_types import Object, ViewLayer
from ..graph.rig_graph import Node
from ..sampling.reduced_rigs import redirect
from .skin import followers

STAGE_NAME = ".twobone_trial"

ANGLE = 0.4
"""Radians by which a chain is turned: far more than any rounding, less than what joint limits forbid."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A rig's copy without animation, but with its drivers, and copies of what follows it or steers it."""

    thing: Object
    layer: ViewLayer
    copies: dict[Object, Object]
    """By original, the armature's own and all others."""

    def evaluated(self, copied: Object) -> Object:
        """What a copy is evaluated to."""
        return copied.evaluated_get(self.layer.depsgraph)


@contextmanager
def trial(armature: Object, steering: Iterable[bpy.types.ID] = ()) -> Iterator[Trial]:
    """A copy of an armature, of the armatures that follow it, and of the datablocks `steering` that their drivers read."""
    stage = bpy.data.scenes.new(STAGE_NAME)
    originals = dict.fromkeys([armature, *followers(armature), *steering])
    copies = {original: original.copy() for original in originals}
    try:
        for copied in copies.values():
            _let_go(copied)
            if isinstance(copied, bpy.types.Object):
                copied.data = copies.get(copied.data, copied.data)
                copied.parent = copies.get(copied.parent, copied.parent)
                stage.collection.objects.link(copied)
            for before, after in copies.items():
                redirect(copied, before, after)
        yield Trial(copies[armature], stage.view_layers[0], copies)
    finally:
        bpy.data.batch_remove(list(copies.values()))
        bpy.data.scenes.remove(stage)


class Turned:
    """How far bones go along with a chain whose bones are turned on trial."""

    def __init__(self, armature: Object, chain: Collection[str]) -> None:
        """Turn these bones of the armature, each about its own X axis, and see where that brings all bones."""
        with trial(armature) as tried:
            named = {copied: original.name for original, copied in tried.copies.items()}
            tried.layer.update()
            self._before = _places(tried, named)
            for name in chain:
                tried.thing.pose.bones[name].matrix_basis @= Matrix.Rotation(ANGLE, 4, "X")
            tried.layer.update()
            self._after = _places(tried, named)
        last = armature.data.bones[max(chain, key=lambda name: len(armature.data.bones[name].parent_recursive))]
        self._last = (armature.name, last.name)
        self._length = last.length

    def share(self, node: Node) -> float:
        """0..1, how far a bone goes along with the last bone that was turned: 1 if it does all the way."""
        tail = self._before[self._last] @ Vector((0.0, self._length, 0.0))
        moved, wanted = (self._after[each] @ self._before[each].inverted_safe() @ tail for each in (node, self._last))
        way = (wanted - tail).length
        return max(0.0, 1.0 - (moved - wanted).length / way) if way > 0.0 else 0.0


def _places(tried: Trial, named: dict[Object, str]) -> dict[Node, Matrix]:
    """World matrices of all bones of the copies, by the originals' names."""
    places = {}
    for copied, name in named.items():
        seen = tried.evaluated(copied)
        if seen.id_type == "OBJECT" and seen.pose:
            places |= {(name, bone.name): seen.matrix_world @ bone.matrix for bone in seen.pose.bones}
    return places


def _let_go(copied: Object) -> None:
    """Take actions and strips from a copy; its drivers stay."""
    data = copied.animation_data
    if data is not None:
        data.use_tweak_mode = False
        data.action = None
        for track in list(data.nla_tracks):
            data.nla_tracks.remove(track)
