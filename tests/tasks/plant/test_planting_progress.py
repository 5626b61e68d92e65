"""Plant Feet in a window: however long the motion, there is a look at the keyboard between any two parts of the work."""

import bpy
import pytest

from tests.tasks.rigs.walker import Walk, build_walker
from twobone_addon.pipeline.motion import sampling
from twobone_addon.pipeline.motion.sampling import CurveMotion
from twobone_addon.pipeline.run import run_steps
from twobone_addon.scene.sampling.stepping import Verifying
from twobone_addon.settings.feet import PlantSettings
from twobone_addon.tasks.plant import solve as solving
from twobone_addon.tasks.plant.keys import curves
from twobone_addon.tasks.plant.pose import calming
from twobone_addon.tasks.plant.task import PLANT

PARTS = ((curves, "solve_chain_pose"), (solving, "stand_still"), (calming, "stand_still"))


@pytest.mark.parametrize("where", PARTS, ids=["keys", "rounds", "calming"])
def test_each_part_of_the_work_is_followed_by_a_look_at_the_keyboard(empty_file, monkeypatch, where):
    room, part = where
    armature, _ = build_walker(Walk(slide=0.03, raised=0.03))
    done, whole = [], getattr(room, part)

    def counted(*arguments):
        done.append(1)
        return whole(*arguments)

    monkeypatch.setattr(room, part, counted)
    most, steps = 0, run_steps(bpy.context.scene, PLANT, PlantSettings(armature=armature.name))
    shares: list[float] = []
    for share in steps:
        if shares and isinstance(share, Verifying) == isinstance(shares[-1], Verifying):
            assert shares[-1] <= share <= 1.0
        shares.append(share)
        most = max(most, len(done))
        done.clear()
    assert most == 1 or (most == 0 and room is calming)
    assert len(done) <= 1


def test_curves_are_evaluated_with_looks_at_the_keyboard(empty_file, monkeypatch):
    armature, _ = build_walker(Walk(slide=0.03, raised=0.03))
    found, whole = [], CurveMotion.find
    monkeypatch.setattr(sampling, "SLICE", 0.0)
    monkeypatch.setattr(CurveMotion, "find", lambda *each: found.append(1) or whole(*each))
    for _ in run_steps(bpy.context.scene, PLANT, PlantSettings(armature=armature.name)):
        assert len(found) <= 2  # the last of one walk and the first of the next
        found.clear()
