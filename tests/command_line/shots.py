"""Small shots for the command line's tests: a leg, a target that moves within its reach, and ways to spoil them."""

import bpy

FIRST, LAST = 1, 24
PLACES = {1: (1.2, 0.0, 1.0), 12: (0.1, 0.0, 0.5), 24: (-1.0, 0.0, 1.6)}
LEG = ["--armature", "Rig", "--upper", "upper", "--lower", "lower", "--target", "Target", "--plane", "XZ"]


def make_shot(path=None, *, compress=False, places=PLACES):
    """A file with the leg ("upper", "lower" of "Rig") and "Target", saved at `path` if there is one."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FIRST, LAST
    target = bpy.data.objects.new("Target", None)
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    for item in (target, rig):
        scene.collection.objects.link(item)
    _add_bones(rig)
    for frame, place in places.items():
        target.location = place
        target.keyframe_insert("location", frame=frame)
    if path is not None:
        save(path, compress=compress)
    return rig, target


def _add_bones(rig):
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    upper = rig.data.edit_bones.new("upper")
    upper.head, upper.tail = (0, 0, 2), (0.6, 0, 1.2)
    lower = rig.data.edit_bones.new("lower")
    lower.parent, lower.use_connect = upper, True
    lower.head, lower.tail = upper.tail, (0.6, 0, 0.4)
    bpy.ops.object.mode_set(mode="OBJECT")


def of_version(path, version):
    """Let the file say that another Blender has saved it."""
    data = path.read_bytes()
    place = 13 if data[7:8] not in b"-_" else 9
    digits = 4 if place == 13 else 3
    path.write_bytes(data[:place] + f"{version:0{digits}}".encode() + data[place + digits :])


def store_chain(rig, target, name="leg", **settings):
    """Keep the leg on the armature, as the panel would."""
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target, chain.plane = name, "upper", "lower", target, "XZ"
    for setting, value in settings.items():
        setattr(chain, setting, value)
    return chain


def add_script(source):
    """A text that Blender runs when the file is opened and scripts are allowed."""
    text = bpy.data.texts.new("at_start.py")
    text.write(source)
    text.use_module = True


def save(path, *, compress=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)  # or Blender would make a backup of it
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=compress, check_existing=False)


def keys_of(rig):
    """Every key of the armature: (path, index, frame) to value."""
    from twobone_addon.scene.versions import curve_bag

    bag = curve_bag(rig)
    curves = bag.fcurves if bag else ()
    return {(c.data_path, c.array_index, point.co[0]): point.co[1] for c in curves for point in c.keyframe_points}


def keys_in(path):
    """The same, of a file on disk."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return keys_of(bpy.data.objects["Rig"])
