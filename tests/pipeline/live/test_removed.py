"""What Blender poses a limb with goes again with all that was made for it, and comes back where a run fails."""

import struct
from collections import Counter

import bpy
import pytest

from tests.pipeline.live.live_scene import apart, leg_on_a_body, moving_empty, needs_nodes, new_scene, seen
from tests.pipeline.live.test_exact import BONES, GIVEN, LEG
from twobone_addon.pipeline.live import go_live
from twobone_addon.scene.live.limbs import drop_limb, live_limbs
from twobone_addon.scene.writer import Transaction
from twobone_addon.settings import BakeSettings

pytestmark = needs_nodes

KINDS = ("objects", "meshes", "node_groups", "actions", "armatures", "collections")


def everything():
    """Names and users of all datablocks, and how many constraints, modifiers and drivers there are."""
    counts = {(kind, block.name): block.users for kind in KINDS for block in getattr(bpy.data, kind)}
    for thing in bpy.data.objects:
        bones = thing.pose.bones if thing.pose else ()
        data = thing.animation_data
        counts["lengths", thing.name] = (
            [len(bone.constraints) for bone in bones],
            len(thing.modifiers),
            len(data.drivers) if data else None,
            len(thing.keys()),
        )
    return counts


def blocks(folder):
    """How many blocks of each kind and length the saved file has, but for those of windows and the saved settings."""
    path = folder / "blocks.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, compress=False)
    data, counts, owner = path.read_bytes(), Counter(), b""
    place = int(data[7:9])  # The header of files since 5.0 begins with its own length.
    while place < len(data):
        code, _, _, length, _ = struct.unpack_from("<4sIQQQ", data, place)
        owner = owner if code == b"DATA" else code.rstrip(b"\0")
        if owner in {b"OB", b"AR", b"AC", b"NT", b"ME", b"GR", b"LI", b"SC"}:
            counts[owner, code, length] += 1
        place += struct.calcsize("<4sIQQQ") + length
    return counts


def two_limbs():
    new_scene()
    moving_empty("T")
    moving_empty("T2", place=(0.25, -0.5, -0.1), radius=0.15, phase=2.0)
    return leg_on_a_body()


UPPER = {**LEG, **GIVEN, "end_rotation": "TARGET", "target": "Rig", "target_bone": "control", "influence": 0.5}
LOWER = {**LEG, **GIVEN, "upper": "up2", "lower": "lo2", "tip": "lo2", "target": "T2", "plane": "YZ"}


def go(*limbs):
    with Transaction() as changes, changes.noting():
        for settings in limbs:
            go_live(bpy.context.scene, BakeSettings(**settings))


def test_the_last_limb_leaves_nothing_behind(empty_file, tmp_path):
    rig = two_limbs()
    before, blocks_before = everything(), blocks(tmp_path)
    go(UPPER, LOWER)
    assert blocks(tmp_path) != blocks_before
    first, second = sorted(live_limbs(rig), key=lambda limb: limb.bones)
    for number, limb in enumerate((first, second)):
        with Transaction() as changes, changes.noting():
            drop_limb(limb)
        assert len(live_limbs(rig)) == 1 - number
    assert everything() == before
    assert blocks(tmp_path) == blocks_before


def test_another_limb_still_follows_when_one_is_taken_away(empty_file):
    rig = two_limbs()
    go(UPPER, LOWER)
    before = seen(rig, ["up2", "lo2"])
    alone = two_limbs()
    go(LOWER)
    moved_without = seen(alone, ["up2", "lo2"])
    rig = two_limbs()
    go(UPPER, LOWER)
    with Transaction() as changes, changes.noting():
        drop_limb(next(limb for limb in live_limbs(rig) if "up" in limb.bones))
    assert apart(seen(rig, ["up2", "lo2"]), moved_without) <= 1e-6
    assert apart(before, moved_without) > 1e-2


def test_a_run_that_fails_has_made_and_removed_nothing(empty_file):
    rig = two_limbs()
    go(UPPER)
    before, posed = everything(), seen(rig, BONES)

    def fail():
        with Transaction() as changes, changes.noting():
            go_live(bpy.context.scene, BakeSettings(**LOWER))
            drop_limb(next(limb for limb in live_limbs(rig) if "up" in limb.bones))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert everything() == before
    assert apart(seen(rig, BONES), posed) == 0.0


def test_no_view_layer_and_no_collection_has_the_helpers(empty_file):
    two_limbs()
    go(UPPER, LOWER)
    made = [thing for thing in bpy.data.objects if thing.name.startswith("IK ")]
    assert len(made) >= 3
    assert not any(thing.users_collection or thing.users_scene for thing in made)


def test_a_purge_and_a_file_that_is_opened_again_keep_what_poses_the_limb(empty_file, tmp_path):
    rig = two_limbs()
    go(UPPER, LOWER)
    before, posed = everything(), seen(rig, [*BONES, "up2", "lo2"])
    for _ in range(2):
        bpy.ops.outliner.orphans_purge(do_recursive=True)
        assert everything() == before
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "limbs.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "limbs.blend"))
    assert everything() == before
    assert apart(seen(bpy.data.objects["Rig"], [*BONES, "up2", "lo2"]), posed) == 0.0
