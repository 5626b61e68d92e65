"""Any armature: random hierarchies, lengths, rolls, flags, scales and constraints. What is reported is what Blender shows."""

import bpy
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.faults.attacking import report_or_refusal
from tests.tasks.checks.measuring import evaluate
from tests.tasks.scenes import BoneShape, Limb, add_empty, build_armature, key_channel, key_places, set_range

FRAMES = (1, 5)
INHERIT = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")
CONSTRAINTS = (
    "COPY_LOCATION", "COPY_ROTATION", "COPY_SCALE", "LIMIT_ROTATION", "LIMIT_DISTANCE", "DAMPED_TRACK", "STRETCH_TO",
    "CHILD_OF", "TRANSFORM", "MAINTAIN_VOLUME", "IK",
)  # fmt: skip

SAME = 1e-6
"""Between two measurements of the same motion, relative to how large numbers are that go into it."""

places = st.tuples(*[st.floats(-2, 2, width=16)] * 3)
scales = st.one_of(st.just((1.0, 1.0, 1.0)), st.tuples(*[st.sampled_from((0.001, 0.5, 1.0, 2.0, -1.0, 300.0))] * 3))
bones = st.fixed_dictionaries(
    {
        "place": places,
        "roll": st.floats(-3, 3, width=16),
        "parent": st.integers(0, 20),
        "follows": st.booleans(),
        "connected": st.booleans(),
        "inherit": st.sampled_from(INHERIT),
        "rotation": st.booleans(),
        "local": st.booleans(),
        "mode": st.sampled_from(("QUATERNION", "AXIS_ANGLE", "XYZ", "ZYX", "YXZ")),
        "scale": scales,
        "turn": places,
        "constraint": st.sampled_from((None, None, None, None, *CONSTRAINTS)),
    }
)
rigs = st.lists(bones, min_size=2, max_size=7)


def build(drawn, world_scale):
    """An armature in which every bone hangs from one made before it, or from none."""
    shapes = []
    for number, bone in enumerate(drawn):
        parent = shapes[bone["parent"] % number] if number and bone["follows"] else None
        head = parent.tail if parent else (0.3 * number, 0.0, 1.0)
        tail = tuple(np.add(head, bone["place"]))
        shapes.append(
            BoneShape(f"b{number}", head, tail, parent.name if parent else "", bool(parent) and bone["connected"], bone["roll"])
        )
    rig = build_armature(shapes)
    rig.scale = world_scale
    for pose, bone in zip(sorted(rig.pose.bones, key=lambda each: int(each.name[1:])), kept(rig, drawn), strict=True):
        data = pose.bone
        data.inherit_scale, data.use_inherit_rotation, data.use_local_location = bone["inherit"], bone["rotation"], bone["local"]
        pose.rotation_mode = bone["mode"]
        key_channel(pose, "scale", {1: (1, 1, 1), 5: bone["scale"]})
        key_channel(pose, "location", {1: (0, 0, 0), 5: bone["turn"]})
        constrain(pose, bone["constraint"])
    return rig


def kept(rig, drawn):
    """Blender drops bones of no length when edit mode ends."""
    return [bone for number, bone in enumerate(drawn) if f"b{number}" in rig.data.bones]


def constrain(pose, kind):
    if kind is None:
        return
    constraint = pose.constraints.new(kind)
    if hasattr(constraint, "target"):
        constraint.target = bpy.data.objects["Other"]
    if kind == "IK":
        constraint.chain_count = 2


def make_scene(drawn, world_scale, target_places):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    set_range(*FRAMES)
    key_channel(add_empty("Other"), "location", {1: (1, 0, 0), 5: (0, 1, 2)})
    key_places(add_empty(), target_places)
    return build(drawn, world_scale)


def limbs_of(rig):
    """Every pair of bones of which the second hangs from the first."""
    return [(above.name, bone.name) for bone in rig.pose.bones for above in bone.parent_recursive]


def assert_measured_as_reported(rig, limb, report, plane):
    """The largest error in reach, measured again by setting every frame of the user's scene."""
    shown = evaluate(rig, limb, range(FRAMES[0], FRAMES[1] + 1), target=bpy.data.objects["Target"], plane=plane)
    missed = [any(first <= frame <= last for first, last in report["out_of_reach"]) for frame in shown.frames]
    reached = ~np.array(missed)
    if report["degenerate"] or not reached.any():
        return
    inside = np.einsum("fji,fj->fi", shown.plane, shown.joints[:, 2] - shown.targets)
    inside[:, 2] = 0.0
    errors = np.linalg.norm(np.einsum("fij,fjk,fk->fi", shown.worlds[:, :3, :3], shown.plane, inside), axis=-1)
    scale = (shown.scales + np.abs(shown.targets).max(axis=-1)) * np.abs(shown.worlds[:, :3, :3]).max(axis=(1, 2))
    assert abs(errors[reached].max() - report["max_error"]) <= SAME * scale.max()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    rigs,
    st.data(),
    st.sampled_from((1.0, 0.01, 100.0)),
    st.lists(places, min_size=5, max_size=5),
    st.fixed_dictionaries(
        {
            "plane": st.sampled_from(("XY", "XZ", "YZ")),
            "reach": st.sampled_from(("CLAMP", "SOFTEN", "STRETCH")),
            "bend": st.sampled_from(("POSITIVE", "NEGATIVE", "KEEP")),
        }
    ),
)
def test_any_armature(registered_addon, drawn, data, size, target_places, chosen):  # noqa: PLR0917 - drawn in this order
    rig = make_scene(drawn, (size,) * 3, target_places)
    limbs = limbs_of(rig)
    upper, lower = data.draw(st.sampled_from(limbs)) if limbs else ("b0", "b1")
    limb = Limb("Rig", upper, lower, lower)
    report = report_or_refusal(**limb.names(), target="Target", tip=lower, tip_end="TAIL", softness=0.1, **chosen)
    if isinstance(report, dict) and report["max_error"] is not None:
        assert_measured_as_reported(rig, limb, report, chosen["plane"])
