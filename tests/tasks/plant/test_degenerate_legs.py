"""Legs of degenerate geometry: planted or refused with a sentence, and never a key that is not a number."""

import json
import math
import random

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.tasks.checks.all_keys import all_keys
from tests.tasks.checks.seen_walk import plant
from tests.tasks.rigs.walker import Walk, build_walker, key_contacts

DRAWS = range(12)
FRAMES = 16


SPOILED = {
    "no foot": lambda bones, tiny: {"toe": bones["foot"].head.lerp(bones["toe"].head, tiny)},
    "upright foot": lambda bones, tiny: {"toe": bones["foot"].head.lerp(bones["shin"].head, tiny)},
    "short thigh": lambda bones, tiny: {"shin": bones["thigh"].head.lerp(bones["shin"].head, tiny)},
    "short shin": lambda bones, tiny: {"foot": bones["shin"].head.lerp(bones["foot"].head, tiny)},
    "backwards": lambda bones, _: {"toe": bones["toe"].head * Vector((1.0, -1.0, 1.0))},
    "straight": lambda bones, _: {
        "shin": bones["thigh"].head - Vector((0.0, 0.0, 0.4)),
        "foot": bones["thigh"].head - Vector((0.0, 0.0, 0.8)),
        "toe": bones["thigh"].head - Vector((0.0, 0.0, 0.9)),
    },
    "whole": lambda *_: {},
}
"""New heads of the bones of a leg, from all its edit bones and a small part."""


def degenerate_walker(seed):
    """A walker whose bones and poses are spoiled by chance, with contacts keyed by chance."""
    draw = random.Random(seed)  # noqa: S311 - nothing is secret
    armature, states = build_walker(Walk(frames=FRAMES, slide=draw.choice([0.0, 0.03, 0.2])))
    bpy.ops.object.mode_set(mode="EDIT")
    for side in "LR":
        bones = {name: armature.data.edit_bones[f"{name}.{side}"] for name in ("thigh", "shin", "foot", "toe")}
        for name, head in SPOILED[draw.choice(list(SPOILED))](bones, draw.choice([1e-5, 1e-3, 0.02])).items():
            bones[name].head = head
        if draw.random() < 0.15:
            armature.data.edit_bones.remove(bones["toe"])
            armature.twobone.chains[f"leg.{side}"].toe = ""
    bpy.ops.object.mode_set(mode="OBJECT")
    armature.rotation_euler = draw.choice([(0, 0, 0), (math.pi / 2, 0, 0), (math.pi, 0, 0), (0.3, 1.2, 2.0)])
    armature.scale = draw.choice([(1, 1, 1), (100, 100, 100), (1, 1, -1), (1, 0.2, 1), (1e-4, 1e-4, 1e-4)])
    if draw.random() < 0.7:
        states = {side: np.array(draw.choices([0, 1, 2, 3, 3], k=FRAMES)) for side in "LR"}
        for each in states.values():
            each[4:12] = draw.choice([1, 2, 3])
        key_contacts(armature, states)
    return armature


@pytest.mark.parametrize("seed", DRAWS)
def test_no_key_is_other_than_a_number(empty_file, seed):
    armature = degenerate_walker(seed)
    plant()
    numbers = [number for keys in all_keys(armature).values() for *key, _, _, _ in keys for number in key]
    assert np.isfinite(numbers).all()


def test_a_body_that_lies_is_said_and_left(empty_file):
    armature, _ = build_walker(Walk(frames=40))
    armature.rotation_euler.x = math.pi / 2
    before = all_keys(armature)
    report = plant()
    assert report["sentence"] == "No foot contacts found; nothing was changed"
    assert bpy.ops.twobone.audit() == {"FINISHED"}
    audit = json.loads(bpy.context.window_manager.twobone_report)
    for notes in (report["notes"], audit["notes"]):
        assert any("wrong up axis" in said for said in notes)
    assert all(limb["skate_share"] is None for limb in audit["chains"])
    assert all_keys(armature) == before
