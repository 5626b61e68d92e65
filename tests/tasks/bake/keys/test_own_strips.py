"""An action that an armature plays, and has in NLA strips of its own as well, as imports leave it, is not shared."""

import bpy

from tests.tasks.scenes import LEG, Limb, add_empty, bake, build_armature, key_channel, refusal, set_range


def playing_rig(name="Rig"):
    rig = build_armature(LEG, name)
    key_channel(rig.pose.bones["upper"], "rotation_quaternion", {1: (1, 0, 0, 0), 9: (0.9, 0.4, 0, 0)})
    track = rig.animation_data.nla_tracks.new()
    track.strips.new("Strip", 1, rig.animation_data.action)
    track.mute = True
    return rig


def test_strips_of_the_armature_itself_do_not_make_its_action_shared(empty_file):
    playing_rig()
    add_empty("Target").location = (0.1, 0.4, -0.3)
    set_range(1, 9)
    assert bake(Limb("Rig"), target="Target", plane="YZ")["frames"] == 9


def test_another_player_does(empty_file):
    rig = playing_rig()
    add_empty("Target").location = (0.1, 0.4, -0.3)
    other = rig.copy()
    bpy.context.scene.collection.objects.link(other)
    for track in list(other.animation_data.nla_tracks):
        other.animation_data.nla_tracks.remove(track)
    assert "Other users of action" in refusal(Limb("Rig"), target="Target", plane="YZ")
