"""Find the limbs that Blender poses, and take their datablocks away again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import bpy

from ..blender_types import Constraint, NodeTree, Object
from ..rig.constraints import is_live
from ..writer import assign, assign_item, at_end
from .marks import CARRIES, CONSTRAINT, CORE, INFLUENCE, KIND, MARK, REFERENCE


@dataclass(frozen=True, slots=True)
class LiveLimb:
    """A limb of an armature that constraints of ours pose."""

    armature: Object
    helper: Object | None
    """`None` where it was deleted."""
    carried: tuple[tuple[str, Constraint], ...]
    """Each constraint, with the name of the bone that carries it."""

    @property
    def chain(self) -> str:
        """Name that the stored chain had when the limb was made; empty where the helper was deleted."""
        return str(self.helper.get(MARK, "")) if self.helper is not None else ""

    @property
    def bones(self) -> tuple[str, ...]:
        """The bones that are posed, upper one first."""
        return tuple(bone for bone, _ in self.carried)

    @property
    def mimics(self) -> bool:
        """Whether the helper is that of another armature, of which this one is a duplicate."""
        return self.helper is not None and _carrier(self.helper) not in {None, self.armature}

    @property
    def reference(self) -> str:
        """Text of what the limb's numbers were made from."""
        return str(self.helper.get(REFERENCE, "")) if self.helper is not None else ""

    @property
    def tree(self) -> NodeTree | None:
        """The limb's own tree."""
        modifiers = self.helper.modifiers if self.helper is not None else ()
        return next((modifier.node_group for modifier in modifiers if modifier.type == "NODES"), None)

    def number(self, name: str) -> float:
        """A number that the limb's nodes were given."""
        return float(self.tree.nodes[CORE].inputs[name].default_value) if self.tree is not None else 0.0


def _carrier(helper: Object) -> Object | None:
    return next((constraint.target for constraint in helper.constraints if constraint.type == CARRIES), None)


def live_limbs(armature: Object) -> list[LiveLimb]:
    """The limbs of an armature that Blender poses for us; those whose helper is gone count as one each bone."""
    if armature.pose is None:
        return []
    by_helper: dict[object, list[tuple[str, Constraint]]] = {}
    for bone in armature.pose.bones:
        for constraint in bone.constraints:
            if is_live(constraint):
                by_helper.setdefault(constraint.target or bone.name, []).append((bone.name, constraint))
    ordered = {helper: tuple(sorted(carried, key=lambda pair: pair[1].sample_index)) for helper, carried in by_helper.items()}
    return [LiveLimb(armature, None if isinstance(helper, str) else helper, carried) for helper, carried in ordered.items()]


def limb_on(armature: Object, bones: Iterable[str]) -> LiveLimb | None:
    """The limb that poses any of these bones; `None` without one. A quick look for where panels are drawn."""
    for name in bones:
        bone = armature.pose.bones.get(name) if armature.pose else None
        for constraint in bone.constraints if bone is not None else ():
            if is_live(constraint):
                return next(limb for limb in live_limbs(armature) if name in limb.bones)
    return None


def write_limb(limb: LiveLimb, inputs: Mapping[str, float], influence: float | None, reference: tuple[Any, ...]) -> None:
    """Give the nodes of a limb other numbers, and another influence unless `None`."""
    if limb.tree is None or limb.helper is None:
        return
    nodes = limb.tree.nodes
    for name, value in inputs.items():
        assign(nodes[CORE].inputs[name], "default_value", value)
    if influence is not None:
        assign(nodes[INFLUENCE].outputs[0], "default_value", influence)
    assign_item(limb.helper, REFERENCE, repr(reference))


def drop_limb(limb: LiveLimb) -> None:
    """Take a limb's constraints away, and its helper with all that is only there for it, once the run has come to its end."""
    for _, constraint in limb.carried:
        assign(constraint, "mute", value=True)
    at_end(partial(_drop_constraints, limb.armature, limb.bones, limb.helper))
    if limb.helper is None or limb.mimics or limb.helper.library is not None:
        return
    tree = limb.tree
    at_end(partial(bpy.data.objects.remove, limb.helper))
    if tree is not None:
        at_end(partial(_drop_tree, tree))
    at_end(_drop_unused)


def _drop_constraints(armature: Object, bones: Iterable[str], helper: Object | None) -> None:
    for name in bones:
        constraints = armature.pose.bones[name].constraints
        for constraint in [found for found in constraints if is_live(found) and found.mute and found.target == helper]:
            constraints.remove(constraint)
        # One that was made meanwhile has got a number, for two have no one name.
        for constraint in filter(is_live, constraints):
            constraint.name = CONSTRAINT


def _drop_tree(tree: NodeTree) -> None:
    action = tree.animation_data.action if tree.animation_data else None
    bpy.data.node_groups.remove(tree)
    if action is not None and not action.users:
        bpy.data.actions.remove(action)


def _drop_unused() -> None:
    """Remove what the limbs of the file share, once the last limb that used it is gone."""
    for thing in list(stand_ins()):
        if thing.users <= 1:  # The fake one, which keeps it.
            bpy.data.objects.remove(thing)
    for tree in [tree for tree in bpy.data.node_groups if tree.get(KIND) and not tree.users]:
        bpy.data.node_groups.remove(tree)
    for mesh in [mesh for mesh in bpy.data.meshes if mesh.get(MARK) and not mesh.users]:
        bpy.data.meshes.remove(mesh)


def stand_ins() -> Iterator[Object]:
    """The empties that stand for bones and armatures, which limbs share."""
    return (thing for thing in bpy.data.objects if thing.type == "EMPTY" and thing.get(MARK) and thing.library is None)
