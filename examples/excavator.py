"""An excavator digs: boom and stick follow the bucket's joint, within the limits of their cylinders.

    python examples/excavator.py

The target also moves out of the machine's reach; there the arm takes the closest pose that its limits allow, and the report
names the frames. End Rotation keeps the bucket's angle; the whole machine turns, and the plane with it.
"""

import argparse
import itertools
import math
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
import stage

LAST = 96
JOINTS = ((0.0, -0.4, 1.5), (0.0, -3.2, 3.9), (0.0, -5.2, 2.5), (0.0, -5.2, 1.5))
DIG = (
    (1, (-4.6, 2.6, 0.0)), (16, (-5.6, 1.3, 20.0)), (30, (-4.9, 0.55, 55.0)), (46, (-3.3, 0.8, 105.0)),
    (62, (-3.5, 2.6, 120.0)), (78, (-4.6, 3.4, 90.0)), (LAST, (-6.2, 4.6, 0.0)),
)  # fmt: skip
"""Frame; Y and Z of the bucket's joint in metres, and the bucket's rotation in degrees."""
SWING = ((46, 0.0), (70, 55.0), (LAST, 55.0))
LIMITS = {"upper_min": -50.0, "upper_max": 35.0, "lower_min": 15.0, "lower_max": 130.0}


def make_machine() -> bpy.types.Object:
    """An armature with a turning house, boom, stick and bucket."""
    machine = stage.add("Excavator", bpy.data.armatures.new("Excavator"))
    bpy.context.view_layer.objects.active = machine
    bpy.ops.object.mode_set(mode="EDIT")
    bones = machine.data.edit_bones
    house = bones.new("house")
    house.head, house.tail = (0.0, 0.0, 0.9), (0.0, 0.0, 1.9)
    above = house
    for name, head, tail in zip(("boom", "stick", "bucket"), JOINTS, JOINTS[1:], strict=False):
        bone = bones.new(name)
        bone.head, bone.tail, bone.parent = head, tail, above
        above = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in machine.pose.bones:
        bone.rotation_mode = "XYZ"
    for frame, turn in SWING:
        machine.pose.bones["house"].rotation_euler.y = math.radians(turn)
        machine.pose.bones["house"].keyframe_insert("rotation_euler", index=1, frame=frame)
    return machine


def hang_from_house(part: bpy.types.Object, machine: bpy.types.Object) -> None:
    """Parent a part to the house, keeping its position while the house faces straight ahead."""
    house = machine.data.bones["house"]
    part.parent, part.parent_type, part.parent_bone = machine, "BONE", "house"
    part.matrix_parent_inverse = house.matrix_local.inverted()
    part.matrix_parent_inverse.translation.y -= house.length


def make_target(machine: bpy.types.Object) -> bpy.types.Object:
    """The target of the bucket's joint, keyed relative to the house."""
    target = stage.add("Bucket joint", None)
    hang_from_house(target, machine)
    rest = math.radians(-90.0)
    for frame, (along, up, turn) in DIG:
        target.location = (0.0, along, up)
        target.rotation_euler = (rest + math.radians(turn), 0.0, 0.0)
        target.keyframe_insert("location", frame=frame)
        target.keyframe_insert("rotation_euler", frame=frame)
    return target


def bake(machine: bpy.types.Object, target: bpy.types.Object) -> dict:
    """Bake in one call, with limits. The plane of the rest pose, the armature's YZ plane, turns with the house."""
    limits = {name: math.radians(degrees) for name, degrees in LIMITS.items()}
    bpy.ops.twobone.bake(
        armature=machine.name, upper="boom", lower="stick", tip="bucket", target=target.name,
        plane="REST", bend="POSITIVE", end_rotation="TARGET", use_limits=True, **limits,
    )  # fmt: skip
    return stage.report()


def box(
    name: str, low: tuple[float, float, float], high: tuple[float, float, float], colour: bpy.types.Material
) -> bpy.types.Object:
    """A box between two corners, with rounded edges."""
    mesh = bpy.data.meshes.new(name)
    corners = [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh.from_pydata(corners, [], faces)
    made = stage.add(name, mesh, colour)
    rounded = made.modifiers.new("Rounded", "BEVEL")
    rounded.width, rounded.segments = 0.08, 3
    return made


def dress(machine: bpy.types.Object) -> None:
    """Add boxes and rods to the machine."""
    yellow, dark = stage.material("Machine", stage.YELLOW, roughness=0.35), stage.material("Steel", stage.DARK, roughness=0.4)
    for side in (-1.0, 1.0):
        box("Track", (side * 1.35 - 0.35, -1.9, 0.0), (side * 1.35 + 0.35, 1.9, 0.8), dark)
    box("Turntable", (-0.8, -0.8, 0.7), (0.8, 0.8, 1.05), dark)
    house = box("House", (-1.2, -0.9, 1.0), (1.2, 2.0, 2.1), yellow)
    cab = box("Cab", (0.35, -0.9, 2.1), (1.15, 0.5, 3.1), stage.material("Cab", stage.PALE, roughness=0.2))
    for part in (house, cab):
        hang_from_house(part, machine)
    stage.solid_bone(machine, "boom", (0.34, 0.26), yellow, flatness=1.2)
    stage.solid_bone(machine, "stick", (0.26, 0.18), yellow, flatness=1.2)
    stage.solid_bone(machine, "bucket", (0.22, 0.42), dark, flatness=0.7)


def show_limits(machine: bpy.types.Object) -> None:
    """Draw the boundary of the bucket joint's reach within the limits. Angles increase from +Y to +Z, as in the rest plane."""
    root, mid, tip = JOINTS[:3]
    boom, stick = math.dist(root, mid), math.dist(mid, tip)
    rest = math.degrees(math.atan2(mid[2] - root[2], mid[1] - root[1]))
    (first, last), (straight, folded) = [(LIMITS[f"{bone}_min"], LIMITS[f"{bone}_max"]) for bone in ("upper", "lower")]
    corners = [(first, straight), (last, straight), (last, folded), (first, folded), (first, straight)]
    places = []
    for (turn, bend), (next_turn, next_bend) in itertools.pairwise(corners):
        for step in range(24):
            part = step / 24
            upper = math.radians(rest + turn + part * (next_turn - turn))
            lower = upper + math.radians(bend + part * (next_bend - bend))
            along = root[1] + boom * math.cos(upper) + stick * math.cos(lower)
            places.append((0.0, along, root[2] + boom * math.sin(upper) + stick * math.sin(lower)))
    hang_from_house(stage.make_path("Limits", [*places, places[0]], stage.TEAL, 0.03), machine)


def main(arguments: argparse.Namespace) -> None:
    """Make, bake, save, show."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    machine = make_machine()
    target = make_target(machine)
    told = bake(machine, target)
    print(f"Out of reach because of the joint limits at frames {told['out_of_reach']}.")
    dress(machine)
    stage.save(arguments, "excavator")
    stage.show_target(target, stage.BLUE, range(1, LAST + 1), size=0.16)
    show_limits(machine)
    stage.light_and_ground(ground=(0.72, 0.66, 0.56))
    stage.look((-7.5, -16.0, 5.0), (2.6, -2.0, 3.7), lens=41.0)
    stage.picture(arguments, "excavator", LAST)


if __name__ == "__main__":
    stage.run(main, "excavator")
