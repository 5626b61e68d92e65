"""The trees that all limbs of a file share: the closed form of `solver.two_bone`, `softness` and the limb's planes, as nodes.

There is one for each kind of plane and each reach. The limb's own numbers are inputs of the group; all are in the space of the
helper object, in which the limb is rigid.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import bpy

from ..writer import make
from .expressions import Formula, Value, product_of_rotations
from .marks import KIND

NUMBERS = (
    *("Upper Length", "Lower Length", "Side", "Pole Angle"),
    *("Far Start", "Far Turn", "Far Travel", "Near Start", "Near Turn", "Near Travel", "Stretch Max", "Compress Min"),
)
VECTORS = ("Target", "Pole", "Root", "Normal", "Axis U", "Axis V", "Link Upper", "Link Lower")
ROTATIONS = ("Upper Before", "Upper After", "Lower Before", "Lower After")
"""Inputs: what a link inherits is taken away before its rotation in the plane, and what it was laid with is given back after."""

TREE = "Two-Bone IK"
"""First words of the trees' names, for users; the trees are found by `KIND`."""

VERSION = 1
"""To be raised with every change of the nodes, so that a file keeps those that it was made with."""


def solver_tree(plane: str, reach: str) -> Any:
    """The tree for a kind of plane (`NORMAL`, `POLE`, `STILL`) and a reach; made where the file has none."""
    kind = f"{plane} {reach} {VERSION}"
    for tree in bpy.data.node_groups:
        if tree.library is None and tree.get(KIND) == kind:
            return tree
    tree = make(partial(bpy.data.node_groups.new, f"{TREE} {plane} {reach}", "GeometryNodeTree"), bpy.data.node_groups.remove)
    tree[KIND] = kind
    for names, type_of_socket in ((NUMBERS, "Float"), (VECTORS, "Vector"), (ROTATIONS, "Rotation")):
        for name in names:
            tree.interface.new_socket(name, in_out="INPUT", socket_type=f"NodeSocket{type_of_socket}")
    for name, type_of_socket in (("Upper", "Rotation"), ("Lower", "Rotation"), ("Scale", "Float")):
        tree.interface.new_socket(name, in_out="OUTPUT", socket_type=f"NodeSocket{type_of_socket}")
    _write(Formula(tree), plane, reach)
    return tree


def _write(tree: Formula, plane: str, reach: str) -> None:
    given = tree.tree.nodes.new("NodeGroupInput").outputs
    math, vector = tree.math, tree.vector
    line = vector("SUBTRACT", given["Target"], given["Root"])
    heading: Value = 0.0
    leads: tuple[Value, ...] = ()
    """Angles of target and links in a plane that stands still; there each bone turns from where its link points."""
    if plane == "STILL":
        u = tree.unit(given["Axis U"])
        v = tree.unit(tree.across(given["Axis V"], u))
        normal = vector("CROSS_PRODUCT", u, v)
        distance, heading = _polar(tree, u, v, line)
        lengths, leads = zip(*(_polar(tree, u, v, given[link]) for link in ("Link Upper", "Link Lower")), strict=True)
    else:
        u, distance = tree.unit(line), vector("LENGTH", line)
        lengths = given["Upper Length"], given["Lower Length"]
        if plane == "POLE":
            to_pole = tree.across(vector("SUBTRACT", given["Pole"], given["Root"]), u)
            normal = tree.rotated(tree.unit(vector("CROSS_PRODUCT", to_pole, u)), tree.about(u, given["Pole Angle"]))
        else:
            normal = tree.unit(tree.across(given["Normal"], u))
    near, far = math("ABSOLUTE", math("SUBTRACT", *lengths)), math("ADD", *lengths)
    inside = math("MINIMUM", math("MAXIMUM", distance, near), far)
    if reach != "CLAMP":
        inside = _softened(tree, given, distance, inside, (near, far))
    scale: Value = 1.0
    if reach == "STRETCH":
        scale = math("MAXIMUM", math("DIVIDE", distance, inside), given["Compress Min"])
        scale = math("MINIMUM", scale, given["Stretch Max"])
    first, second = _angles(tree, inside, lengths, (near, far), given["Side"])
    if leads:
        # Each bone turns about the normal, from where its link points now.
        first = math("SUBTRACT", math("ADD", heading, first), leads[0])
        second = math("ADD", second, math("SUBTRACT", leads[0], leads[1]))
        rotations = tree.about(normal, first), tree.about(normal, second)
    else:
        frame = tree.node("FunctionNodeAxesToRotation", normal, u, primary_axis="Z", secondary_axis="X")
        upright = (0.0, 0.0, 1.0)
        rotations = product_of_rotations(tree, frame, tree.about(upright, first)), tree.about(upright, second)
    out = tree.tree.nodes.new("NodeGroupOutput").inputs
    for bone, rotation in zip(("Upper", "Lower"), rotations, strict=True):
        tree.put(out[bone], product_of_rotations(tree, given[f"{bone} Before"], rotation, given[f"{bone} After"]))
    tree.put(out["Scale"], scale)


def _polar(tree: Formula, u: Value, v: Value, vector: Value) -> tuple[Value, Value]:
    """Length and direction of a vector in the plane."""
    x, y = tree.vector("DOT_PRODUCT", u, vector), tree.vector("DOT_PRODUCT", v, vector)
    return tree.squares_root(x, y), tree.math("ARCTAN2", y, x)


def _angles(tree: Formula, inside: Value, lengths: Any, ring: tuple[Value, Value], side: Value) -> tuple[Value, Value]:
    """Angles 1 (from the direction to the target) and 2, from the two legs of a right triangle as in `solve_two_bone`."""
    math, (near, far) = tree.math, ring

    def leg(smaller: Value, larger: Value) -> Value:
        # Each factor has a root of its own: the product of two tiny ones would underflow.
        roots = math("SQRT", math("SUBTRACT", larger, smaller)), math("SQRT", math("ADD", larger, smaller))
        return math("DIVIDE", math("MULTIPLY", *roots), far)

    straightness, foldedness = leg(near, inside), math("MULTIPLY", leg(inside, far), side)
    difference = math("DIVIDE", math("SUBTRACT", *lengths), far)
    along = math(
        "ADD",
        math("MULTIPLY", straightness, straightness),
        math("MULTIPLY", difference, math("MULTIPLY", foldedness, foldedness)),
    )
    aside = math("MULTIPLY", math("DIVIDE", lengths[1], far), math("MULTIPLY", straightness, foldedness))
    first = math("ARCTAN2", math("MULTIPLY", aside, -2.0), along)
    return first, math("MULTIPLY", math("ARCTAN2", foldedness, straightness), 2.0)


def _softened(tree: Formula, given: Any, distance: Value, inside: Value, ring: tuple[Value, Value]) -> Value:
    """Distance of the tip as in `softness.soften`."""
    math, (near, far) = tree.math, ring

    def eased(passed: Value, zone: str, limit: Value, other: Value) -> Value:
        turned = math("DIVIDE", passed, given[f"{zone} Travel"])
        rest = math("MINIMUM", math("MAXIMUM", math("SUBTRACT", given[f"{zone} Turn"], turned), 0.0), given[f"{zone} Turn"])
        angle = math("MULTIPLY", rest, 0.5)
        return tree.squares_root(math("MULTIPLY", limit, math("COSINE", angle)), math("MULTIPLY", other, math("SINE", angle)))

    far_eased = eased(math("SUBTRACT", distance, given["Far Start"]), "Far", far, near)
    is_far = math("GREATER_THAN", distance, given["Far Start"])
    inside = tree.either(is_far, inside, math("MINIMUM", far_eased, inside))
    near_eased = eased(math("SUBTRACT", given["Near Start"], distance), "Near", near, far)
    is_near = math("LESS_THAN", distance, given["Near Start"])
    return tree.either(is_near, inside, math("MAXIMUM", near_eased, inside))
