"""A rig with NLA tracks, as importers of glTF and stashed actions leave them: overlay, Live and Bake work as on any other."""

import bpy
import pytest

from tests.interface.acting import joints_world
from tests.pipeline.live.live_scene import needs_nodes
from tests.tasks.scenes import LEG, add_empty, build_armature
from twobone_addon.interface import watching
from twobone_addon.interface.overlay import data as overlay_data
from twobone_addon.scene.keys.reading import is_animated
from twobone_addon.scene.versions import assign_slot, first_slot

PATH = "twobone.chains[0].influence"


@pytest.fixture
def stashed_leg(empty_file):
    """A leg with an action stashed in a muted track; the chain is so new that nothing has been evaluated since."""
    rig = build_armature(LEG)
    rig.pose.bones["upper"].keyframe_insert("location", frame=1)
    stash(rig)
    target = add_empty()
    target.location = (0.1, 0.5, 0.1)
    bpy.context.view_layer.update()
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.plane, chain.target = "Leg", "upper", "lower", "YZ", target
    yield rig
    overlay_data.forget()
    watching.unregister()


def stash(rig):
    """Push the action down into a track of its own, as Blender's Stash does; without muting it."""
    data = rig.animation_data
    action = data.action
    data.action = None
    strip = data.nla_tracks.new().strips.new("Stashed", 1, action)
    assign_slot(strip, first_slot(action))
    return strip


def miss(rig):
    tip = joints_world(rig, "upper", "lower")[2]
    return (tip.yz - rig.twobone.chains[0].target.location.yz).length


@needs_nodes
def test_live_follows(stashed_leg):
    bpy.ops.twobone.live(state="ON")
    stashed_leg.twobone.chains[0].target.location = (0.1, 0.3, 0.3)
    bpy.context.view_layer.update()
    assert miss(stashed_leg) < 1e-5


def test_the_overlay_shows_the_chain(stashed_leg):
    assert overlay_data.update(bpy.context, stashed_leg).picture is not None


def test_a_bake_is_exact(stashed_leg):
    bpy.context.scene.frame_end = 3
    bpy.ops.twobone.bake()
    bpy.context.scene.frame_set(2)
    assert miss(stashed_leg) < 1e-5


def test_a_chain_that_a_strip_animates_is_read_from_the_strip(stashed_leg):
    chain = stashed_leg.twobone.chains[0]
    for frame, value in ((1, 0.0), (3, 1.0)):
        chain.influence = value
        chain.keyframe_insert("influence", frame=frame)
    assert is_animated(stashed_leg, PATH)
    stash(stashed_leg)
    assert is_animated(stashed_leg, PATH)
    assert not is_animated(stashed_leg, "twobone.chains[0].bend")
    bpy.context.scene.frame_set(2)
    assert overlay_data.update(bpy.context, stashed_leg).picture is not None
