"""Big rigs are walked by a reduced rig that has only what is wanted of them, and poses it to the last bit like the rig."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from tests.scene.big_rig import FRAMES, LIMB, OTHERS, WANTED, big_rig
from tests.scene.movers import add_driver, add_empty, animate, animated_empty
from twobone_addon.pipeline.motion.sampling import sample
from twobone_addon.scene.lookup import bone_owner, owner_of
from twobone_addon.scene.sampling import evaluate
from twobone_addon.scene.sampling import reduced_rigs as doubles
from twobone_addon.scene.sampling.evaluate import Quantity, Verified, prepared_place
from twobone_addon.scene.versions import curve_bag


def doubled_for(wanted, frames=FRAMES):
    """The rigs that have reduced rigs which are posed as they are."""
    with prepared_place(bpy.context.scene, wanted, frames) as place:
        return set(place.reduced)


def assert_sampled_alike(scene, *, reduced, wanted=WANTED):
    assert doubled_for(wanted) == ({"Rig"} if reduced is True else reduced or set())
    walked = sample(scene, wanted, FRAMES, evaluation="PROBES")
    evaluated = sample(scene, wanted, FRAMES, evaluation="SCENE")
    for quantity in wanted:
        assert np.array_equal(walked[quantity], evaluated[quantity]), quantity


def test_a_limb_of_a_big_rig_is_posed_by_its_double(scene):
    big_rig()
    assert_sampled_alike(scene, reduced=True)


def test_constraints_and_drivers_above_the_limb_stay(scene):
    rig, thing = big_rig(), animated_empty()
    bone = rig.pose.bones["root"]
    follow = bone.constraints.new("COPY_ROTATION")
    follow.target, follow.influence = thing, 0.7
    turn = rig.pose.bones["upper"].constraints.new("COPY_ROTATION")
    turn.target, turn.subtarget, turn.mix_mode = rig, "root", "ADD"
    add_driver(turn, "influence", -1, "0.5 + 0.1 * v", (rig, 'pose.bones["root"].location[2]'))
    assert_sampled_alike(scene, reduced=True)


def test_a_driven_property_on_a_bone_that_is_not_above_the_limb_is_kept(scene):
    rig = big_rig()
    rig.pose.bones["other5"]["amount"] = 0.25
    add_driver(rig.pose.bones["other5"], '["amount"]', -1, "0.3 * v", (rig, 'pose.bones["other9"].scale[0]'))
    animate(rig.pose.bones["other9"], "scale", (1, 1, 1))
    rig.pose.bones["upper"].driver_remove("location", 0)
    add_driver(rig.pose.bones["root"], "scale", 1, "1 + v", (rig, 'pose.bones["other5"]["amount"]'))
    assert_sampled_alike(scene, reduced=True)


def test_constraints_with_several_targets_look_at_the_double(scene):
    rig = big_rig()
    armature = rig.pose.bones["lower"].constraints.new("ARMATURE")
    for name in ("root", "upper"):
        entry = armature.targets.new()
        entry.target, entry.subtarget = rig, name
    assert_sampled_alike(scene, reduced=True)


def test_ik_that_runs_through_the_limb_is_kept_with_the_bones_that_carry_it(scene):
    rig = big_rig()
    add_ik(rig, "other1", chain_count=4, iterations=7)
    add_ik(rig, "other9", chain_count=10, use_tail=False).influence = 0.4
    assert_sampled_alike(scene, reduced=True)


def test_keyed_constraints_of_bones_that_are_left_out_are_left_out(scene):
    rig = big_rig()
    look = rig.pose.bones["other1"].constraints[0]
    for frame, value in ((1, 0.2), (50, 0.9)):
        look.influence = value
        look.keyframe_insert("influence", frame=frame)
    assert_sampled_alike(scene, reduced=True)


def test_bent_bones_that_nobody_reads_are_kept(scene):
    rig = big_rig()
    for name in ("upper", "other4"):
        rig.data.bones[name].bbone_segments = 4
    assert_sampled_alike(scene, reduced=True)


def test_a_rig_that_edit_mode_would_round_keeps_its_bones_and_plays_fewer_curves(scene, monkeypatch):
    monkeypatch.setattr(doubles, "_is_at_rest_as", lambda *_: False)
    rig = big_rig()
    for name in OTHERS:
        animate(rig.pose.bones[name], "scale", (1, 1, 1))
    with prepared_place(scene, WANTED, FRAMES) as place:
        thing = place.reduced["Rig"].thing
        assert len(thing.pose.bones) == len(rig.pose.bones)
        assert {owner_of(fcurve.data_path) for fcurve in curve_bag(thing).fcurves} == {"", *map(bone_owner, limb_of(rig))}
    assert_sampled_alike(scene, reduced=True)
    assert_nothing_is_left()


def limb_of(rig):
    return [rig.pose.bones[name] for name in LIMB]


def scripted(rig):
    driver = add_driver(rig.pose.bones["root"], "scale", 0, "(1.1, 2.0)[0]")
    assert not driver.is_simple_expression


def on_other_ik(rig):
    rig.pose.ik_solver = "ITASC"
    add_ik(rig, "other1", chain_count=4)


def add_ik(rig, carrier, **settings):
    ik = rig.pose.bones[carrier].constraints.new("IK")
    ik.target = bpy.data.objects.get("Thing") or animated_empty()
    for name, value in settings.items():
        setattr(ik, name, value)
    return ik


def on_bent_bones(rig):
    rig.data.bones["upper"].bbone_segments = 4
    follow = rig.pose.bones["lower"].constraints.new("COPY_ROTATION")
    follow.target, follow.subtarget = rig, "upper"
    look = rig.pose.bones["lower"].constraints.new("DAMPED_TRACK")
    look.target, look.subtarget, look.head_tail, look.use_bbone_shape = rig, "upper", 0.6, True


def on_strips(rig):
    data = rig.animation_data
    track = data.nla_tracks.new()
    track.strips.new("Strip", 1, data.action)
    data.action = None


def on_driven_flags(rig):
    add_driver(rig.data.bones["lower"], "use_inherit_rotation", -1, "frame % 3", None)


def on_what_hangs_from_it(rig):
    thing = add_empty()
    thing.parent, thing.parent_type, thing.parent_bone = rig, "BONE", "other3"
    follow = rig.pose.bones["upper"].constraints.new("COPY_ROTATION")
    follow.target = thing


def hidden(rig):
    rig.hide_viewport = True


REFUSED = (scripted, on_strips, on_bent_bones)


@pytest.mark.parametrize("change", REFUSED, ids=lambda change: change.__name__)
def test_a_rig_that_may_differ_from_its_double_has_none(scene, change):
    change(big_rig())
    assert_sampled_alike(scene, reduced=False)


# What hangs from itself is somewhere else after every other history, so two ways of evaluation need not agree.
@pytest.mark.parametrize(
    "change", [hidden, on_driven_flags, on_other_ik, on_what_hangs_from_it], ids=lambda change: change.__name__
)
def test_a_rig_that_is_hidden_changes_its_bones_or_remembers_its_pose_has_none(scene, change):
    change(big_rig())
    assert doubled_for(WANTED) == set()


def test_a_target_on_the_rig_itself_needs_the_rig(scene):
    big_rig()
    thing = add_empty()
    follow = thing.constraints.new("COPY_LOCATION")
    follow.target, follow.subtarget = bpy.data.objects["Rig"], "other7"
    assert_sampled_alike(scene, reduced=False, wanted=[*WANTED, Quantity("WORLD", "Thing")])


@pytest.mark.parametrize("bone", ["", "other3"])
def test_targets_that_the_rig_carries_hang_from_its_double(scene, bone):
    rig, between, thing = big_rig(), animated_empty("Between"), animated_empty("Target")
    between.parent, thing.parent = rig, between
    between.parent_type, between.parent_bone = ("BONE", bone) if bone else ("OBJECT", "")
    between.matrix_parent_inverse = Matrix.Rotation(0.3, 4, "X")
    bpy.context.view_layer.update()
    wanted = [*WANTED, Quantity("WORLD", "Target")]
    before = [(thing.name, thing.parent) for thing in bpy.data.objects]
    assert_sampled_alike(scene, reduced={"Rig", "Between", "Target"}, wanted=wanted)
    assert [(thing.name, thing.parent) for thing in bpy.data.objects] == before


def test_targets_that_hang_from_a_double_are_believed_no_more_than_it(scene, monkeypatch):
    thing = animated_empty("Target")
    thing.parent = big_rig()
    make = doubles.reduced_rig

    def wrong(*arguments):
        double = make(*arguments)
        double.thing.data.bones["lower"].inherit_scale = "NONE"
        return double

    monkeypatch.setattr(doubles, "reduced_rig", wrong)
    assert_sampled_alike(scene, reduced=False, wanted=[*WANTED, Quantity("WORLD", "Target")])


def test_channels_are_read_from_the_rig(scene):
    big_rig()
    assert_sampled_alike(scene, reduced=False, wanted=[*WANTED, Quantity("CHANNELS", "Rig", "upper")])


def test_a_double_that_is_posed_otherwise_is_not_believed(scene, monkeypatch):
    big_rig()
    make, made = doubles.reduced_rig, []

    def wrong(*arguments):
        made.append(make(*arguments))
        made[-1].thing.data.bones["lower"].inherit_scale = "NONE"
        return made[-1]

    monkeypatch.setattr(doubles, "reduced_rig", wrong)
    assert_sampled_alike(scene, reduced=False)
    assert made


def test_what_was_moved_and_not_keyed_is_no_reason_against_a_double(scene):
    rig = big_rig()
    scene.frame_set(5)
    rig.pose.bones["upper"].location.x += 1.0
    bpy.context.view_layer.update()
    assert_sampled_alike(scene, reduced=True)


def test_what_was_compared_before_is_trusted_and_nothing_else(scene, monkeypatch):
    rig, verified = big_rig(), Verified()
    monkeypatch.setattr(evaluate, "_wrong", lambda _scene, place, *_: set(place.reduced))  # whatever is compared differs
    verified.bones["Rig"] = {"root"}
    with prepared_place(scene, WANTED, FRAMES, verified) as place:
        assert set(place.reduced) == {"Rig"}
    turn = rig.pose.bones["upper"].constraints.new("COPY_ROTATION")
    turn.target, turn.subtarget = rig, "root"
    with prepared_place(scene, WANTED, FRAMES, verified) as place:
        assert not place.reduced
    verified.bones["Rig"] = {"root", "upper"}
    with prepared_place(scene, WANTED, FRAMES, verified) as place:
        assert set(place.reduced) == {"Rig"}


def test_nothing_of_it_is_left(scene):
    big_rig()
    assert_nothing_is_left()


def assert_nothing_is_left():
    scene = bpy.context.scene
    kinds = ("objects", "armatures", "actions", "scenes")
    before = [[(block.name, block.users) for block in getattr(bpy.data, kind)] for kind in kinds]
    sample(scene, WANTED, FRAMES, evaluation="PROBES")
    assert [[(block.name, block.users) for block in getattr(bpy.data, kind)] for kind in kinds] == before
