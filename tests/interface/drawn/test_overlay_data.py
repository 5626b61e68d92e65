"""The overlay's picture and paths follow what happens in the file, are made once, and end without a trace."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from tests.tasks.scenes import add_empty, key_places, leg_with_chain
from twobone_addon.interface import watching
from twobone_addon.interface.overlay import data as overlay_data
from twobone_addon.interface.overlay import drawing as overlay_drawing
from twobone_addon.interface.overlay import showing as overlay_showing
from twobone_addon.interface.overlay.drawing import THIN, WIDE, chain_lines, theme_palette, way_lines

ALL = (True, True, True)


@pytest.fixture
def following_leg(empty_file):
    rig = leg_with_chain(plane="YZ")
    key_places(rig.twobone.chains[0].target, [(0.1, 0.5, 0.1 * frame) for frame in range(6)])
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


def test_the_picture_is_the_chain_on_its_target_and_is_made_once(following_leg):
    first = update(following_leg).picture
    target = np.array(following_leg.twobone.chains[0].target.matrix_world.translation)
    assert np.allclose(first.joints[-1][1:], target[1:], atol=1e-5)
    assert update(following_leg).picture is first


def test_of_an_armature_without_size_nothing_is_shown_until_it_has_one_again(following_leg):
    following_leg.scale = (0.0, 0.0, 0.0)
    assert update(following_leg).picture is None
    following_leg.scale = (1.0, 1.0, 1.0)
    assert update(following_leg).picture is not None


@pytest.mark.parametrize("change", ["target", "frame", "setting", "rest", "pole"])
def test_the_picture_is_made_anew_when_something_changes(following_leg, change):
    chain = following_leg.twobone.chains[0]
    chain.pole = add_empty("Pole")
    chain.pole.location = (0, 5, 0)
    chain.plane = "POLE"
    version = update(following_leg).picture_version
    if change == "target":
        chain.target.location.y += 0.1
    elif change == "frame":
        bpy.context.scene.frame_set(3)
    elif change == "setting":
        chain.bend = "NEGATIVE"
    elif change == "pole":
        chain.pole.location.x = 3
    else:
        following_leg.data.pose_position = "REST"
        chain.upper = "parent"
    assert update(following_leg).picture_version > version


def test_paths_are_made_in_a_pause_and_again_after_keys_have_changed(following_leg, monkeypatch):
    monkeypatch.setattr(watching, "timers_run", lambda: True)
    assert update(following_leg).path is None
    assert bpy.app.timers.is_registered(watching.catch_up)
    assert watching.catch_up() is None
    path = update(following_leg).path
    assert len(path.targets) == 6
    assert watching.catch_up() is None
    assert update(following_leg).path is path
    following_leg.twobone.chains[0].target.location.y = 0.7
    bpy.context.view_layer.update()
    assert update(following_leg).path is path
    watching.catch_up()
    assert update(following_leg).path is not path


def test_while_somebody_is_busy_paths_wait(following_leg, monkeypatch):
    monkeypatch.setattr(watching, "timers_run", lambda: True)
    update(following_leg)
    monkeypatch.setattr(watching, "is_busy", lambda _: True)
    assert watching.catch_up() == watching.PAUSE_IN_SECONDS
    assert update(following_leg).path is None


def test_where_time_has_passed_the_picture_is_the_one_of_that_frame(following_leg):
    update(following_leg)
    for frame in (4, 2):
        bpy.context.scene.frame_set(frame)
        assert np.allclose(tip_of(following_leg)[2], 0.1 * (frame - 1), atol=1e-5)


def test_a_kept_offset_is_shown_after_the_walk_that_finds_it(following_leg, monkeypatch):
    monkeypatch.setattr(watching, "timers_run", lambda: True)
    following_leg.twobone.chains[0].target_offset = "KEEP"
    assert update(following_leg).picture is None
    watching.catch_up()
    assert update(following_leg).picture is not None


@pytest.mark.parametrize("broken", ["target", "step", "bone", "chain"])
def test_where_a_bake_would_refuse_nothing_is_shown(following_leg, broken):
    update(following_leg)
    chain = following_leg.twobone.chains[0]
    if broken == "target":
        chain.target = None
    elif broken == "step":
        chain.step = 0.0
    elif broken == "bone":
        chain.lower = "nobody"
    else:
        following_leg.twobone.chains.clear()
    shown = update(following_leg)
    assert shown.picture is None
    assert overlay_data.shown.path is None


def test_afterwards_nobody_listens_and_no_timer_runs(following_leg):
    update(following_leg)
    overlay_data.forget()
    watching.unregister()
    assert not bpy.app.timers.is_registered(watching.catch_up)
    assert not [each for each in bpy.app.handlers.depsgraph_update_post if each.__module__ == watching.__name__]
    assert overlay_data.shown.picture is None


@pytest.mark.parametrize("plane", ["YZ", "XZ", "REST"])
def test_lines_are_there_for_what_is_switched_on_in_the_themes_colours(following_leg, plane):
    following_leg.twobone.chains[0].plane = plane
    shown = update(following_leg)
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
def test_drawing_leaves_the_gpus_state_as_it_was(following_leg, monkeypatch, in_front):
    gpu = Recorder()
    monkeypatch.setattr(overlay_drawing, "gpu", gpu)
    monkeypatch.setattr(overlay_drawing, "batch_for_shader", gpu.batch)
    following_leg.twobone.show_in_front = in_front
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


def test_without_a_viewport_nothing_is_drawn(following_leg):
    overlay_showing.draw()
    assert overlay_data.shown.picture is None


def test_a_limb_without_keys_follows_its_target_after_a_look_at_all_frames(following_leg):
    """Nothing but the target moves, so the limb's own motion is one row for all frames."""
    chain = following_leg.twobone.chains[0]
    chain.plane = "POSE"
    chain.target.animation_data_clear()
    for place in ((0.1, 0.4, 0.4), (0.1, -0.3, 0.5)):
        chain.target.location = place
        assert np.allclose(tip_of(following_leg), place, atol=1e-5)
