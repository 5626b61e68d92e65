"""What the installed zip does from the day it is installed to the day it is removed. Runs inside Blender:

    blender --background --factory-startup --python-exit-code 1 --python installed_scenario.py -- twobone.zip
    python installed_scenario.py -- twobone.zip          (where Python has the bpy module)

BLENDER_USER_RESOURCES must name a folder of its own, since the zip is installed there. Prints PASSED at the end.
"""

import os
import sys
from pathlib import Path

import bpy

import addon_utils  # isort: skip - known only once bpy is imported

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.leg_scene import FIRST, LAST, TIP_TOLERANCE, leg_with_target, worst_miss

MODULE = "bl_ext.user_default.twobone"
PASSED = "every step of the installed extension's life went well"


def main() -> None:
    archive = sys.argv[sys.argv.index("--") + 1]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    install(archive)
    rig, target = leg_with_target()
    bake_and_measure(rig, target, "POSITIVE")
    call_the_function(rig, target)
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
    addon_utils._is_first_reset()  # Blender offers its check of the extension policy in no other way
    expect(not addon_utils._extensions_warnings_get().get(MODULE), "the extension violates Blender's policies")


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


def bake_and_measure(rig, target, bend: str) -> None:
    """Bake, then let Blender evaluate every frame and see where the tip is."""
    rig.animation_data_clear()
    bpy.ops.twobone.bake(
        armature=rig.name, upper="upper", lower="lower", target=target.name, plane="XZ", bend=bend,
        frame_range="CUSTOM", frame_start=FIRST, frame_end=LAST,
    )  # fmt: skip
    miss = worst_miss(rig, target)
    expect(miss <= TIP_TOLERANCE, f"bend {bend}: the tip is {miss:.2e} away from the target")
    expect("{" in bpy.context.window_manager.twobone_report, "the bake left no report")


def call_the_function(rig, target) -> None:
    """As the pages say how a script imports it."""
    from bl_ext.user_default.twobone import twobone_addon

    rig.animation_data_clear()
    bpy.context.view_layer.objects.active = None
    named = {"armature": rig.name, "upper": "upper", "lower": "lower", "target": target.name}
    report = twobone_addon.bake(**named, plane="XZ", frame_range="CUSTOM", frame_start=FIRST, frame_end=LAST)
    expect(report.chains[0].frames == LAST - FIRST + 1, "the function reports other frames than it was asked for")
    expect(worst_miss(rig, target) <= TIP_TOLERANCE, "the function bakes elsewhere")


def expect(holds: bool, otherwise: str) -> None:  # noqa: FBT001 - reads as an assertion, which -O cannot remove
    if not holds:
        raise SystemExit(f"FAILED: {otherwise}")


main()
if not bpy.app.binary_path:  # The module of 4.2 may crash at a tidy exit once properties have been registered.
    sys.stdout.flush()
    os._exit(0)
