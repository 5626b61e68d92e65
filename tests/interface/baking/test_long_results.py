"""What is too long for the status bar stays in the sidebar in whole, until the next task."""

import bpy
import pytest

from tests.interface.baking.playing import playing
from tests.interface.recording import drawn, sidebar
from tests.tasks.rigs.switched_leg import switched_leg
from tests.tasks.scenes import key_channel, set_range
from twobone_addon.interface.operators.of_tasks import OPERATORS
from twobone_addon.interface.running import progress
from twobone_addon.interface.sidebar.result_panel import TWOBONE_PT_said


@pytest.fixture
def twisted_leg(empty_file, monkeypatch):
    """A leg on FK whose shin turns about itself, which IK does not keep; somebody is at the window."""
    monkeypatch.setattr(progress, "can_ask", lambda _context: True)
    rig = switched_leg(on_ik=0.0, control=True)
    set_range(1, 12)
    for bone, bend in (("thigh_fk", -0.3), ("shin_fk", 0.6)):
        rig.pose.bones[bone].rotation_mode = "YXZ"
        turns = {frame: (bend, 1.0 if bone == "shin_fk" and frame == 9 else 0.0, 0.0) for frame in range(1, 13)}
        key_channel(rig.pose.bones[bone], "rotation_euler", turns)
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower = "Leg", "thigh_fk", "shin_fk"
    bpy.context.view_layer.objects.active = rig
    return rig


def switched(to):
    acting = playing(OPERATORS["switch"], armature="Rig", chain="Leg", to=to)
    assert acting.execute(sidebar(scene=bpy.context.scene)) == {"FINISHED"}
    ((_, said),) = acting.said
    return said


def test_the_whole_of_a_long_sentence_is_in_the_sidebar_until_the_next_task(twisted_leg):
    assert not TWOBONE_PT_said.poll(bpy.context)
    bar = switched("IK")
    assert len(bar) <= 120
    assert "shin_def loses its twist, up to 57 degrees at frame 9" in bar
    assert TWOBONE_PT_said.poll(bpy.context)
    whole = " ".join(drawn(TWOBONE_PT_said).texts())
    assert "up to 57 degrees at frame 9: IK turns no bone about itself" in whole
    switched("FK")
    assert not TWOBONE_PT_said.poll(bpy.context)


def test_joints_that_move_are_said_before_a_twist_that_is_lost(twisted_leg):
    turns = {frame: (0.3 * (frame % 3), 0, 0) for frame in range(1, 13)}
    key_channel(twisted_leg.pose.bones["thigh_fk"], "rotation_euler", turns)
    twisted_leg.twobone.chains[0].step = 4
    bar = switched("IK")
    assert bar.index("joints visibly move by up to") < bar.index("shin_def loses its twist")
