"""Makes a shot, and lets the operators tell what they make of it. Runs inside Blender's own program:

    blender --background --python-exit-code 1 --python shots_scenario.py -- FOLDER SHOT DATA

SHOT is a file of DATA, a folder of real rigs, or "rigify". FOLDER gets `keys.blend`, whose stored chain follows a target,
`ik.blend`, whose limbs follow targets by IK, and what the operators report of them: `bake.json`, `target.json`, `convert.json`.
The zip is installed and enabled already.
"""

import os
import sys
import traceback
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.real.rigify_conversion_scenario import walk_on_ik
from tests.real.shots import ONE_OF_EACH_FILE, make_real_shot, store_with_target
from tests.tasks.scenes import Limb, set_range

RIGIFY = "rigify"
FRAMES = (3, 14)


def main(folder: Path, shot: str, data: Path) -> None:
    if shot == RIGIFY:
        make_rigify_shots(folder)
    else:
        make_data_shots(folder, shot, data)
    tell(folder, "keys", "bake", bpy.ops.twobone.bake)
    tell(folder, "keys", "target", bpy.ops.twobone.bake_target)
    tell(folder, "ik", "convert", lambda: bpy.ops.twobone.convert_ik(rigify=shot == RIGIFY))


def make_data_shots(folder: Path, shot: str, data: Path) -> None:
    bpy.ops.wm.read_homefile(use_empty=True)
    armature, chain = make_real_shot(data, ONE_OF_EACH_FILE[shot])
    save(folder / "keys.blend")
    constraint = armature.pose.bones[chain.tip].constraints.new("IK")
    constraint.target, constraint.chain_count, constraint.use_tail = chain.target, 2, False
    save(folder / "ik.blend")


def make_rigify_shots(folder: Path) -> None:
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.preferences.addon_enable(module="rigify")
    bpy.ops.object.armature_basic_human_metarig_add()
    bpy.ops.pose.rigify_generate()
    rig = bpy.context.view_layer.objects.active
    set_range(*FRAMES)
    walk_on_ik(rig)
    save(folder / "ik.blend")
    rig.pose.bones["thigh_parent.L"]["IK_FK"] = 1.0
    store_with_target(rig, Limb(rig.name, "thigh_fk.L", "shin_fk.L", carrier="foot_fk.L", at_tail=False))
    save(folder / "keys.blend")


def save(path: Path) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(path), check_existing=False)


def tell(folder: Path, shot: str, name: str, operator) -> None:
    """Open the shot afresh, run the operator, and keep its report."""
    bpy.ops.wm.open_mainfile(filepath=str(folder / f"{shot}.blend"))
    if operator() != {"FINISHED"}:
        raise RuntimeError(name)
    (folder / f"{name}.json").write_text(bpy.context.window_manager.twobone_report, encoding="utf-8")


if __name__ == "__main__":
    code = 1
    try:
        folder, shot, data = sys.argv[sys.argv.index("--") + 1 :]
        main(Path(folder), shot, Path(data))
        code = 0
    except (AssertionError, RuntimeError, KeyError):
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)  # Some versions of Blender do not survive their own exit after Rigify has made a rig.
