"""The trees that all limbs of a file share: the closed form of `solver.two_bone`, `softness` and the limb's planes, as nodes.

There is one for each kind of plane and each reach. The limb's own numbers are inputs of the group; all are in the space of the
helper object, in which the limb is rigid. Where a rest matrix is no exact rotation, that space is not quite Euclidean: vectors
and points are as they stand there, normals are multiplied with the transposed matrix, so that they stay perpendicular.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
ROTATIONS = ("Upper After", "Lower Before", "Lower After")
"""Inputs: what a link inherits is taken away before its rotation in the plane, and what it was laid with is given back after."""

METRIC, STRAIN = "Metric", "Strain"
"""Inputs: symmetric matrix from the helper's space to an equal one with perpendicular axes, and what it has more than 1."""

TREE = "Two-Bone IK"
"""First words of the trees' names, for users; the trees are found by `KIND`."""

VERSION = 2
"""To be raised with every change of the nodes, so that a file keeps those that it was made with."""


def solver_tree(plane: str, reach: str, inherits: str = "") -> Any:
    """The tree for a kind of plane (`NORMAL`, `POLE`, `STILL`) and a reach; made where the file has none.

    inherits : how the lower bone inherits scale, where that is not all and the helper's axes are not quite perpendicular
    """
    kind = f"{plane} {reach} {inherits} {VERSION}"
    for tree in bpy.data.node_groups:
        if tree.library is None and tree.get(KIND) == kind:
            return tree
    name = f"{TREE} {plane} {reach} {inherits}".rstrip()
    tree = make(partial(bpy.data.node_groups.new, name, "GeometryNodeTree"), bpy.data.node_groups.remove)
    tree[KIND] = kind
    for names, type_of_socket in ((NUMBERS, "Float"), (VECTORS, "Vector"), (ROTATIONS, "Rotation"), ((METRIC, STRAIN), "Matrix")):
        for socket in names:
            tree.interface.new_socket(socket, in_out="INPUT", socket_type=f"NodeSocket{type_of_socket}")
    for socket, type_of_socket in (("Upper", "Rotation"), ("Lower", "Rotation"), ("Scale", "Float")):
        tree.interface.new_socket(socket, in_out="OUTPUT", socket_type=f"NodeSocket{type_of_socket}")
    _write(Formula(tree), plane, reach, inherits)
    return tree


def _write(tree: Formula, plane: str, reach: str, inherits: str) -> None:
    given = tree.tree.nodes.new("NodeGroupInput").outputs
    limb = _StillLimb(tree, given, inherits) if plane == "STILL" else _LaidLimb(tree, given, inherits, plane)
    inside, upper, lower = _solved(tree, given, limb, reach)
    if inherits:
        # The first round has measured the links where they point; what is left is the square of some 1e-5.
        inside, upper, lower = _solved(tree, given, limb, reach)
    scale: Value = 1.0
    if reach == "STRETCH":
        scale = tree.math("MAXIMUM", tree.math("DIVIDE", limb.distance, inside), given["Compress Min"])
        scale = tree.math("MINIMUM", scale, given["Stretch Max"])
    out = tree.tree.nodes.new("NodeGroupOutput").inputs
    for name, value in (("Upper", upper), ("Lower", lower), ("Scale", scale)):
        tree.put(out[name], value)


def _solved(tree: Formula, given: Any, limb: _LaidLimb | _StillLimb, reach: str) -> tuple[Value, Value, Value]:
    """Distance of the tip, and the rotations of both bones."""
    near, far = ring = _ring(tree, limb.lengths)
    inside = tree.math("MINIMUM", tree.math("MAXIMUM", limb.distance, near), far)
    if reach != "CLAMP":
        inside = _softened(tree, given, limb, inside)
    return inside, *limb.posed(*_angles(tree, inside, limb.lengths, ring, given["Side"]))


def _ring(tree: Formula, lengths: Any) -> tuple[Value, Value]:
    """The least and the greatest distance of the tip."""
    return tree.math("ABSOLUTE", tree.math("SUBTRACT", *lengths)), tree.math("ADD", *lengths)


class _LaidLimb:
    """Links that are laid into a plane that follows the limb."""

    growths: Sequence[Value] = ()
    """See `_growths`; none before the first round."""

    def __init__(self, tree: Formula, given: Any, inherits: str, plane: str) -> None:
        self.tree, self.given, self.inherits = tree, given, inherits
        vector, metric = tree.vector, given[METRIC]
        line = vector("SUBTRACT", given["Target"], given["Root"])
        along, self.distance = tree.unit(line), vector("LENGTH", line)
        self.lengths = given["Upper Length"], given["Lower Length"]
        self.along, way = along, tree.unit(tree.direction(along, metric))
        if plane == "POLE":
            to_pole = tree.across(tree.direction(vector("SUBTRACT", given["Pole"], given["Root"]), metric), way)
            normal = tree.rotated(tree.unit(vector("CROSS_PRODUCT", to_pole, way)), tree.about(way, given["Pole Angle"]))
        else:
            normal = tree.unit(tree.across(given["Normal"], way))
        self.normal = tree.direction(normal, metric)
        self.frame = _frame(tree, self.normal, along)

    def posed(self, first: Value, second: Value) -> tuple[Value, Value]:
        """The rotations of both bones, for angles of the links; lengths and growths are then those in these directions."""
        tree, given, upright = self.tree, self.given, (0.0, 0.0, 1.0)
        frame = product_of_rotations(tree, self.frame, tree.about(upright, first))
        upper, bend = product_of_rotations(tree, frame, given["Upper After"]), tree.about(upright, second)
        if not self.inherits:
            return upper, product_of_rotations(tree, given["Lower Before"], bend, given["Lower After"])
        between = tree.opposite(product_of_rotations(tree, given["Lower Before"], given["Upper After"]))
        inherited, growth = _inherited_matrix(tree, given[METRIC], upper, between, self.inherits)
        ways = [tree.rotated((1.0, 0.0, 0.0), turn) for turn in (frame, product_of_rotations(tree, frame, bend))]
        self.growths = _growths(tree, given, self.along, ways)
        along = tree.direction(tree.direction(ways[1], given[METRIC]), tree.inverse(inherited))
        length = tree.math("DIVIDE", tree.math("MULTIPLY", given["Lower Length"], growth), tree.vector("LENGTH", along))
        self.lengths = given["Upper Length"], length
        laid = _frame(tree, _hinge(tree, given, inherited, self.normal), along)
        return upper, product_of_rotations(tree, laid, given["Lower After"])


class _StillLimb:
    """Bones that turn about the normal of a plane that does not follow the limb, each from where its link points."""

    growths: Sequence[Value] = ()
    """See `_growths`; none before the first round."""

    def __init__(self, tree: Formula, given: Any, inherits: str) -> None:
        self.tree, self.given, self.inherits = tree, given, inherits
        vector, line = tree.vector, tree.vector("SUBTRACT", given["Target"], given["Root"])
        u = tree.unit(given["Axis U"])
        self.normal = tree.unit(vector("CROSS_PRODUCT", u, given["Axis V"]))
        self.axes = self.seen = u, vector("CROSS_PRODUCT", self.normal, u)
        if inherits:
            # What is beside the plane is seen along its true normal.
            back = tree.inverse(given[METRIC])
            way = tree.direction(tree.direction(self.normal, back), back)
            way = vector("SCALE", way, tree.math("DIVIDE", 1.0, vector("DOT_PRODUCT", self.normal, way)))
            tilted = [vector("SCALE", self.normal, vector("DOT_PRODUCT", axis, way)) for axis in self.axes]
            self.seen = tuple(vector("SUBTRACT", *pair) for pair in zip(self.axes, tilted, strict=True))
        self.distance, self.heading = self._polar(line)
        self.lengths, self.leads = zip(*(self._polar(given[link]) for link in ("Link Upper", "Link Lower")), strict=True)

    def _polar(self, link: Value) -> tuple[Value, Value]:
        """Length and direction of a vector in the plane."""
        x, y = (self.tree.vector("DOT_PRODUCT", axis, link) for axis in self.seen)
        return self.tree.squares_root(x, y), self.tree.math("ARCTAN2", y, x)

    def posed(self, first: Value, second: Value) -> tuple[Value, Value]:
        """The rotations of both bones, for angles of the links; lengths and leads are then those in these directions."""
        tree, given, math = self.tree, self.given, self.tree.math
        near, far = self.leads
        start = math("ADD", self.heading, first)
        turned, bend = tree.about(self.normal, math("SUBTRACT", start, near)), math("ADD", second, math("SUBTRACT", near, far))
        upper = product_of_rotations(tree, turned, given["Upper After"])
        if not self.inherits:
            lower = tree.about(self.normal, bend)
            return upper, product_of_rotations(tree, given["Lower Before"], lower, given["Lower After"])
        between = tree.opposite(product_of_rotations(tree, given["Lower Before"], given["Upper After"]))
        inherited, growth = _inherited_matrix(tree, given[METRIC], upper, between, self.inherits)
        lower = tree.about(tree.unit(_hinge(tree, given, inherited, self.normal)), bend)
        link = tree.vector("SCALE", tree.rotated(given["Link Lower"], given["Lower Before"]), growth)
        link = tree.direction(tree.direction(tree.rotated(link, lower), inherited), tree.inverse(given[METRIC]))
        wanted = start, math("ADD", start, second)
        seen = [self._polar(link) for link in (tree.rotated(given["Link Upper"], turned), link)]
        self.lengths = tuple(length for length, _ in seen)
        self.leads = tuple(
            math("ADD", lead, math("SUBTRACT", angle, angles))
            for lead, (_, angle), angles in zip(self.leads, seen, wanted, strict=True)
        )
        self.growths = _growths(tree, given, self._way(self.heading), map(self._way, wanted))
        return upper, product_of_rotations(tree, lower, given["Lower Before"], given["Lower After"])

    def _way(self, angle: Value) -> Value:
        """The unit vector in this direction of the plane."""
        parts = self.tree.math("COSINE", angle), self.tree.math("SINE", angle)
        return self.tree.vector("ADD", *(self.tree.vector("SCALE", *pair) for pair in zip(self.axes, parts, strict=True)))


def _growths(tree: Formula, given: Any, along: Value, ways: Iterable[Value]) -> list[Value]:
    """How much longer in space is what points these ways than what points along the line to the target; 1 where both do."""

    def strain(way: Value) -> Any:
        return tree.vector("DOT_PRODUCT", way, tree.direction(way, given[STRAIN]))

    on_line = strain(along)
    return [tree.math("ADD", 1.0, tree.math("SUBTRACT", strain(way), on_line)) for way in ways]


def _frame(tree: Formula, normal: Value, along: Value) -> Any:
    return tree.node("FunctionNodeAxesToRotation", normal, along, primary_axis="Z", secondary_axis="X")


def _hinge(tree: Formula, given: Any, inherited: Value, normal: Value) -> Any:
    """The axis in the lower bone's own space about which it turns in the plane."""
    across = tree.direction(normal, tree.inverse(given[METRIC]))
    return tree.direction(across, tree.node("FunctionNodeTransposeMatrix", inherited))


def _inherited_matrix(tree: Formula, metric: Value, upper: Value, between: Value, inherits: str) -> tuple[Value, Value]:
    """What the lower bone inherits, as in `inheritance.parent_transform`, and how much it grows along itself."""
    turned = product_of_rotations(tree, upper, between) if inherits == "FIX_SHEAR" else upper
    axes = [tree.direction(tree.rotated(axis, turned), metric) for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))]
    growth = tree.vector("LENGTH", axes[1]) if inherits == "ALIGNED" else 1.0
    if inherits not in {"FULL", "NONE_LEGACY"}:
        along = tree.unit(axes[1])
        axes = [tree.across(axes[0], along), axes[1], tree.across(axes[2], along)]
    if inherits not in {"FULL", "FIX_SHEAR"}:
        axes = [tree.unit(axis) for axis in axes]
    columns = [tree.node("ShaderNodeSeparateXYZ", axis).node.outputs for axis in axes]
    matrix = tree.node("FunctionNodeCombineMatrix", *(number for column in columns for number in (*column, 0.0)))
    if inherits == "FIX_SHEAR":
        return matrix, growth
    return tree.node("FunctionNodeMatrixMultiply", matrix, tree.node("FunctionNodeCombineTransform", None, between)), growth


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


def _softened(tree: Formula, given: Any, limb: _LaidLimb | _StillLimb, inside: Value) -> Value:
    """Distance of the tip as in `softness.soften`; the zones are as wide as the links are long in space."""
    math, distance = tree.math, limb.distance
    lengths = [math("MULTIPLY", *pair) for pair in zip(limb.lengths, limb.growths, strict=True)] if limb.growths else limb.lengths
    near, far = _ring(tree, lengths)
    size = math("DIVIDE", far, math("ADD", given["Upper Length"], given["Lower Length"])) if limb.growths else None

    def sized(name: str) -> Value:
        return given[name] if size is None else math("MULTIPLY", given[name], size)

    def eased(passed: Value, zone: str, limit: Value, other: Value) -> Value:
        turned = math("DIVIDE", passed, sized(f"{zone} Travel"))
        rest = math("MINIMUM", math("MAXIMUM", math("SUBTRACT", given[f"{zone} Turn"], turned), 0.0), given[f"{zone} Turn"])
        angle = math("MULTIPLY", rest, 0.5)
        return tree.squares_root(math("MULTIPLY", limit, math("COSINE", angle)), math("MULTIPLY", other, math("SINE", angle)))

    far_start, near_start = sized("Far Start"), sized("Near Start")
    far_eased = eased(math("SUBTRACT", distance, far_start), "Far", far, near)
    inside = tree.either(math("GREATER_THAN", distance, far_start), inside, math("MINIMUM", far_eased, inside))
    near_eased = eased(math("SUBTRACT", near_start, distance), "Near", near, far)
    return tree.either(math("LESS_THAN", distance, near_start), inside, math("MAXIMUM", near_eased, inside))
