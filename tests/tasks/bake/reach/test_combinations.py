"""The promise in any combination: plane, space, depth, flags of both bones, scale of parent and object, rotation modes."""

import numpy as np
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from tests.blank import empty
from tests.tasks.checks.checking import BENDS, RIG, assert_bake_reaches, assert_within_promise, bake_and_evaluate
from tests.tasks.checks.targets import posed_target
from tests.tasks.scenes import LEG, bent, build_armature, key_channel, set_range

FRAMES = (1, 8)
SKEWED = bent(bent(LEG, "upper", tail=(0.4, -0.3, 0.3), roll=0.4), "lower", head=(0.4, -0.3, 0.3), tail=(-0.1, 0.5, -0.4))

inherits = st.sampled_from(("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY"))
flags = st.tuples(inherits, st.booleans(), st.booleans())
factors = st.floats(0.6, 1.6)
mirrors = st.sampled_from((1.0, 1.0, -1.0))
uneven = st.tuples(factors, factors, factors, mirrors).map(lambda drawn: (drawn[0] * drawn[3], drawn[1], drawn[2]))
even = factors.map(lambda factor: (factor,) * 3)
modes = st.sampled_from(("QUATERNION", "AXIS_ANGLE", "XYZ", "ZXY", "YZX"))
angles = st.tuples(*[st.floats(-3, 3)] * 3)


def build(upper, lower, parent_scale, object_scale, turns):
    empty()
    set_range(*FRAMES)
    rig = build_armature(SKEWED)
    for name, (inherit, rotation, location) in (("upper", upper), ("lower", lower)):
        bone = rig.data.bones[name]
        bone.inherit_scale, bone.use_inherit_rotation, bone.use_local_location = inherit, rotation, location
    parent = rig.pose.bones["parent"]
    parent.rotation_mode = "XYZ"
    key_channel(parent, "scale", {1: (1, 1, 1), 4: parent_scale})
    key_channel(parent, "rotation_euler", {1: (0, 0, 0), 8: turns[0]})
    key_channel(rig, "rotation_euler", {1: (0, 0, 0), 8: turns[1]})
    rig.scale = object_scale
    return rig


combinations = st.fixed_dictionaries(
    {
        "plane": st.sampled_from(("XY", "XZ", "YZ")),
        "plane_space": st.sampled_from(("WORLD", "ARMATURE", "PARENT")),
        "bend": st.sampled_from(BENDS),
        "depth": st.sampled_from(("KEEP", "KEEP", "FLATTEN")),
    }
)
rigs = st.fixed_dictionaries(
    {
        "upper": flags,
        "lower": flags,
        "parent_scale": st.one_of(even, uneven),
        "object_scale": uneven,
        "turns": st.tuples(angles, angles),
    }
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(combinations, rigs, modes)
def test_in_any_combination_the_tip_is_on_the_target(registered_addon, combination, made, mode):
    rig = build(**made)
    depth = combination.pop("depth")
    where = combination
    try:
        target = posed_target(rig, RIG, frames=FRAMES, **where)
    except LookupError:  # scaled so that it cannot bend that way
        reject()
    for bone in ("upper", "lower"):
        rig.pose.bones[bone].rotation_mode = mode
    if depth == "KEEP":
        assert_bake_reaches(rig, target, **where)
        return
    # Flattened bones reach farther out, and less far in: only what the report calls reached is promised.
    report, baked = bake_and_evaluate(rig, target, depth="FLATTEN", **where)
    outside = [first <= frame <= last for frame in baked.frames for first, last in report["out_of_reach"]]
    reached = ~np.any(np.reshape(outside, (len(baked.frames), -1)), axis=1)
    assert report["reached"] == np.count_nonzero(reached)
    if reached.any():
        assert_within_promise(baked, reached)
        sign = 1.0 if where["bend"] == "POSITIVE" else -1.0
        assert np.all(sign * baked.seen_bends[reached] > 0.0)
    assert np.abs(baked.depths).max() <= 1e-5
