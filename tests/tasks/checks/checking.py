"""Bake, measure, and hold the result against the promise: what most tests of the bake do."""

import numpy as np

from tests.tasks.checks.measuring import PROMISE, evaluate
from tests.tasks.scenes import Limb, bake

BENDS = ("POSITIVE", "NEGATIVE")
RIG = Limb("Rig")
PLANE_SETTINGS = ("plane", "plane_space", "target_bone")


STRAIGHT = 1e-3
"""Bend in radians below which a limb has no side: a target farther by a ten-millionth of its length makes as much of a bend."""


def assert_bake_reaches(rig, target, limb=RIG, **settings):
    """Bake with these settings, by default to the positive side of `YZ`, and assert that the tip is on the target."""
    report, baked = bake_and_evaluate(rig, target, limb, **settings)
    counts = {name: report[name] for name in ("frames", "reached", "too_far", "too_near", "degenerate")}
    assert report["reached"] == report["frames"] == len(baked.frames), counts
    assert_within_promise(baked)
    sign = -1.0 if settings.get("bend") == "NEGATIVE" else 1.0
    wrong = sign * baked.seen_bends <= -STRAIGHT
    assert not wrong.any(), f"wrong side at frames {baked.frames[wrong]}"
    return baked


def bake_and_evaluate(rig, target, limb=RIG, **settings):
    """The report, and what Blender makes of the keys."""
    settings = {"plane": "YZ", "plane_space": "ARMATURE", "bend": "POSITIVE", **settings}
    report = bake(limb, target=target.name, **settings)
    frames = np.arange(report["frame_start"], report["frame_end"] + 0.5)
    plane = {name: settings[name] for name in PLANE_SETTINGS if name in settings}
    return report, evaluate(rig, limb, frames, target=target, **plane)


def assert_within_promise(baked, frames=slice(None)):
    relative = (baked.errors / baked.scales)[frames]
    worst = int(np.argmax(relative))
    assert relative[worst] <= PROMISE, f"frame {baked.frames[frames][worst]}: {relative[worst]:.3g}"
