"""Motion that is no motion: curves and channels that hold no number, or none that anything can reach."""

import math

import bpy
import pytest

from tests.faults.attacking import make_leg, report_or_refusal
from tests.tasks.checks.checking import RIG
from tests.tasks.checks.targets import curves_of
from tests.tasks.scenes import add_empty, key_channel

NO_NUMBERS = (math.nan, math.inf, -math.inf)
HUGE = (3e38, -1e30)
SPOILED_FRAME = 3
WAYS = (
    {},
    {"evaluation": "PROBES"},
    {"evaluation": "SCENE"},
    {"plane": "REST"},
    {"plane": "POLE", "pole": "Pole"},
    {"keys": "REDUCE"},
    {"interpolation": "BEZIER"},
    {"reach": "STRETCH"},
    {"reach": "SOFTEN", "softness": 0.2},
    {"use_limits": True, "lower_max": 1.0},
    {"target_offset": "KEEP"},
    {"joints": "ALL"},
)


def spoil(thing, value, index=1):
    """Let one key, and so the motion around it, be no number."""
    fcurve = curves_of(thing)[index]
    fcurve.keyframe_points[SPOILED_FRAME - 1].co.y = value
    fcurve.update()


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("value", [*NO_NUMBERS, *HUGE], ids=str)
def test_a_target_that_is_nowhere_at_one_frame(empty_file, value, way):
    _, target = make_leg()
    add_empty("Pole").location = (0, 5, 0)
    spoil(target, value)
    report = report_or_refusal(**{"target": "Target", "plane": "YZ", "bend": "POSITIVE", **way})
    assert report["frames"] == 6
    assert report["reached"] == 5
    assert report["max_error"] < 1e-5 or way.get("keys") == "REDUCE"


@pytest.mark.parametrize("value", [*NO_NUMBERS, *HUGE], ids=str)
@pytest.mark.parametrize("channel", ["location", "rotation_euler", "scale"])
@pytest.mark.parametrize("owner", ["armature", "parent bone", "upper bone", "pole", "plane object"])
def test_whatever_else_is_nowhere(empty_file, owner, channel, value):
    rig, _ = make_leg()
    owners = {"armature": rig, "parent bone": rig.pose.bones["parent"], "upper bone": rig.pose.bones["upper"]}
    spoiled = owners.get(owner) or add_empty("Pole")
    spoiled.rotation_mode = "XYZ"
    for frame in range(1, 7):
        key_channel(spoiled, channel, {frame: getattr(spoiled, channel)[:]})
    spoil(spoiled.id_data, value)
    plane = {"pole": {"plane": "POLE", "pole": "Pole"}, "plane object": {"plane": "OBJECT", "plane_object": "Pole"}}
    report_or_refusal(target="Target", **plane.get(owner, {"plane": "YZ"}))


@pytest.mark.parametrize(
    "scale", [(0, 0, 0), (0, 1, 1), (1, 1, 0), (1e-20,) * 3, (1e20,) * 3, (math.nan, 1, 1), (1, math.inf, 1)]
)
@pytest.mark.parametrize("plane_space", ["WORLD", "ARMATURE", "PARENT"])
def test_an_armature_scaled_to_nothing_or_beyond(empty_file, scale, plane_space):
    rig, _ = make_leg()
    rig.scale = scale
    bpy.context.view_layer.update()
    report_or_refusal(target="Target", plane="YZ", plane_space=plane_space)


@pytest.mark.parametrize(
    "inherit, scale",
    [("FULL", (0, 0, 0)), ("FULL", (0, 1, 1)), ("FIX_SHEAR", (0, 0, 0)), ("ALIGNED", (1, 1, 0)), ("AVERAGE", (0, 0, 0)),
     ("NONE", (0, 0, 0))],
)  # fmt: skip
@pytest.mark.parametrize("constrained", [False, True])
def test_a_parent_bone_that_goes_through_nothing(empty_file, scale, inherit, constrained):
    rig, _ = make_leg(last=SPOILED_FRAME + 1)
    for bone in rig.data.bones:
        bone.inherit_scale = inherit
    if constrained:
        rig.pose.bones["upper"].constraints.new("LIMIT_LOCATION")
    key_channel(rig.pose.bones["parent"], "scale", {1: (1, 1, 1), SPOILED_FRAME: scale, 5: (-1, -1, -1)})
    report_or_refusal(target="Target", plane="YZ")
    assert bpy.ops.twobone.bake(**RIG.names(), target="Target", plane="REST") == {"FINISHED"}


def test_a_stored_influence_that_is_no_number(empty_file):
    rig, target = make_leg()
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target = "leg", "upper", "lower", target
    for frame in range(1, 7):
        key_channel(chain, "influence", {frame: 1.0})
    spoil(rig, math.nan, 0)
    report_or_refusal(lambda: bpy.ops.twobone.bake_all(scope="SCENE"))
