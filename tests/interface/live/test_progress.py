"""What takes its time can be stopped: before its keys are written nothing has changed, afterwards they stay."""

import json

import bpy
import pytest

from tests.tasks.checks.file_dump import dump_file
from tests.tasks.scenes import LEG, add_empty, build_armature
from twobone_addon.interface.running.progress import Begun
from twobone_addon.pipeline.plan.stored import stored_settings
from twobone_addon.pipeline.run import run_steps
from twobone_addon.settings.tasks import BakeAllSettings, ConvertSettings, GiveSettings
from twobone_addon.tasks.bake import BAKE
from twobone_addon.tasks.convert.task import CONVERT
from twobone_addon.tasks.give.task import GIVE


def bake(scene, settings, _rig):
    return run_steps(scene, BAKE, BakeAllSettings(chains=(settings,)))


def bake_target(scene, settings, _rig):
    return run_steps(scene, GIVE, GiveSettings(chains=(settings,)))


def convert(scene, settings, rig):
    constraint = rig.pose.bones["lower"].constraints.new("IK")
    constraint.target, constraint.chain_count = bpy.data.objects[settings.target], 2
    return run_steps(scene, CONVERT, ConvertSettings(armature=settings.armature, evaluation=settings.evaluation))


@pytest.fixture(params=[bake, bake_target, convert], ids=lambda act: act.__name__)
def begun(empty_file, request):
    rig = build_armature(LEG)
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target, chain.evaluation = "Leg", "upper", "lower", add_empty(), "SCENE"
    bpy.context.scene.frame_set(7)
    bpy.context.scene.frame_end = 40
    settings = stored_settings(rig, chain, {})
    return Begun([], request.param(bpy.context.scene, settings, rig))


def test_stopped_before_writing_nothing_has_changed(begun):
    before = dump_file()
    begun.part = next(begun.steps)
    assert 0 < begun.part < 1
    assert begun.stop() is None
    assert dump_file() == before


def test_closed_before_writing_nothing_has_changed(begun):
    before = dump_file()
    next(begun.steps)
    begun.steps.close()
    assert dump_file() == before


def test_stopped_during_the_proof_the_keys_stay_without_a_proof(begun):
    while not any(bpy.data.objects[name].animation_data for name in ("Rig", "Target")):
        next(begun.steps)
    report = begun.stop()
    assert json.loads(report.to_json())["max_error"] is None
    assert report.chains[0].keys > 0
    assert bpy.context.scene.frame_current == 7


def test_left_alone_it_ends_with_the_report(begun):
    report = begun.work(60.0)
    assert report.chains[0].max_error < 1e-5
