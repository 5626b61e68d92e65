"""The overlay's picture and paths follow what happens in the file, are made once, and end without a trace."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from tests.interface.acting import joints_world
from tests.tasks.scenes import LEG, add_empty, bent, build_armature, key_places
from twobone_addon.interface import watching
from twobone_addon.interface.overlay import data as overlay_data
from twobone_addon.interface.overlay import drawing as overlay_drawing
from twobone_addon.interface.overlay import showing as overlay_showing
from twobone_addon.interface.overlay.drawing import THIN, WIDE, chain_lines, theme_palette, way_lines

ALL = (True, True, True)


@pytest.fixture
def leg(empty_file):
    rig = build_armature(LEG)
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target, chain.plane = "Leg", "upper", "lower", add_empty(), "YZ"
    key_places(chain.target, [(0.1, 0.5, 0.1 * frame) for frame in range(6)])
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 6
    bpy.context.scene.frame_set(1)
    overlay_data.forget()
    yield rig
    overlay_data.forget()
    watching.unregister()


def update(rig):
    bpy.context.view_layer.update()
    return overlay_data.update(bpy.context, rig)


def tip_of(rig):
    return update(rig).picture.joints[-1]


def test_the_picture_is_the_chain_on_its_target_and_is_made_once(leg):
    first = update(leg).picture
    target = np.array(leg.twobone.chains[0].target.matrix_world.translation)
    assert np.allclose(first.joints[-1][1:], target[1:], atol=1e-5)
    assert update(leg).picture is first


def test_of_an_armature_without_size_nothing_is_shown_until_it_has_one_again(leg):
    leg.scale = (0.0, 0.0, 0.0)
    assert update(leg).picture is None
    leg.scale = (1.0, 1.0, 1.0)
    assert update(leg).picture is not None


@pytest.mark.parametrize("roll", [1.57, 3.14])
def test_live_from_a_straight_leg_on_is_shown_on_the_side_to_which_it_bends(leg, roll):
    """At first the target is out of reach, so that the pose tells no side when the path is made."""
    knee = build_armature(bent(bent(LEG, "upper", roll=roll), "lower", roll=roll), "Bent leg")
    chain = knee.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target = "Leg", "upper", "lower", add_empty("Far, then near")
    chain.plane, chain.reference = "POSE", "POSE"
    key_places(chain.target, [*[(0, -0.5, -3)] * 3, *[(0, -0.3, -0.4)] * 3])
    bpy.context.scene.frame_set(1)
    bpy.ops.twobone.live(state="ON")
    try:
        update(knee)
        update(knee)
        bpy.context.scene.frame_set(5)
        assert np.allclose(update(knee).picture.joints, joints_world(knee, "upper", "lower"), atol=1e-4)
    finally:
        bpy.ops.twobone.live(state="OFF")


@pytest.mark.parametrize("change", ["target", "frame", "setting", "rest", "pole"])
def test_the_picture_is_made_anew_when_something_changes(leg, change):
    chain = leg.twobone.chains[0]
    chain.pole = add_empty("Pole")
    chain.pole.location = (0, 5, 0)
    chain.plane = "POLE"
    version = update(leg).picture_version
    if change == "target":
        chain.target.location.y += 0.1
    elif change == "frame":
        bpy.context.scene.frame_set(3)
    elif change == "setting":
        chain.bend = "NEGATIVE"
    elif change == "pole":
        chain.pole.location.x = 3
    else:
        leg.data.pose_position = "REST"
        chain.upper = "parent"
    assert update(leg).picture_version > version


def test_paths_are_made_in_a_pause_and_again_after_keys_have_changed(leg, monkeypatch):
    monkeypatch.setattr(watching, "timers_run", lambda: True)
    assert update(leg).path is None
    assert bpy.app.timers.is_registered(watching.catch_up)
    assert watching.catch_up() is None
    path = update(leg).path
    assert len(path.targets) == 6
    assert watching.catch_up() is None
    assert update(leg).path is path
    leg.twobone.chains[0].target.location.y = 0.7
    bpy.context.view_layer.update()
    assert update(leg).path is path
    watching.catch_up()
    assert update(leg).path is not path


def test_while_somebody_is_busy_paths_wait(leg, monkeypatch):
    monkeypatch.setattr(watching, "timers_run", lambda: True)
    update(leg)
    monkeypatch.setattr(watching, "is_busy", lambda _: True)
    assert watching.catch_up() == watching.PAUSE_IN_SECONDS
    assert update(leg).path is None


def test_where_time_has_passed_the_picture_is_the_one_of_that_frame(leg):
    update(leg)
    for frame in (4, 2):
        bpy.context.scene.frame_set(frame)
        assert np.allclose(tip_of(leg)[2], 0.1 * (frame - 1), atol=1e-5)


def test_a_kept_offset_is_shown_after_the_walk_that_finds_it(leg, monkeypatch):
    monkeypatch.setattr(watching, "timers_run", lambda: True)
    leg.twobone.chains[0].target_offset = "KEEP"
    assert update(leg).picture is None
    watching.catch_up()
    assert update(leg).picture is not None


@pytest.mark.parametrize("broken", ["target", "step", "bone", "chain"])
def test_where_a_bake_would_refuse_nothing_is_shown(leg, broken):
    update(leg)
    chain = leg.twobone.chains[0]
    if broken == "target":
        chain.target = None
    elif broken == "step":
        chain.step = 0.0
    elif broken == "bone":
        chain.lower = "nobody"
    else:
        leg.twobone.chains.clear()
    shown = update(leg)
    assert shown.picture is None
    assert overlay_data.shown.path is None


def test_afterwards_nobody_listens_and_no_timer_runs(leg):
    update(leg)
    overlay_data.forget()
    watching.unregister()
    assert not bpy.app.timers.is_registered(watching.catch_up)
    assert not [each for each in bpy.app.handlers.depsgraph_update_post if each.__module__ == watching.__name__]
    assert overlay_data.shown.picture is None


@pytest.mark.parametrize("plane", ["YZ", "XZ", "REST"])
def test_lines_are_there_for_what_is_switched_on_in_the_themes_colours(leg, plane):
    leg.twobone.chains[0].plane = plane
    shown = update(leg)
    palette = theme_palette(bpy.context.preferences.themes[0], plane)
    counts = [
        {width: len(lines.points) for width, lines in chain_lines(shown, switches, palette).items()}
        for switches in (ALL, (False, True, True), (True, False, False), (False, False, False))
    ]
    assert counts[0][WIDE] == counts[1][WIDE] > 0
    assert counts[0][THIN] == counts[1][THIN] + counts[2][THIN] > counts[1][THIN]
    assert counts[2][WIDE] == sum(counts[3].values()) == 0
    assert len(way_lines(shown, palette)[WIDE].points)
    overlay_data.forget()
    assert chain_lines(overlay_data.shown, ALL, palette) == way_lines(overlay_data.shown, palette) == {}


class Recorder:
    """Stands in for the GPU's own module: remembers its state and how often it draws."""

    def __init__(self):
        self.values, self.drawn = {"depth_test": "LESS", "blend": "NONE"}, []
        self.shader = self.state = self

    def from_builtin(self, _name):
        return self

    def __getattr__(self, name):
        if name.endswith("_get"):
            return lambda: self.values[name[:-4]]
        if name.endswith("_set"):
            return lambda value: self.values.update({name[:-4]: value})
        return lambda *_: None

    def batch(self, _shader, _kind, content):
        return SimpleNamespace(draw=lambda _: self.drawn.append(len(content["pos"])))


@pytest.mark.parametrize("in_front", [False, True])
def test_drawing_leaves_the_gpus_state_as_it_was(leg, monkeypatch, in_front):
    gpu = Recorder()
    monkeypatch.setattr(overlay_drawing, "gpu", gpu)
    monkeypatch.setattr(overlay_drawing, "batch_for_shader", gpu.batch)
    leg.twobone.show_in_front = in_front
    context = SimpleNamespace(
        mode="OBJECT", scene=bpy.context.scene, view_layer=bpy.context.view_layer, preferences=bpy.context.preferences,
        space_data=SimpleNamespace(overlay=SimpleNamespace(show_overlays=True)), region=SimpleNamespace(width=300, height=200),
    )  # fmt: skip
    monkeypatch.setattr(overlay_showing, "bpy", SimpleNamespace(context=context))
    monkeypatch.setattr(overlay_showing, "_is_wanted", lambda *_: True)
    monkeypatch.setattr(watching, "timers_run", lambda: True)
    overlay_showing.draw()
    watching.catch_up()
    overlay_showing.draw()
    assert len(gpu.drawn) == 2 + 3
    assert gpu.values == {"depth_test": "LESS", "blend": "NONE"}
    overlay_drawing.chain_part.made_from = overlay_drawing.path_part.made_from = ()
    overlay_drawing.chain_part.batches = overlay_drawing.path_part.batches = ()


def test_without_a_viewport_nothing_is_drawn(leg):
    overlay_showing.draw()
    assert overlay_data.shown.picture is None


def test_a_limb_without_keys_follows_its_target_after_a_look_at_all_frames(leg):
    """Nothing but the target moves, so the limb's own motion is one row for all frames."""
    chain = leg.twobone.chains[0]
    chain.plane = "POSE"
    chain.target.animation_data_clear()
    for place in ((0.1, 0.4, 0.4), (0.1, -0.3, 0.5)):
        chain.target.location = place
        assert np.allclose(tip_of(leg), place, atol=1e-5)
