"""A walk copied to the FK of Rigify's human: refused while IK shows, finished with its sliders at FK. A program of its own."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

import bpy
import numpy as np
import pytest

from tests.benchmark.retargets import copy_rotations, keys_of, roles, seen
from tests.real.generated_rigs import generated_rig, run_and_leave
from tests.tasks.rigs.walker import BALL, BOTH, Walk, build_walker
from twobone_addon import registration

LAST = 20
LEGS = "thigh{0}.{{}} shin{0}.{{}} foot{0}.{{}} toe{0}.{{}}"
NEAR = 0.01
"""Leg lengths within which a foot stands."""


def walker():
    """A walker whose left is left as it goes, and what stands by side."""
    source, states = build_walker(Walk(frames=LAST))
    source.name = "Source"
    source.twobone.chains.clear()
    for bone in ("thigh", "shin", "foot", "toe"):
        for side, other in ("L-", "RL", "-R"):
            source.data.bones[f"{bone}.{side}"].name = f"{bone}.{other}"
    return source, {"L": states["R"], "R": states["L"]}


def main():
    registration.register()
    rig = generated_rig("basic_human")
    source, states = walker()
    named = roles("hips", f"- - - - {LEGS.format('')}", "L", "R")
    own = roles("torso", f"- - - - {LEGS.format('_fk')}", "L", "R")
    frames = np.arange(1, LAST + 1)
    copy_rotations((source, named), (rig, own), frames, splayed=False, root="legs")
    before = keys_of(rig)
    with pytest.raises(RuntimeError, match="Switch All Limbs to FK"):
        bpy.ops.twobone.finish_retarget(armature=rig.name, source="Source")
    assert keys_of(rig) == before
    for side in "LR":
        legs = {"upper": f"thigh_fk.{side}", "lower": f"shin_fk.{side}"}
        assert bpy.ops.twobone.switch(armature=rig.name, **legs, to="FK", motion="KEEP") == {"FINISHED"}
    assert keys_of(rig).items() >= before.items(), "the copied motion was changed"
    assert bpy.ops.twobone.finish_retarget(armature=rig.name, source="Source") == {"FINISHED"}
    leg = sum(rig.data.bones[f"{bone}_fk.L"].length for bone in ("thigh", "shin"))
    shown = seen(rig, {side: f"DEF-toe.{side}" for side in "LR"}, frames)
    stood = 0
    for side in "LR":
        floor = rig.data.bones[f"DEF-toe.{side}"].head_local.z
        on = np.isin(states[side], (BALL, BOTH)).astype(int)
        for first, end in np.flatnonzero(np.diff([0, *on, 0])).reshape(-1, 2):
            places = shown[side][first + 1 : end - 1, :3, 3]
            if len(places) > 1:
                stood += 1
                assert np.ptp(places, axis=0).max() <= NEAR * leg, (side, first)
                assert np.abs(places[:, 2] - floor).max() <= NEAR * leg, (side, first)
    assert stood
    print("Rigify's feet stand where the source's do")


if __name__ == "__main__":
    run_and_leave(main)
