"""Rigs, motions and settings by the dice, baked, and held against the pages and textbook geometry; nothing here is the product's.

`TWOBONE_RANDOM_RIGS=2000` tries that many, other ones every `TWOBONE_RANDOM_SEED`.
"""

import json
import math
import os
import random

import bpy
import numpy as np
import pytest

from tests.blank import empty
from tests.tasks.checks.measuring import LETTER_AXES, PROMISE, Evaluated, evaluate
from tests.tasks.rigs.random_rig import FRAMES, PREVIEW, build_random_rig, build_random_target, random_settings
from tests.tasks.scenes import sentence_of

BATCHES = 20
CASES = int(os.environ.get("TWOBONE_RANDOM_RIGS", "160"))
SEED = int(os.environ.get("TWOBONE_RANDOM_SEED", "1"))

AT_THE_LIMIT = 3e-6
"""Part of the chain's length, and of its distance from the armature's origin, that single precision leaves open."""

SEEN = 1e-3
"""Sine of a bend from which its side can be told."""


@pytest.mark.parametrize("batch", range(BATCHES))
def test_what_the_pages_promise_holds_for_any_rig_and_settings(registered_addon, batch):
    for number in range(batch, CASES, BATCHES):
        check_case(f"{SEED}/{number}")


def check_case(name):
    dice = random.Random(name)  # noqa: S311 - the same dice every time
    empty()
    rig, limb, even = build_random_rig(dice)
    target = build_random_target(rig, limb, dice)
    settings = random_settings(dice, rig)
    named = {**limb.names(), "tip": limb.carrier, "tip_end": "TAIL", "target": target.name}
    posed = evaluate(rig, limb, range(FRAMES[0], FRAMES[1] + 1)).joints
    bpy.context.scene.frame_set(dice.randrange(-3, 9))
    before = bpy.context.scene.frame_current
    try:
        bpy.ops.twobone.bake(**named, **settings)
    except RuntimeError as error:
        sentence_of(error)
        return
    report = json.loads(bpy.context.window_manager.twobone_report)["chains"][0]
    assert bpy.context.scene.frame_current == before, name
    first, last = PREVIEW if settings["frame_range"] == "PREVIEW" else FRAMES
    assert (report["frame_start"], report["frame_end"]) == (first, last), name
    frames = keyed_frames(settings, first, last)
    baked = evaluated(rig, limb, frames, target, settings)
    assert np.isfinite(baked.joints).all(), (name, settings)
    counted = sum(report[kind] for kind in ("reached", "too_far", "too_near", "degenerate"))
    assert counted == report["frames"], name
    reached = ~np.array([any(first <= frame <= last for first, last in report["out_of_reach"]) for frame in frames])
    told = Told(name, settings, baked, reached & (report["degenerate"] == 0), slack(report, settings))
    if "influence" in settings:
        if settings["influence"] == 0.0 and settings["keys"] in {"FRAMES", "REDUCE"} and settings["reach"] != "STRETCH":
            told.check_unmoved(posed)
        return
    # Links whose length or direction hangs on more than their own turn are brought onto targets in the plane, no further.
    if even or not told.in_limb:
        told.check_reached()
        told.check_side()
    if even:
        told.check_depth()
        told.check_limits()
    if even and report["plane_held"] == 0 and settings["keys"] != "REDUCE":
        told.check_ring()


def keyed_frames(settings, first, last):
    """Frames at which the bake promises the pose, between the first and the last key."""
    if settings["keys"] == "CHAIN_KEYS":
        inside = [frame for frame in FRAMES if first <= frame <= last]
        return np.array(inside)
    return np.unique([*np.arange(first, last, settings.get("step", 1.0)), last])


def slack(report, settings):
    """What reducing keys may let the tip drift, in units of the world; nothing else may."""
    return report["max_drift"] + 1e-5 if settings["keys"] == "REDUCE" else 0.0


def evaluated(rig, limb, frames, target, settings):
    """What Blender makes of the keys, in the plane that was asked for; in limb planes that of the limb itself."""
    letters = settings["plane"] if settings["plane"] in LETTER_AXES else "XY"
    baked = evaluate(rig, limb, frames, target=target, plane=letters, plane_space=settings["plane_space"])
    if settings["plane"] == "OBJECT":
        spanning = np.array(bpy.data.objects["Spanning"].matrix_world)[:3, :3]
        axes = np.linalg.inv(baked.worlds)[:, :3, :3] @ spanning[:, :2]
    elif settings["plane"] in LETTER_AXES:
        return baked
    else:
        line, bent = baked.targets - baked.joints[:, 0], baked.joints[:, 1] - baked.joints[:, 0]
        axes = np.stack([line, bent], axis=-1)
    return Evaluated(baked.frames, baked.joints, baked.worlds, axes, baked.targets)


class Told:
    """A baked case, and what can be said of it."""

    def __init__(self, name, settings, baked, reached, slack):
        self.case, self.settings, self.baked, self.reached, self.slack = (name, settings), settings, baked, reached, slack
        self.in_limb = settings["plane"] in {"REST", "POLE", "POSE"}
        self.world = np.cbrt(np.abs(np.linalg.det(baked.worlds[:, :3, :3])))

    def check_unmoved(self, posed):
        """Without influence nothing moves; `posed` `(F, 3, 3)` are the joints before, at every whole frame."""
        whole = self.baked.frames % 1.0 == 0.0
        before = posed[self.baked.frames[whole].astype(int) - FRAMES[0]]
        moved = np.linalg.norm(self.baked.joints[whole] - before, axis=-1)
        assert np.all(moved <= 1e-5 * self.baked.scales.max() + self.slack / self.world.min()), (*self.case, moved)

    def check_reached(self):
        """A frame that counts as reached has its tip on the target, or on its projection on the plane."""
        if self.settings["reach"] == "SOFTEN" or "softness_near" in self.settings or "max_distance" in self.settings:
            return  # eased and held tips stay behind by intention
        baked = self.baked
        off = np.linalg.norm(baked.joints[:, 2] - baked.targets, axis=-1) if self.in_limb else baked.errors
        allowed = 1.5 * PROMISE * baked.scales + 3.0 * self.slack / self.world
        assert np.all(off[self.reached] <= allowed[self.reached]), (*self.case, off, allowed, self.reached)

    def check_side(self):
        """The side of the bend is the asked one, as seen in the plane's own space; with a pole that of the pole.

        Joint limits may leave the other side only.
        """
        if "use_limits" in self.settings:
            return
        sign = {"POSITIVE": 1.0, "NEGATIVE": -1.0, "KEEP": 0.0}[self.settings["bend"]]
        if self.settings["plane"] == "POLE":
            pole = np.array(bpy.data.objects["Pole"].matrix_world.translation)
            poles = np.array([np.linalg.solve(world, [*pole, 1.0])[:3] for world in self.baked.worlds])
            line = unit(self.baked.joints[:, 2] - self.baked.joints[:, 0])
            towards = across(poles - self.baked.joints[:, 0], line)
            knees = across(self.baked.joints[:, 1] - self.baked.joints[:, 0], line)
            bend = np.linalg.norm(np.cross(*np.moveaxis(unit(self.baked.links), 1, 0)), axis=-1)
            clear = (bend > 0.05) & (np.linalg.norm(towards, axis=-1) > 0.05)
            assert np.all(sign * np.sum(unit(towards) * unit(knees), axis=-1)[clear] >= 0.0), self.case
        elif not self.in_limb:
            seen = self.baked.seen_bends
            wrong = sign * seen < -SEEN
            assert not np.any(wrong & self.reached), (*self.case, seen)

    def check_depth(self):
        """Flattened links lie in the plane."""
        if self.settings["depth"] == "FLATTEN" and not self.in_limb and self.settings["keys"] != "REDUCE":
            assert np.abs(self.baked.depths / self.baked.scales[:, None]).max() <= 1e-5, self.case

    def check_limits(self):
        """The bend that is seen in the plane is one that the limits allow."""
        if "use_limits" not in self.settings or self.in_limb or self.settings["keys"] == "REDUCE":
            return
        links = unit(self.baked.links_plane)
        mirrored = np.sign(np.linalg.det(np.einsum("fij,fik->fjk", self.baked.plane[:, :, :2], self.baked.axes)))
        bends = mirrored * np.arctan2(np.linalg.det(links), np.sum(links[:, 0] * links[:, 1], axis=-1))
        low, high = self.settings["lower_min"] - SEEN, self.settings["lower_max"] + SEEN
        turns = np.round((bends - 0.5 * (low + high)) / (2.0 * np.pi))
        bends -= 2.0 * np.pi * turns
        assert np.all((bends >= low) & (bends <= high)), (*self.case, bends, low, high)

    def check_ring(self):
        """The tip is as far from the root joint as a triangle with these sides lets it, and in the target's direction."""
        if self.settings.keys() & {"use_limits", "softness_near"}:
            return
        baked = self.baked
        links = np.linalg.norm(baked.links if self.in_limb else baked.links_plane, axis=-1)
        tips = baked.joints[:, 2] - baked.joints[:, 0] if self.in_limb else baked.tips_plane
        aims = baked.targets - baked.joints[:, 0] if self.in_limb else baked.targets_plane
        distances, got = np.linalg.norm(aims, axis=-1), np.linalg.norm(tips, axis=-1)
        near, far = np.abs(links[:, 0] - links[:, 1]), links.sum(axis=-1)
        if "max_distance" in self.settings:
            distances = np.clip(distances, self.settings["min_distance"] / self.world, self.settings["max_distance"] / self.world)
        margin = AT_THE_LIMIT * baked.scales
        if self.settings["reach"] == "STRETCH":
            wanted = np.maximum(distances, near)
            stretched = distances > far + margin
            # Stretched as far as is allowed, a chain is straight; else the tip is there.
            wanted = np.where(stretched, far, wanted)
        elif self.settings["reach"] == "SOFTEN":
            wanted = np.array([softened(*row, self.settings["softness"]) for row in zip(distances, links, strict=True)])
        else:
            wanted = np.clip(distances, near, far)
            outside = (distances > far + margin) | (distances < near - margin)
            assert not np.any(outside & self.reached), (*self.case, distances, near, far)
            inside = (distances < far - margin) & (distances > near + margin)
            assert not np.any(inside & ~self.reached) or "max_distance" in self.settings, (*self.case, distances, near, far)
        clear = distances > 0.01 * far
        turned = np.linalg.norm(unit(tips[clear]) - unit(aims[clear]), axis=-1)
        assert np.all(np.abs(got - wanted) <= 3 * margin), (*self.case, got, wanted)
        assert np.all(turned <= 1e-3), (*self.case, turned)


def softened(distance, links, softness):
    """How far the tip of a softened chain gets: from where softening begins its knee turns on at the speed it has there."""
    near, far = abs(links[0] - links[1]), links[0] + links[1]
    begin = max((1.0 - softness) * far, math.sqrt(near * far))
    if distance <= begin:
        return max(distance, near)
    cosine = (begin**2 - links[0] ** 2 - links[1] ** 2) / (2.0 * links[0] * links[1])
    knee = math.acos(max(-1.0, min(1.0, cosine)))
    speed = links[0] * links[1] * math.sin(knee) / begin
    left = max(knee - (distance - begin) / speed, 0.0)
    return math.sqrt(links[0] ** 2 + links[1] ** 2 + 2.0 * links[0] * links[1] * math.cos(left))


def unit(vectors):
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0.0)


def across(vectors, line):
    return vectors - line * np.sum(vectors * line, axis=-1, keepdims=True)
