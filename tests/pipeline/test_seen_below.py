"""Which bones a change may visibly move: those that hang on what is keyed, and those that copy these, however far along."""

from tests.tasks.scenes import BoneShape, build_armature
from twobone_addon.pipeline.proof import seen_below


def copy_of(rig, bone, source):
    constraint = rig.pose.bones[bone].constraints.new("COPY_TRANSFORMS")
    constraint.target, constraint.subtarget = rig, source


def test_what_copies_a_bone_below_a_control_is_seen_to_move_with_it(empty_file):
    rig = build_armature(
        (
            BoneShape("control", (0, 0, 0), (0, 0, 1)),
            BoneShape("hand", (0, 0, 1), (0, 0, 2), "control"),
            BoneShape("finger", (0, 0, 2), (0, 0, 3), "hand"),
            BoneShape("ring", (1, 0, 2), (1, 0, 3)),
            BoneShape("glove", (0, 0, 1), (0, 0, 2)),
            BoneShape("table", (2, 0, 0), (2, 0, 1)),
        )
    )
    rig.data.bones["control"].use_deform = False
    copy_of(rig, "glove", "hand")
    copy_of(rig, "ring", "glove")
    # A finger moves as its hand does; a table not at all.
    assert set(seen_below(rig, ["control"])) == {("Rig", "hand"), ("Rig", "glove"), ("Rig", "ring")}
