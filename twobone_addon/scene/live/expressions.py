"""Formulas as nodes: each function adds a node to a tree and returns the output socket that has its value."""

from __future__ import annotations

from typing import Any

import bpy

Value = Any
"""A socket, or what a socket can hold: a number, a vector `(x, y, z)`, Euler angles of a rotation."""


def product_of_rotations(tree: Formula, *rotations: Value) -> Value:
    """The rotations one after the other, the last one first."""
    product = rotations[0]
    for rotation in rotations[1:]:
        product = tree.node("FunctionNodeRotateRotation", product, rotation, rotation_space="LOCAL")
    return product


class Formula:
    """A tree that is being written."""

    def __init__(self, tree: Any) -> None:
        self.tree = tree

    def put(self, socket: Any, value: Value) -> None:
        """Give an input its value, or the output that has it."""
        if isinstance(value, bpy.types.NodeSocket):
            self.tree.links.new(value, socket)
        elif value is not None:
            socket.default_value = value

    def node(self, kind: str, *values: Value, out: str = "", **properties: Any) -> Any:
        """The output of a new node: the named one, or its first; its inputs in order, `None` keeps what an input has."""
        node = self.tree.nodes.new(kind)
        for name, value in properties.items():
            setattr(node, name, value)
        inputs = [socket for socket in node.inputs if socket.enabled]
        for socket, value in zip(inputs, values, strict=False):
            self.put(socket, value)
        return node.outputs[out] if out else next(socket for socket in node.outputs if socket.enabled)

    def math(self, operation: str, first: Value, second: Value = None) -> Any:
        """One of Blender's operations on numbers."""
        return self.node("ShaderNodeMath", first, second, operation=operation)

    def vector(self, operation: str, first: Value, second: Value = None) -> Any:
        """One of Blender's operations on vectors; the second may be the factor of `SCALE`."""
        node = self.tree.nodes.new("ShaderNodeVectorMath")
        node.operation = operation
        self.put(node.inputs[0], first)
        self.put(node.inputs["Scale"] if operation == "SCALE" else node.inputs[1], second)
        return next(socket for socket in node.outputs if socket.enabled)

    def squares_root(self, first: Value, second: Value) -> Any:
        """Length of the hypotenuse of two legs."""
        return self.math("SQRT", self.math("ADD", self.math("MULTIPLY", first, first), self.math("MULTIPLY", second, second)))

    def across(self, vector: Value, along: Value) -> Any:
        """The part of a vector that is perpendicular to a unit vector."""
        return self.vector("SUBTRACT", vector, self.vector("SCALE", along, self.vector("DOT_PRODUCT", vector, along)))

    def unit(self, vector: Value) -> Any:
        """The vector with length 1."""
        return self.vector("NORMALIZE", vector)

    def about(self, axis: Value, angle: Value) -> Any:
        """The rotation about an axis."""
        return self.node("FunctionNodeAxisAngleToRotation", axis, angle)

    def mixed(self, start: Value, end: Value, amount: Value) -> Any:
        """The rotation on the shorter way from one to another, as in `rotations.slerp`.

        Blender's own node is up to a thousandth of a radian off in 5.2 where the two are almost alike.
        """
        turn = self.node("FunctionNodeRotationToQuaternion", product_of_rotations(self, self.opposite(start), end)).node.outputs
        axis = self.node("ShaderNodeCombineXYZ", *turn[1:])
        half = self.math("ARCTAN2", self.vector("LENGTH", axis), self.math("ABSOLUTE", turn[0]))
        is_long = self.math("LESS_THAN", turn[0], 0.0)
        angle = self.math("MULTIPLY", self.math("MULTIPLY", half, amount), self.either(is_long, 2.0, -2.0))
        return product_of_rotations(self, start, self.about(axis, angle))

    def opposite(self, rotation: Value) -> Any:
        """The rotation back."""
        return self.node("FunctionNodeInvertRotation", rotation)

    def rotated(self, vector: Value, rotation: Value) -> Any:
        """The vector after a rotation."""
        return self.node("FunctionNodeRotateVector", vector, rotation)

    def point(self, place: Value, matrix: Value) -> Any:
        """The point transformed by a matrix."""
        return self.node("FunctionNodeTransformPoint", place, matrix)

    def direction(self, way: Value, matrix: Value) -> Any:
        """The vector transformed by a matrix, without its translation."""
        return self.node("FunctionNodeTransformDirection", way, matrix)

    def matrix(self, rows: Any) -> Any:
        """The matrix with these three rows of three numbers, without a translation."""
        columns = [(*column, 0.0) for column in zip(*rows, strict=True)]
        return self.node("FunctionNodeCombineMatrix", *(number for column in columns for number in column))

    def inverse(self, matrix: Value) -> Any:
        """The inverse of a matrix."""
        return self.node("FunctionNodeInvertMatrix", matrix)

    def either(self, condition: Value, if_not: Value, then: Value) -> Any:
        """One of two numbers."""
        return self.node("GeometryNodeSwitch", condition, if_not, then, input_type="FLOAT")
