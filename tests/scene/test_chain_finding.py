"""Whatever was clicked, in whatever order: the same limb, or one sentence that says what to select."""

from itertools import permutations
from types import SimpleNamespace

import bpy
import pytest

from tests.tasks.scenes import BoneShape, build_armature
from twobone_addon.errors import ChainError, SelectionError
from twobone_addon.scene.bones import ChainNames
from twobone_addon.scene.rig.chain_finding import chain_from_names, chain_from_selection, is_twist

HUMAN = (
    BoneShape("hips", (0, 0, 1), (0, 0, 1.15)),
    BoneShape("thigh.L", (0.1, 0, 0.95), (0.1, -0.02, 0.5), "hips"),
    BoneShape("shin.L", (0.1, -0.02, 0.5), (0.1, 0.01, 0.1), "thigh.L", connected=True),
    BoneShape("foot.L", (0.1, 0.01, 0.1), (0.1, -0.12, 0.02), "shin.L", connected=True),
    BoneShape("toe.L", (0.1, -0.12, 0.02), (0.1, -0.18, 0.02), "foot.L", connected=True),
    BoneShape("chest", (0, 0, 1.15), (0, 0, 1.5), "hips", connected=True),
    BoneShape("upper_arm.L", (0.2, 0, 1.45), (0.5, 0.02, 1.45), "chest"),
    BoneShape("twist.L", (0.4, 0.013, 1.45), (0.5, 0.02, 1.45), "upper_arm.L"),
    BoneShape("forearm.L", (0.5, 0.02, 1.45), (0.77, 0, 1.45), "twist.L"),
    BoneShape("hand.L", (0.77, 0, 1.45), (0.87, 0, 1.45), "forearm.L", connected=True),
)


@pytest.fixture
def human(empty_file):
    return build_armature(HUMAN, "Human")


def click(armature, *names):
    """Select bones one after the other, as clicks with Shift do: the last one is active."""
    for bone in armature.pose.bones:
        set_selected(bone, on=False)
    for name in names:
        set_selected(armature.pose.bones[name], on=True)
        armature.data.bones.active = armature.data.bones[name]


def set_selected(bone, *, on):
    owner = bone if hasattr(bone, "select") else bone.bone  # the pose has the selection since 5.0
    owner.select = on


LEG = ChainNames("Human", "thigh.L", "shin.L", "shin.L", tip_at_tail=True)
ARM = ChainNames("Human", "upper_arm.L", "forearm.L", "forearm.L", tip_at_tail=True)


@pytest.mark.parametrize("order", list(permutations(["thigh.L", "shin.L"])), ids=" ".join)
def test_two_bones_in_any_order(human, order):
    click(human, *order)
    assert chain_from_selection(human) == LEG


@pytest.mark.parametrize("order", list(permutations(["thigh.L", "shin.L", "foot.L"])), ids=" ".join)
def test_three_bones_in_any_order(human, order):
    click(human, *order)
    assert chain_from_selection(human) == ChainNames("Human", "thigh.L", "shin.L", "foot.L", tip_at_tail=False)


@pytest.mark.parametrize("name", ["thigh.L", "shin.L", "foot.L"])
def test_any_one_bone_of_a_leg(human, name):
    click(human, name)
    assert chain_from_selection(human) == LEG


@pytest.mark.parametrize("name", ["thigh.L", "shin.L", "foot.L"])
def test_any_one_bone_of_a_leg_that_is_folded_at_rest(empty_file, name):
    """As in the middle of a run, which some imports have as their rest pose."""
    heel, toe = (0.1, 0.36, 0.62), (0.1, 0.5, 0.55)
    folded = (
        *HUMAN[:2],
        BoneShape("shin.L", (0.1, -0.02, 0.5), heel, "thigh.L", connected=True),
        BoneShape("foot.L", heel, toe, "shin.L", connected=True),
        BoneShape("toe.L", toe, (0.1, 0.56, 0.5), "foot.L", connected=True),
    )
    armature = build_armature(folded, "Human")
    click(armature, name)
    assert chain_from_selection(armature) == LEG


def test_two_bones_with_a_twist_bone_between(human):
    click(human, "forearm.L", "upper_arm.L")
    assert chain_from_selection(human) == ARM


def test_the_operator_takes_the_selection(human):
    import json

    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    bpy.context.view_layer.objects.active = human
    click(human, "shin.L", "thigh.L")
    bpy.ops.twobone.bake(target="Target")
    report = json.loads(bpy.context.window_manager.twobone_report)
    assert (report["armature"], report["upper"], report["lower"]) == ("Human", "thigh.L", "shin.L")


@pytest.mark.parametrize(
    "names",
    [(), ("thigh.L", "forearm.L"), ("thigh.L", "shin.L", "hand.L"), ("thigh.L", "shin.L", "foot.L", "toe.L")],
    ids=lambda names: " ".join(names) or "nothing",
)
def test_what_cannot_be_a_limb_says_what_to_select(human, names):
    click(human, *names)
    with pytest.raises(SelectionError, match=r"Select|Choose") as caught:
        chain_from_selection(human)
    assert str(caught.value).count(".") - str(caught.value).count(".L") <= 2


@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.parametrize("name", ["hips", "chest"])
def test_the_body_is_no_part_of_a_limb(empty_file, name, is_named):
    """Whether there are names that can be believed, or limbs on both sides alone tell what the body is."""
    other_side = [
        BoneShape(
            shape.name.replace(".L", ".R"),
            *((-x, y, z) for x, y, z in (shape.head, shape.tail)),
            shape.parent.replace(".L", ".R"),
        )
        for shape in HUMAN
        if shape.name.endswith(".L")
    ]
    rig = build_armature((*HUMAN, *other_side), "Human")
    if not is_named:
        name = f"x{rig.data.bones.find(name)}"
        for number, bone in enumerate(list(rig.data.bones)):
            bone.name = f"x{number}"
    click(rig, name)
    with pytest.raises(SelectionError, match="is not part of an arm or leg"):
        chain_from_selection(rig)


def test_a_lonely_bone_says_what_to_select(empty_file):
    rig = build_armature(HUMAN[:1], "Human")
    click(rig, "hips")
    with pytest.raises(SelectionError, match="no parent or child bone"):
        chain_from_selection(rig)


@pytest.mark.parametrize("tip", ["hand.L", "thigh.L", "hips"])
def test_only_a_foot_that_hangs_from_near_the_root_may_be_the_tip_without_hanging_from_the_limb(empty_file, tip):
    loose = [BoneShape("root", (0, 0, 0), (0, 0, 0.1)), BoneShape("foot.L", (0.1, 0.01, 0.1), (0.1, -0.12, 0.02), "root")]
    armature = build_armature((*HUMAN[:3], *loose, *HUMAN[5:]), "Human")
    assert chain_from_names(armature, "thigh.L", "shin.L", "foot.L") == ChainNames(
        "Human", "thigh.L", "shin.L", "foot.L", tip_at_tail=False
    )
    with pytest.raises(ChainError, match="is not a descendant of the lower bone"):
        chain_from_names(armature, "thigh.L", "shin.L", tip)
    with pytest.raises(ChainError, match="is not a descendant of the lower bone"):
        chain_from_names(armature, "thigh.L", "shin.L", "foot.L", "TAIL")


IMPORTED = (
    BoneShape("hip", (0, 0, 1), (0, 10, 1)),
    BoneShape("knee", (0, 0, 0.5), (0, 10, 0.5), "hip"),
    BoneShape("ankle", (0, 0.1, 0), (0, 10, 0), "knee"),
)
"""As some importers leave them: tails ten metres off, sideways, nothing connected."""


def test_the_tip_of_an_imported_limb_is_where_the_next_bone_starts(empty_file):
    rig = build_armature(IMPORTED, "Imported")
    assert chain_from_names(rig, "hip", "knee") == ChainNames("Imported", "hip", "knee", "ankle", tip_at_tail=False)
    click(rig, "knee")
    assert chain_from_selection(rig) == ChainNames("Imported", "hip", "knee", "ankle", tip_at_tail=False)


def test_a_lower_bone_with_children_in_several_places_ends_at_its_tail(empty_file):
    rig = build_armature((*IMPORTED, BoneShape("fin", (0, 0.4, 0), (0, 1, 0), "knee")), "Imported")
    assert chain_from_names(rig, "hip", "knee") == ChainNames("Imported", "hip", "knee", "knee", tip_at_tail=True)


def test_a_named_tip_may_be_any_bone_below_and_either_end_of_it(human):
    for end, at_tail in (("AUTO", False), ("HEAD", False), ("TAIL", True)):
        assert chain_from_names(human, "thigh.L", "shin.L", "toe.L", end) == ChainNames(
            "Human", "thigh.L", "shin.L", "toe.L", tip_at_tail=at_tail
        )
    assert chain_from_names(human, "thigh.L", "shin.L", "shin.L") == LEG
    assert chain_from_names(human, "thigh.L", "shin.L", "", "HEAD").tip == "foot.L"


LOOSE = (
    BoneShape("root", (0, 0, 0), (0, 0.2, 0)),
    BoneShape("thigh", (0, 0, 1), (0, -0.05, 0.5), "root"),
    BoneShape("shin", (0, -0.05, 0.5), (0, 0, 0.1), "thigh", connected=True),
    BoneShape("foot", (0, 0, 0.1), (0, -0.2, 0), "root"),
)
LEAF = BoneShape("shin_end", (0, 0, 0.1), (0, 0.05, -0.3), "shin")
TOE = BoneShape("toe", (0, 0, 0.1), (0, -0.3, 0), "shin")


def test_a_foot_elsewhere_may_be_the_tip_unless_the_limb_has_one_of_its_own(empty_file):
    """What an exporter adds to the end of a branch, the last bone once more, is no foot."""
    for below in ((), (LEAF,)):
        rig = build_armature((*LOOSE, *below), "Loose")
        assert chain_from_names(rig, "thigh", "shin", "foot") == ChainNames(rig.name, "thigh", "shin", "foot", tip_at_tail=False)
    rig = build_armature((*LOOSE, TOE), "Own")
    with pytest.raises(ChainError, match="is not a descendant of the lower bone"):
        chain_from_names(rig, "thigh", "shin", "foot")


def test_a_head_without_a_bone_below_is_refused(empty_file):
    rig = build_armature(HUMAN[:3], "Human")
    with pytest.raises(ChainError, match="no child bone"):
        chain_from_names(rig, "thigh.L", "shin.L", "", "HEAD")


GENERATED = (
    BoneShape("DEF-shoulder.L", (0.02, 0, 1.4), (0.18, 0, 1.45)),
    BoneShape("DEF-upper_arm.L", (0.2, 0, 1.45), (0.35, 0.01, 1.45), "DEF-shoulder.L"),
    BoneShape("DEF-upper_arm.L.001", (0.35, 0.01, 1.45), (0.5, 0.02, 1.45), "DEF-upper_arm.L", connected=True),
    BoneShape("DEF-forearm.L", (0.5, 0.02, 1.45), (0.63, 0.01, 1.45), "DEF-upper_arm.L.001", connected=True),
    BoneShape("DEF-forearm.L.001", (0.63, 0.01, 1.45), (0.76, 0, 1.45), "DEF-forearm.L", connected=True),
    BoneShape("DEF-hand.L", (0.76, 0, 1.45), (0.86, 0, 1.45), "DEF-forearm.L.001", connected=True),
)
"""As Rigify cuts the bones that carry the skin."""

GAME = (
    BoneShape("clavicle_l", (0.02, 0, 1.4), (0.18, 0, 1.45)),
    BoneShape("upperarm_l", (0.2, 0, 1.45), (0.2, 10, 1.45), "clavicle_l"),
    BoneShape("upperarm_twist_01_l", (0.2, 0, 1.45), (0.2, 10, 1.45), "upperarm_l"),
    BoneShape("lowerarm_l", (0.5, 0.02, 1.45), (0.5, 10, 1.45), "upperarm_l"),
    BoneShape("lowerarm_twist_01_l", (0.65, 0.01, 1.45), (0.65, 10, 1.45), "lowerarm_l"),
    BoneShape("hand_l", (0.77, 0, 1.45), (0.77, 10, 1.45), "lowerarm_l"),
    BoneShape("index_01_l", (0.85, 0, 1.45), (0.85, 10, 1.45), "hand_l"),
)
"""As game engines have them: twist bones at the side, tails anywhere."""


@pytest.mark.parametrize("shapes", [GENERATED, GAME], ids=["in line", "at the side"])
@pytest.mark.parametrize("clicked", range(1, 6))
def test_any_one_bone_of_an_arm_with_twist_bones(empty_file, shapes, clicked):
    rig = build_armature(shapes, "Human")
    click(rig, shapes[clicked].name)
    upper, lower, hand = (shapes[number].name for number in (1, 3, 5))
    assert chain_from_selection(rig) == ChainNames("Human", upper, lower, hand, tip_at_tail=False)


@pytest.mark.parametrize("clicked", ["upper_arm.L", "twist.L", "forearm.L", "hand.L"])
def test_any_one_bone_of_an_arm_whose_forearm_hangs_from_its_twist_bone(human, clicked):
    click(human, clicked)
    assert chain_from_selection(human) == ARM


def test_a_twist_bone_is_the_lower_bone_where_it_is_selected_as_such(human):
    click(human, "upper_arm.L", "twist.L")
    assert chain_from_selection(human).lower == "twist.L"


UNNAMED = (
    BoneShape("Bone", (0, 0, 1), (0, 0, 0.5)),
    BoneShape("Bone.001", (0, 0, 0.5), (0, 0, 0), "Bone", connected=True),
    BoneShape("Bone.002", (0, 0, 0), (0, -0.2, 0), "Bone.001", connected=True),
)
"""A straight leg and a foot under the names that Blender gives."""


@pytest.mark.parametrize("shapes", [UNNAMED, UNNAMED[:2]], ids=["with foot", "without"])
@pytest.mark.parametrize("clicked", ["Bone", "Bone.001"])
def test_numbers_alone_make_no_pieces_of_a_straight_leg(empty_file, shapes, clicked):
    rig = build_armature(shapes, "Human")
    click(rig, clicked)
    assert chain_from_selection(rig) == ChainNames("Human", "Bone", "Bone.001", "Bone.001", tip_at_tail=True)


@pytest.mark.parametrize(
    "name, twists",
    [
        ("upperarm_twist_01_l", True), ("LeftForeArmRoll", True), ("roll.L", True), ("arm_roll_1", True), ("ArmTwist", True),
        ("arm_controller.L", False), ("Troll_arm.L", False), ("forearm.L", False), ("scroll", False),
    ],
)  # fmt: skip
def test_which_names_say_that_a_bone_only_twists(name, twists):
    bone = SimpleNamespace(name=name)
    assert is_twist(bone, bone) == twists
