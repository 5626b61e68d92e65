"""Whether constants of Find Limbs and of feet that were chosen on few rigs hold on sources on which they were not chosen.

Run: python tests/benchmark/bench_limbs_left_out.py

For each source, each constant is set to the middle of the interval in which all other sources are right, and the source itself is
judged with that. Sources: rigs made by others in `shared/data` beside the checkout, Rigify's metarigs, the characters of
tests/core/limbs. A rig is right if all its limbs are found and nothing else, with its names and without; feet are right if
hooves and hind paws have no heel, and people's feet have one. Rigs that are wrong with the constants as they are say nothing of
them: they are counted only. What is absent is skipped, and said.
"""

import json
import os
import sys
from pathlib import Path

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.core.limbs import characters
from tests.core.limbs.builder import renamed
from tests.core.limbs.table import read_table
from tests.real.limbs_of_rigs import ANIMALS, FILES, METARIGS, of_animal, of_file, of_metarig
from twobone_addon import registration
from twobone_addon.core.contacts import points
from twobone_addon.core.limbs.body import judging
from twobone_addon.core.limbs.finding import find_limbs
from twobone_addon.core.limbs.tree import candidates
from twobone_addon.pipeline.plan.completing import names_of
from twobone_addon.tasks import find_limbs as task
from twobone_addon.tasks.find_contacts.plan import foot_plan

DATA = Path(os.environ.get("TWOBONE_TEST_DATA", ROOT.parent / "shared" / "data"))
PARTS = np.linspace(0.0, 1.0, 21)
TRIED = {
    "STUB": (candidates, PARTS),
    "LEG_TURN": (candidates, np.radians(90.0 * PARTS)),
    "SHORT": (judging, PARTS),
    "SHORT_OF_LEGS": (judging, PARTS),
}
"""Constants of Find Limbs: their modules, and the values that are tried."""
CARRIED = 0.5 * np.linspace(0.0, 1.0, 101)
SOURCES = {
    "Quaternius": ("Horse.glb", "Wolf.glb"),
    "Mesh2Motion": ("fox-animations.glb", "horse-animations.glb", "kaiju-animations.glb", "spider-animations.glb"),
    "Khronos": ("Fox.glb",),
    "KayKit": ("kaykit_Med_MovementBasic.glb",),
    "ozz-animation": ("ozz_pab_run.fbx",),
    "VRM": ("vrm_armature_transform.blend",),
    "CMU": ("cmu_02_01_walk.bvh", "cmu_131_01_walk.bvh", "cmu_91_50_leaf_feet.fbx"),
    "suit": ("suit_dance_100fps.bvh",),
    "Animated Drawings": ("lying_zombie_zup.bvh",),
}
NO_HEEL = {
    "fox-animations.glb": "Back", "horse-animations.glb": "", "kaiju-animations.glb": "", "basic_quadruped": "thigh",
    "wolf": "thigh", "cat": "thigh", "horse": "",
}  # fmt: skip
"""By rig, how upper bones of legs begin that stand on hooves or the toes of hind paws."""
HEELS = {*FILES, *SOURCES["CMU"], *SOURCES["suit"], *SOURCES["Animated Drawings"], "human", "basic_human"}
"""Rigs of people."""


def main():
    registration.register()
    read, find = [], task.find_limbs
    task.find_limbs = lambda skeleton: read.append(skeleton) or find(skeleton)
    skeletons, feet = {}, {}
    for source, rig, armature, expected in rigs():
        bpy.ops.twobone.find_limbs(armature=armature.name)
        limbs = json.loads(bpy.context.window_manager.twobone_report)["limbs"]
        if expected is not None:
            skeletons.setdefault(source, []).append((read[-1], expected))
        feet.setdefault(source, []).extend(judged_feet(rig, armature, limbs))
    for source, drawn in (("table of characters", read_table()), ("drawn by hand", made())):
        skeletons[source] = list(drawn.values())
    cases = {source: [case for each in known for case in named_and_not(*each)] for source, known in skeletons.items()}
    print("cases that say something:", {source: f"{sum(map(is_right, known))}/{len(known)}" for source, known in cases.items()})
    cases = {source: [case for case in known if is_right(case)] for source, known in cases.items()}
    for name, (module, values) in TRIED.items():
        now = getattr(module, name)
        right = {source: [] for source in cases}
        for value in values:
            setattr(module, name, value)
            for source, known in cases.items():
                right[source].append(all(map(is_right, known)))
        setattr(module, name, now)
        show(name, now, values, {source: np.array(each) for source, each in right.items()})
    show("CARRIED", points.CARRIED, CARRIED, {source: np.all(each, axis=0) for source, each in feet.items() if each})


def rigs():
    """Source, name, armature and limbs (`None` where nobody has listed them) of each rig that is there."""
    for source, files in SOURCES.items():
        for file in files:
            path = next((at / file for at in (DATA, DATA / "motion", DATA / "motion" / "animals") if (at / file).exists()), None)
            if path is None:
                print("absent:", file)
                continue
            known = of_animal(file) if file in ANIMALS else of_file(file) if file in {*FILES, "Fox.glb"} else None
            yield source, file, opened(path), known
    import addon_utils  # can be found once bpy is loaded

    for metarig in METARIGS:
        empty()
        addon_utils.enable("rigify", default_set=True)
        getattr(bpy.ops.object, f"armature_{metarig}_metarig_add")()
        if METARIGS[metarig]:
            yield "Rigify", metarig, bpy.context.view_layer.objects.active, of_metarig(metarig, generated=False)


def opened(path):
    empty()
    if path.suffix == ".bvh":
        bpy.ops.import_anim.bvh(filepath=str(path))
    elif path.suffix == ".glb":
        bpy.ops.import_scene.gltf(filepath=str(path))
    elif path.suffix == ".fbx":
        bpy.ops.import_scene.fbx(filepath=str(path))
    else:
        bpy.ops.wm.open_mainfile(filepath=str(path))
    return next(thing for thing in bpy.data.objects if thing.type == "ARMATURE")


def empty():
    """Factory settings switch add-ons off."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    if not hasattr(bpy.types.Object, "twobone"):
        registration.register()


def made():
    return {name: (make().skeleton(), limbs) for name, (make, limbs) in characters.ALL.items()}


def named_and_not(skeleton, expected):
    """The skeleton, what its bones are called in the limbs, and the limbs without sides: as it is, and without names."""
    limbs = {(kind, *bones) for kind, _, *bones in expected}
    yield skeleton, {name: name for name in skeleton.names}, limbs
    yield *renamed(skeleton, 1), limbs


def is_right(case):
    skeleton, names, limbs = case
    found = find_limbs(skeleton).limbs
    return {(limb.kind.value, *(names[bone] for bone in (limb.upper, limb.lower, limb.tip))) for limb in found} == limbs


def judged_feet(rig, armature, limbs):
    """For each leg of which it is known whether it has a heel, whether that is so with each of the values `CARRIED`."""
    now, rows = points.CARRIED, []
    for limb in limbs:
        has_none = rig in NO_HEEL and limb["upper"].startswith(NO_HEEL[rig])
        if limb["kind"] == "LEG" and limb["toe"] and (rig in HEELS or has_none):
            chain, row = next(each for each in armature.twobone.chains if each.upper == limb["upper"]), []
            for points.CARRIED in CARRIED:
                foot = foot_plan(armature, chain.name, names_of(chain), chain.toe).points
                row.append(np.array_equal(foot.heel, foot.ball) == has_none)
            rows.append(row)
    points.CARRIED = now
    return rows


def show(name, now, values, right):
    """The interval around the value as it is in which all are right; by source that of the others, and if its middle holds."""
    first, last = interval(values, now, right.values())
    print(f"\n{name} {now:.3g}: all right from {first:.3g} to {last:.3g}")
    for source, own in right.items():
        low, high = interval(values, now, [each for other, each in right.items() if other != source])
        middle = (low + high) / 2.0
        said = "right" if own[np.abs(values - middle).argmin()] else "WRONG"
        if not own.all() or said == "WRONG":
            print(f"  without {source:20} {low:.3g} to {high:.3g}, middle {middle:.3g}: {said}")


def interval(values, now, right):
    """First and last value of the run around the value as it is in which all are right."""
    together = np.all(list(right), axis=0)
    place = np.abs(values - now).argmin()
    wrong = np.flatnonzero(~together)
    return values[max(wrong[wrong < place], default=-1) + 1], values[min(wrong[wrong > place], default=len(values)) - 1]


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
