"""The motion of several actions given to the controls of the rig, after it was taken from them."""

import json

import bpy
import pytest

from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.rigs import many_actions
from tests.tasks.rigs.many_actions import character, moved, poses_of

NAMES = ("Act 00", "Act 01")
CHAIN = {
    "armature": "Hero",
    "upper": "upper leg.L",
    "lower": "lower leg.L",
    "target": "Hero",
    "target_bone": "control leg.L",
    "plane": "POLE",
    "pole": "Hero",
    "pole_bone": "pole leg.L",
}
NEAR = 1e-3


@pytest.fixture
def hero(empty_file):
    rig = character()
    many_actions.with_library(rig)
    return rig


def test_every_action_goes_back_to_its_controls(hero):
    before = {name: poses_of(hero, name) for name in NAMES}
    assert bpy.ops.twobone.bake_target(**CHAIN, actions=";".join(NAMES)) == {"FINISHED"}
    report = json.loads(bpy.context.window_manager.twobone_report)
    assert [entry["action"] for entry in report["chains"]] == list(NAMES)
    for name in NAMES:
        many_actions.play(hero, name)
        path = 'pose.bones["control leg.L"].location'
        keyed = {
            point.co[0] for curve in many_actions.curves_in(hero) if curve.data_path == path for point in curve.keyframe_points
        }
        assert keyed == set(map(float, many_actions.frames_of(name)))
    bones = [number for number, bone in enumerate(hero.pose.bones) if bone.name in {"upper leg.L", "lower leg.L"}]
    assert max(moved(before[name], poses_of(hero, name), bones) for name in NAMES) < NEAR


def test_loose_targets_are_refused(hero):
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Loose", None))
    with pytest.raises(RuntimeError, match="does not play its actions"):
        bpy.ops.twobone.bake_target(armature="Hero", upper="upper leg.L", lower="lower leg.L", target="Loose", actions="ALL")


def test_stopped_after_an_action_is_through_nothing_has_changed(hero):
    from twobone_addon.pipeline.run import SkipCheckError, run_steps
    from twobone_addon.settings import BakeSettings
    from twobone_addon.settings.tasks import GiveSettings
    from twobone_addon.tasks.give.task import GIVE

    many_actions.play(hero, NAMES[0])
    before = dump_file()
    steps = run_steps(bpy.context.scene, GIVE, GiveSettings(chains=(BakeSettings(**CHAIN),)), hero, actions=";".join(NAMES))
    while not hero.animation_data.action.name.startswith(NAMES[1]):
        next(steps)
    with pytest.raises(SkipCheckError):
        steps.throw(SkipCheckError())
    assert differences(before, dump_file()) == []
