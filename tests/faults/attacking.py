"""What every attack must end in: a finite report of what Blender then shows, or one sentence with the file as it was."""

import json
import math

import bpy

from tests.command_line.shots import store_chain
from tests.tasks.checks.checking import RIG
from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.checks.targets import curves_of
from tests.tasks.scenes import FRAMES, LEG, add_empty, build_armature, key_places, set_range


def make_leg(first=1, last=6, **names):
    """A leg in a range of frames, and a target that moves within its reach; returns armature and target."""
    set_range(first, last)
    rig = build_armature(LEG, names.get("rig", "Rig"))
    target = add_empty(names.get("target", "Target"))
    key_places(target, [(0.1, 0.9, 0.5 + 0.1 * frame) for frame in range(6)], FRAMES[0])
    bpy.context.scene.frame_set(first)
    return rig, target


def store_leg(rig, target, name="leg", **settings):
    """Keep the leg on its armature, as the panel does."""
    return store_chain(rig, target, name, **{"plane": "YZ", **settings})


def bake_all():
    return bpy.ops.twobone.bake_all(scope="SCENE")


def bake_leg(**settings):
    return bpy.ops.twobone.bake(**{**RIG.names(), **settings})


def report_or_refusal(operator=bake_leg, **settings):
    """The report of a bake of which every number and every key is finite, or the sentence of one that changed nothing."""
    before, things = dump_file(), names_of_datablocks()
    try:
        ended = operator(**settings)
    except RuntimeError as error:
        sentence = str(error).removeprefix("Error: ").strip()
        assert_one_sentence(sentence)
        assert differences(before, dump_file()) == []
        return sentence
    assert ended == {"FINISHED"}
    new = names_of_datablocks() - things
    assert all(name.startswith("actions ") for name in new), new
    report = json.loads(bpy.context.window_manager.twobone_report, parse_constant=_refuse_constant)
    for chain in report["chains"]:
        assert_finite_keys(bpy.data.objects[chain["armature"]])
    return report


def assert_one_sentence(sentence):
    """What is wrong, what was found, how to put it right: for a person, without the program's own words."""
    assert "Traceback" not in sentence, sentence
    assert sentence[0].isupper(), sentence
    assert sentence.endswith("."), sentence


def assert_finite_keys(rig):
    values = [value for fcurve in curves_of(rig) for key in fcurve.keyframe_points for value in key.co]
    assert all(map(math.isfinite, values))


def names_of_datablocks():
    kinds = ("objects", "scenes", "actions", "armatures", "collections")
    return {f"{kind} {block.name}" for kind in kinds for block in getattr(bpy.data, kind)}


def _refuse_constant(name):
    raise AssertionError(f"{name} in a report")
