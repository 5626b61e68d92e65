"""What the installed zip does from the day it is installed to the day it is removed. Runs inside Blender:

    blender --background --factory-startup --python-exit-code 1 --python installed_scenario.py -- twobone.zip
    python installed_scenario.py -- twobone.zip          (where Python has the bpy module)

BLENDER_USER_RESOURCES must name a folder of its own, since the zip is installed there. Ends with PASSED.
"""

import sys

import bpy  # first: it makes Blender's other modules known
import addon_utils  # isort: skip

MODULE = "bl_ext.user_default.twobone"
PASSED = "every step of the installed extension's life went well"
FIRST, LAST = 1, 24
# Bones and poses are 32-bit floats in Blender: a few units in the last place, per unit of length and of distance.
TIP_TOLERANCE = 2e-6
UPPER_LENGTH, LOWER_LENGTH, ROOT_HEIGHT = 1.0, 0.8, 2.0


def main() -> None:
    archive = sys.argv[sys.argv.index("--") + 1]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    install(archive)
    rig, target = leg_with_target()
    bake_and_measure(rig, target, "POSITIVE")
    disable()
    enable()
    bake_and_measure(rig, target, "NEGATIVE")
    install(archive)
    bake_and_measure(rig, target, "POSITIVE")
    remove()
    print(PASSED)


def install(archive: str) -> None:
    """Install over whatever is there, and enable."""
    bpy.ops.extensions.package_install_files(filepath=archive, repo="user_default", enable_on_install=True)
    expect(MODULE in bpy.context.preferences.addons, "the extension is not enabled after installing")
    expect_present()
    addon_utils._is_first_reset()  # noqa: SLF001 - Blender offers its check of the extension policy in no other way
    expect(not addon_utils._extensions_warnings_get().get(MODULE), "the extension violates Blender's policies")  # noqa: SLF001


def enable() -> None:
    expect(addon_utils.enable(MODULE, default_set=True) is not None, "the extension cannot be enabled again")
    expect_present()


def disable() -> None:
    addon_utils.disable(MODULE, default_set=True)
    expect_absent()


def remove() -> None:
    repositories = bpy.context.preferences.extensions.repos
    index = next(index for index, repository in enumerate(repositories) if repository.module == "user_default")
    bpy.ops.extensions.package_uninstall(repo_index=index, pkg_id="twobone")
    expect(MODULE not in bpy.context.preferences.addons, "the extension is still enabled after it was removed")
    expect_absent()


def expect_present() -> None:
    expect("TWOBONE_OT_bake" in dir(bpy.types), "the bake operator is not registered")
    expect(hasattr(bpy.context.window_manager, "twobone_report"), "the report's property is not registered")


def expect_absent() -> None:
    left = [name for name in dir(bpy.types) if "twobone" in name.lower()]
    expect(not left, f"classes are left behind: {left}")
    expect(not hasattr(bpy.context.window_manager, "twobone_report"), "the report's property is left behind")


def leg_with_target():
    """A leg in the XZ plane that bends forward at rest, and an empty that moves within its reach."""
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    target = bpy.data.objects.new("Target", None)
    for item in (rig, target):
        bpy.context.scene.collection.objects.link(item)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    upper = rig.data.edit_bones.new("upper")
    upper.head, upper.tail = (0, 0, ROOT_HEIGHT), (0.6 * UPPER_LENGTH, 0, ROOT_HEIGHT - 0.8 * UPPER_LENGTH)
    lower = rig.data.edit_bones.new("lower")
    lower.parent, lower.use_connect = upper, True
    lower.head, lower.tail = upper.tail, (upper.tail[0], 0, upper.tail[2] - LOWER_LENGTH)
    bpy.ops.object.mode_set(mode="OBJECT")
    for frame, place in ((FIRST, (1.2, 0, 1.0)), ((FIRST + LAST) // 2, (0.1, 0, 0.5)), (LAST, (-1.0, 0, 1.6))):
        target.location = place
        target.keyframe_insert("location", frame=frame)
    return rig, target


def bake_and_measure(rig, target, bend: str) -> None:
    """Bake, then let Blender evaluate every frame and see where the tip is."""
    rig.animation_data_clear()
    bpy.ops.twobone.bake(
        armature=rig.name, upper="upper", lower="lower", target=target.name, plane="XZ", bend=bend,
        frame_range="CUSTOM", frame_start=FIRST, frame_end=LAST,
    )  # fmt: skip
    scene = bpy.context.scene
    allowed = TIP_TOLERANCE * (UPPER_LENGTH + LOWER_LENGTH + ROOT_HEIGHT)
    for frame in range(FIRST, LAST + 1):
        scene.frame_set(frame)
        posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["lower"]
        miss = (rig.matrix_world @ posed.tail - target.matrix_world.translation).length
        expect(miss <= allowed, f"bend {bend}, frame {frame}: the tip is {miss:.2e} away from the target")
    expect("{" in bpy.context.window_manager.twobone_report, "the bake left no report")


def expect(holds: bool, otherwise: str) -> None:  # noqa: FBT001 - reads as an assertion, which -O cannot remove
    if not holds:
        raise SystemExit(f"FAILED: {otherwise}")


main()
