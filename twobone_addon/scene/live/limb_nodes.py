"""What a limb that Blender poses is made of, and its datablocks: a helper object with a tree of its own, and constraints.

The helper is an empty mesh in no collection, so that no view layer and no exporter meets it; a fake user keeps it. It stands
where the bone above the limb stands, with the axes from which the upper bone turns, so that all its Object Infos are in the space
in which the limb is rigid: also where these axes are not quite perpendicular, as rest matrices in single precision are not. Its
tree stores a rotation for each bone of the limb as an attribute, which Geometry Attribute constraints in local space write to the
bones: the rotations that a bake would key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import bpy
from mathutils import Matrix, Vector

from ..blender_types import NodeTree, Object
from ..bones import escaped, rotation_channel
from ..keys.tables import KeyTable, put_keys
from ..lookup import object_named
from ..rig.constraints import ATTRIBUTE
from ..versions import ensure_curve_bag, new_fcurve
from ..writer import make
from .expressions import Formula, Value, product_of_rotations
from .limbs import stand_ins
from .marks import CARRIES, CONSTRAINT, CORE, HELPER, INFLUENCE, MARK, REFERENCE
from .solver_trees import METRIC, STRAIN, solver_tree

Angles = tuple[float, float, float]
"""XYZ Euler angles of a rotation, which is how sockets hold one."""

Rows = tuple[tuple[float, float, float], ...]
"""The rows of a matrix."""


@dataclass(frozen=True, slots=True)
class Followed:
    """An object, or a bone of it."""

    object: str
    bone: str = ""


@dataclass(frozen=True, slots=True)
class PosedLimb:
    """What the nodes read of the limb's own motion."""

    between: Angles
    """Rotation that the lower bone inherits from the upper one."""
    links: tuple[tuple[float, float, float], ...]
    """The link of each bone, in its own space."""
    is_opposite: bool
    """Whether the plane's normal is the one about which the limb is bent clockwise."""
    moves_normal: bool
    """Whether the plane is that of the pose."""
    moves_reference: bool
    """Whether the rotation starts from the pose."""


@dataclass(frozen=True, slots=True)
class Source:
    """Another character's limb, from whose root the target's distance is applied at the limb's own."""

    root: Followed
    scale: float
    heading: float
    """Angle about the world's Z axis from the way that the other character faces."""


@dataclass(frozen=True, slots=True)
class LimbNodes:
    """All that a limb is posed from. What a person can key is here as keys, all else as numbers in the helper's space."""

    armature: str
    chain: str
    upper: str
    lower: str
    end: str
    """Bone at the tip; empty where it is not turned."""
    above: str
    """Bone with which the helper moves; empty for the armature."""
    standing: Rows
    """The helper's axes in the space of what it moves with."""
    metric: Rows
    """From the helper's space to an equal one with perpendicular axes, that of its rotations; symmetric, almost the identity."""
    inherits: str
    """How the lower bone inherits scale, where that is not all and the axes are not quite perpendicular; else empty."""
    plane: str
    """`NORMAL`, `POLE` or `STILL`."""
    reach: str
    inputs: Mapping[str, Any]
    """Numbers, vectors and rotations for the inputs of the shared tree."""
    target: Followed
    target_offset: tuple[float, float, float]
    """The tip's goal in the target's space."""
    source: Source | None
    root_bone: str
    """Bone that carries the root joint where that is another than `above`; else empty."""
    pole: Followed | None
    axes: tuple[tuple[float, float, float], tuple[float, float, float]] | None
    """Axes of a plane that does not follow the limb; `None` for one that does."""
    axes_space: str
    """Space of the axes: `WORLD`, `ARMATURE`, `PARENT` or `OBJECT`."""
    plane_object: str
    end_rotation: str
    end_carried: tuple[Angles, Angles] | None
    """Rotations that the lower bone inherits from the upper one, and the end bone from the lower one; `None` where the end bone
    does not turn with the lower one."""
    end_kept: Angles
    """The end bone's rotation without IK, in the helper's space."""
    end_turn: Angles
    """The end bone's rotation relative to its target's."""
    influence: float
    influence_keys: KeyTable | None
    side_keys: KeyTable | None
    scales: tuple[tuple[float, float, float], tuple[float, float, float]]
    """The own scales of the upper and the lower bone."""
    scales_lower: bool
    """Whether the lower bone is scaled by itself where the limb stretches."""
    posed: PosedLimb | None
    """The limb's own rotations, if they move and matter; `None` if all that follows from them is constant."""
    reference: tuple[Any, ...]
    """Plain values of what the constants were made from, see `pipeline.live.fingerprint`."""

    @property
    def is_partial(self) -> bool:
        """Whether the limb's own pose is seen in part."""
        return self.influence < 1.0 or self.influence_keys is not None


def build_limb(nodes: LimbNodes) -> Object:
    """Make a limb follow in Blender's evaluation; returns the helper object."""
    armature = object_named(nodes.armature)
    mesh = next((mesh for mesh in bpy.data.meshes if mesh.get(MARK) and mesh.library is None), None)
    if mesh is None:
        mesh = make(partial(bpy.data.meshes.new, CORE), bpy.data.meshes.remove)
        mesh[MARK] = "mesh"
    helper = _carried_object(f"{HELPER} {nodes.upper}", mesh, Followed(nodes.armature, nodes.above), CARRIES)
    helper.constraints[0].inverse_matrix = Matrix(nodes.standing).to_4x4()
    helper[MARK], helper[REFERENCE] = nodes.chain, repr(nodes.reference)
    tree = make(partial(bpy.data.node_groups.new, helper.name, "GeometryNodeTree"), bpy.data.node_groups.remove)
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    data_type = _LimbTree(tree, nodes, helper).write()
    modifier = helper.modifiers.new(CORE, "NODES")
    modifier.node_group = tree
    _animate(nodes, tree)
    for index, (name, part) in enumerate(_parts(nodes)):
        _constrain(armature, name, helper, nodes, data_type=data_type, index=index, part=part)
    return helper


def _parts(nodes: LimbNodes) -> list[tuple[str, str]]:
    """The bones that are posed, each with its part in the limb, in the order of the points that hold their rotations."""
    turned = [(nodes.upper, "UPPER"), (nodes.lower, "LOWER")]
    return [*turned, (nodes.end, "END")] if nodes.end else turned


def _carried_object(name: str, data: Any, carrier: Followed, kind: Any) -> Object:
    """An object in no collection that a constraint lets move with another object or bone."""
    thing = make(partial(bpy.data.objects.new, name, data), bpy.data.objects.remove)
    constraint = thing.constraints.new(kind)
    constraint.target, constraint.subtarget = object_named(carrier.object), carrier.bone
    thing.use_fake_user = True
    return thing


def _standing_at(carrier: Followed) -> Object:
    """The empty that stands where an object or bone stands, which all limbs share; made where there is none."""
    stands = object_named(carrier.object), carrier.bone
    for thing in stand_ins():
        if thing.constraints and (thing.constraints[0].target, thing.constraints[0].subtarget) == stands:
            return thing
    thing = _carried_object(f"{HELPER} {carrier.object} {carrier.bone}".rstrip(), None, carrier, "COPY_TRANSFORMS")
    thing[MARK] = "carried"
    return thing


class _LimbTree:
    """The tree of one limb while it is written."""

    def __init__(self, tree: NodeTree, nodes: LimbNodes, helper: Object) -> None:
        self.formula, self.nodes, self.helper = Formula(tree), nodes, helper
        self.tree = tree
        self.read: dict[str, Value] = {}
        """The own rotations of bones."""
        self.metric = self.formula.matrix(nodes.metric)
        self.influence: Value = 1.0
        if nodes.is_partial:
            self.influence = self.formula.node("ShaderNodeValue")
            self.influence.node.name, self.influence.default_value = INFLUENCE, nodes.influence

    def write(self) -> str:
        """Write the nodes; return the type of the attribute."""
        formula, nodes = self.formula, self.nodes
        core = self._core()
        root: Value = tuple(nodes.inputs["Root"])
        if nodes.root_bone:
            carrier = self._place(Followed(nodes.armature, nodes.root_bone))
            root = formula.point(tuple(nodes.inputs["Root"]), carrier.outputs["Transform"])
            formula.put(core.inputs["Root"], root)
        target = self._place(nodes.target)
        goal = self._carried_over(target.outputs["Location"], root)
        if any(nodes.target_offset):
            offset = formula.direction(nodes.target_offset, target.outputs["Transform"])
            goal = formula.vector("ADD", goal, self._headed(offset))
        formula.put(core.inputs["Target"], goal)
        if nodes.pole is not None:
            pole = self._place(nodes.pole).outputs["Location"]
            formula.put(core.inputs["Pole"], self._carried_over(pole, root))
        if nodes.axes is not None:
            self._write_axes(core)
        if nodes.posed is not None:
            self._write_pose(core, nodes.posed)
        rotations, scale = [core.outputs["Upper"], core.outputs["Lower"]], core.outputs["Scale"]
        if nodes.is_partial:
            own = [self._rotation_of(bone) for bone in (nodes.upper, nodes.lower)]
            rotations = [formula.mixed(*pair, self.influence) for pair in zip(own, rotations, strict=True)]
            if nodes.reach == "STRETCH":
                growth = formula.math("MULTIPLY", formula.math("SUBTRACT", scale, 1.0), self.influence)
                scale = formula.math("ADD", growth, 1.0)
        if nodes.end:
            rotations.append(self._end_rotation(target, *rotations))
        return self._store(rotations, scale)

    def _core(self) -> Any:
        """The group node of the shared tree, with the limb's own numbers."""
        formula, nodes = self.formula, self.nodes
        core = self.tree.nodes.new("GeometryNodeGroup")
        core.node_tree, core.name = solver_tree(nodes.plane, nodes.reach, nodes.inherits), CORE
        for name, value in nodes.inputs.items():
            core.inputs[name].default_value = value
        for name, matrix in ((METRIC, self.metric), (STRAIN, formula.matrix(Matrix(nodes.metric) - Matrix.Identity(3)))):
            formula.put(core.inputs[name], matrix)
        return core

    def _place(self, followed: Followed) -> Any:
        """The node that knows where an object or bone is, in the helper's space."""
        thing = object_named(followed.object)
        # What a bone of the armature or the armature itself is asked through a stand-in: else Blender sees a cycle.
        if followed.bone or followed.object == self.nodes.armature:
            thing = _standing_at(followed)
        node = self.tree.nodes.new("GeometryNodeObjectInfo")
        node.transform_space = "RELATIVE"
        node.inputs["Object"].default_value = thing
        return node

    def _carried_over(self, place: Value, root: Value) -> Value:
        """The place, or for a limb that follows another one, the place at such a distance from its own root."""
        source, formula = self.nodes.source, self.formula
        if source is None:
            return place
        away = formula.vector("SUBTRACT", place, self._place(source.root).outputs["Location"])
        return formula.vector("ADD", root, formula.vector("SCALE", self._headed(away), source.scale))

    def _headed(self, away: Value) -> Value:
        """The vector as it is for a character that faces the way that the armature faces."""
        heading = self._heading()
        return away if heading is None else self.formula.direction(away, heading)

    def _heading(self) -> Value:
        """Matrix, in the helper's space, of the rotation from the way that the followed character faces; `None` for none."""
        if self.nodes.source is None or not self.nodes.source.heading:
            return None
        world_from_helper, formula = self._world_from_helper(), self.formula
        turned = formula.node("FunctionNodeCombineTransform", None, (0.0, 0.0, self.nodes.source.heading))
        turned = formula.node("FunctionNodeMatrixMultiply", turned, world_from_helper)
        return formula.node("FunctionNodeMatrixMultiply", formula.inverse(world_from_helper), turned)

    def _world_from_helper(self) -> Value:
        own = self.tree.nodes.new("GeometryNodeObjectInfo")
        own.transform_space = "ORIGINAL"
        self.formula.put(own.inputs["Object"], self.formula.node("GeometryNodeSelfObject"))
        return own.outputs["Transform"]

    def _write_axes(self, core: Any) -> None:
        formula, nodes = self.formula, self.nodes
        matrix = None
        if nodes.axes_space == "OBJECT":
            matrix = self._place(Followed(nodes.plane_object)).outputs["Transform"]
        elif nodes.axes_space == "WORLD":
            matrix = formula.inverse(self._world_from_helper())
        elif nodes.axes_space == "ARMATURE" and nodes.above:
            matrix = self._place(Followed(nodes.armature)).outputs["Transform"]
        elif nodes.axes_space == "PARENT" and nodes.root_bone:
            matrix = self._place(Followed(nodes.armature, nodes.root_bone)).outputs["Transform"]
        from_carrier = Matrix(nodes.standing).inverted()
        for name, axis in zip(("Axis U", "Axis V"), nodes.axes or (), strict=True):
            formula.put(core.inputs[name], from_carrier @ Vector(axis) if matrix is None else formula.direction(axis, matrix))

    def _write_pose(self, core: Any, posed: PosedLimb) -> None:
        """Read the limb's own rotations, and give the plane and the reference that follow from them."""
        formula = self.formula
        upper = self._rotation_of(self.nodes.upper)
        lower = product_of_rotations(formula, upper, posed.between, self._rotation_of(self.nodes.lower))
        links = formula.rotated(posed.links[0], upper), formula.rotated(posed.links[1], lower)
        normal = formula.unit(formula.vector("CROSS_PRODUCT", *(reversed(links) if posed.is_opposite else links)))
        if posed.moves_normal:
            formula.put(core.inputs["Normal"], formula.direction(normal, formula.inverse(self.metric)))
        if not posed.moves_reference:
            return
        after = upper, lower
        if self.nodes.plane == "STILL":
            formula.put(core.inputs["Link Upper"], links[0])
            formula.put(core.inputs["Link Lower"], links[1])
        else:
            frames = [
                formula.node("FunctionNodeAxesToRotation", normal, link, primary_axis="Z", secondary_axis="X") for link in links
            ]
            after = tuple(
                product_of_rotations(formula, formula.opposite(frame), rotation)
                for frame, rotation in zip(frames, after, strict=True)
            )
        formula.put(core.inputs["Upper After"], after[0])
        formula.put(core.inputs["Lower After"], after[1])
        before = product_of_rotations(formula, formula.opposite(posed.between), formula.opposite(after[0]))
        formula.put(core.inputs["Lower Before"], before)

    def _rotation_of(self, bone: str) -> Value:
        """A bone's own rotation, from its channels by plain drivers."""
        if bone not in self.read:
            self.read[bone] = self._read_rotation(bone, object_named(self.nodes.armature).pose.bones[bone].rotation_mode)
        return self.read[bone]

    def _read_rotation(self, bone: str, mode: str) -> Value:
        formula = self.formula
        channel = rotation_channel(mode)
        values = [self._driven(bone, channel, index) for index in range(3 if channel == "rotation_euler" else 4)]
        if channel == "rotation_quaternion":
            return formula.node("FunctionNodeQuaternionToRotation", *values)
        if channel == "rotation_axis_angle":
            return formula.about(formula.node("ShaderNodeCombineXYZ", *values[1:]), values[0])
        axes = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
        # The order names the axis that turns first first.
        return product_of_rotations(
            formula, *(formula.about(axes[letter], values["XYZ".index(letter)]) for letter in reversed(mode))
        )

    def _driven(self, bone: str, channel: str, index: int) -> Value:
        output = self.formula.node("ShaderNodeValue")
        driver = output.driver_add("default_value").driver
        driver.type = "AVERAGE"
        target = driver.variables.new().targets[0]
        target.id = object_named(self.nodes.armature)
        target.data_path = f'pose.bones["{escaped(bone)}"].{channel}[{index}]'
        return output

    def _end_rotation(self, target: Any, upper: Value, lower: Value) -> Value:
        """The end bone's own rotation, or that in the armature where it does not turn with the lower bone."""
        formula, nodes = self.formula, self.nodes
        turned: Value = nodes.end_kept
        if nodes.end_rotation == "TARGET":
            goal, heading = target.outputs["Transform"], self._heading()
            if heading is not None:
                goal = formula.node("FunctionNodeMatrixMultiply", heading, goal)
            goal = formula.node("FunctionNodeMatrixMultiply", self.metric, goal)
            turned = product_of_rotations(formula, self._rotation_in(goal), nodes.end_turn)
            if nodes.is_partial:
                turned = formula.mixed(nodes.end_kept, turned, self.influence)
        if nodes.end_carried is not None:
            between, before = nodes.end_carried
            inherited = product_of_rotations(formula, upper, between, lower, before)
            if nodes.inherits not in {"", "FULL", "NONE_LEGACY"}:
                # Blender makes the axes that the lower bone inherits perpendicular around Y, which stays: a tiny swing.
                held = product_of_rotations(formula, upper, between) if nodes.inherits == "FIX_SHEAR" else upper
                way = formula.rotated((0.0, 1.0, 0.0), held)
                half = formula.vector("SCALE", formula.vector("CROSS_PRODUCT", way, formula.direction(way, self.metric)), 0.5)
                parts = formula.node("ShaderNodeSeparateXYZ", half).node.outputs
                swing = formula.node("FunctionNodeQuaternionToRotation", 1.0, *parts)
                inherited = product_of_rotations(formula, swing, inherited)
            return product_of_rotations(formula, formula.opposite(inherited), turned)
        armature_from_helper = formula.inverse(self._place(Followed(nodes.armature)).outputs["Transform"])
        exact = formula.node("FunctionNodeMatrixMultiply", armature_from_helper, formula.inverse(self.metric))
        return product_of_rotations(formula, self._rotation_in(exact), turned)

    def _rotation_in(self, matrix: Value) -> Value:
        return self.formula.node("FunctionNodeSeparateTransform", matrix, out="Rotation")

    def _store(self, rotations: list[Value], scale: Value) -> str:
        """Store a rotation for each bone, and the scale where the limb stretches, one a point."""
        formula, nodes = self.formula, self.nodes
        stretches = nodes.reach == "STRETCH"
        if stretches:
            sizes = [*(formula.vector("SCALE", own, scale) for own in nodes.scales), None]
            rotations = [
                formula.node("FunctionNodeCombineTransform", None, rotation, size)
                for rotation, size in zip(rotations, sizes, strict=False)
            ]
        switch = self.tree.nodes.new("GeometryNodeIndexSwitch")
        switch.data_type = "MATRIX" if stretches else "ROTATION"
        while len(switch.index_switch_items) < len(rotations):
            switch.index_switch_items.new()
        formula.put(switch.inputs["Index"], formula.node("GeometryNodeInputIndex"))
        for number, rotation in enumerate(rotations):
            formula.put(switch.inputs[1 + number], rotation)
        store = self.tree.nodes.new("GeometryNodeStoreNamedAttribute")
        store.data_type, store.domain = "FLOAT4X4" if stretches else "QUATERNION", "POINT"
        store.inputs["Name"].default_value = ATTRIBUTE
        formula.put(store.inputs["Geometry"], formula.node("GeometryNodePoints", len(rotations)))
        formula.put(store.inputs["Value"], switch.outputs[0])
        formula.put(self.tree.nodes.new("NodeGroupOutput").inputs[0], store.outputs[0])
        return str(store.data_type)


def _animate(nodes: LimbNodes, tree: NodeTree) -> None:
    """Key what the chain has keyed, in the tree's own action: it plays without the add-on."""
    keyed = []
    if nodes.side_keys is not None:
        keyed.append((tree.nodes[CORE].inputs["Side"], nodes.side_keys))
    if nodes.influence_keys is not None:
        keyed.append((tree.nodes[INFLUENCE].outputs[0], nodes.influence_keys))
    for socket, table in keyed:
        curve = new_fcurve(ensure_curve_bag(tree), socket.path_from_id("default_value"), 0, "")
        put_keys(curve, table)
        curve.update()


def _constrain(armature: Object, bone: str, helper: Object, nodes: LimbNodes, *, data_type: str, index: int, part: str) -> None:
    """Let a bone take its rotation from a point of the helper."""
    constraints = armature.pose.bones[bone].constraints
    constraint = make(partial(constraints.new, "GEOMETRY_ATTRIBUTE"), constraints.remove)
    constraint.name = CONSTRAINT
    constraint.target, constraint.attribute_name, constraint.data_type = helper, ATTRIBUTE, data_type
    constraint.domain, constraint.sample_index, constraint.mix_mode = "POINT", index, "REPLACE"
    constraint.owner_space = "POSE" if part == "END" and nodes.end_carried is None else "LOCAL"
    constraint.mix_loc, constraint.mix_rot = False, True
    constraint.mix_scl = nodes.reach == "STRETCH" and (part == "UPPER" or (part == "LOWER" and nodes.scales_lower))
