"""Whether a double is posed as its rig is, to the last bit: found where that costs least.

What the user sees is evaluated already, so a double is first compared with that, at the present frame. Only where it
differs, such as where something was moved and not keyed, the rig itself is evaluated once more, at several frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import bpy
import numpy as np

from ....array_types import Array
from ...blender_types import Object, PoseBone, Scene
from ...lookup import bone_owner
from ...moves.dependencies import drivers_by_owner
from ..quantities import Quantity
from .doubles import Double


@dataclass(slots=True)
class Trust:
    """Bones of each armature, by its name, that doubles were found to pose as the armature does."""

    bones: dict[str, set[str]] = field(default_factory=dict)

    def covers(self, name: str, double: Double) -> bool:
        """Whether all bones of a double were compared, but for those that hang from their parents alone."""
        if name not in self.bones:
            return False
        drivers = drivers_by_owner(double.thing)
        return all(
            bone.name in self.bones[name] or (not bone.constraints and bone_owner(bone) not in drivers)
            for bone in _bones_of(double)
        )

    def add(self, doubles: Mapping[str, Double]) -> None:
        """Remember what was compared."""
        for name, double in doubles.items():
            self.bones.setdefault(name, set()).update(bone.name for bone in _bones_of(double))


def _bones_of(double: Double) -> Iterable[PoseBone]:
    """Its posed bones; an empty has none."""
    return double.thing.pose.bones if double.thing.pose else ()


def shown_values(scene: Scene, quantities: Iterable[Quantity]) -> dict[Quantity, Array]:
    """World and posed matrices `(1, 4, 4)` as they are evaluated in the user's scene now; without those that are not."""
    found: dict[Quantity, Array] = {}
    for quantity in quantities:
        shown = _shown(scene, bpy.data.objects[quantity.object])
        if shown is None:
            continue
        matrix = np.array(shown.matrix_world) if quantity.kind == "WORLD" else np.eye(4)
        if quantity.bone:
            matrix = matrix @ np.array(shown.pose.bones[quantity.bone].matrix)
        found[quantity] = matrix[None]
    return found


def _shown(scene: Scene, thing: Object) -> Object | None:
    """An object as a view layer of the scene has evaluated it last."""
    for layer in scene.view_layers:
        evaluated = thing.evaluated_get(layer.depsgraph) if layer.depsgraph else thing
        if evaluated.is_evaluated:
            return evaluated
    return None
