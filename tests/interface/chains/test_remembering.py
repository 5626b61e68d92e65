"""What takes long to find for a panel is found after a change, not with every redraw, and not while something moves."""

import json

import bpy
import pytest

from tests.interface.recording import drawn
from tests.tasks.scenes import LEG, add_empty, build_armature
from twobone_addon.interface import watching
from twobone_addon.interface.sidebar.panels import TWOBONE_PT_chains
from twobone_addon.interface.sidebar.result_panel import TWOBONE_PT_result
from twobone_addon.pipeline.report import reporting
from twobone_addon.scene.visible import visible_bone


@pytest.fixture
def looks(empty_file, monkeypatch):
    """Draws both panels that show such things; returns how often a rig was looked at for its visible bone and its motion."""
    rig = build_armature(LEG)
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target = "Leg", "upper", "lower", add_empty()
    bpy.context.scene.frame_end = 4
    bpy.ops.twobone.bake()
    assert json.loads(chain.report)["fingerprint"]
    counts = {"shown_bone": 0, "chain_digest": 0}
    for module, name in ((visible_bone, "shown_bone"), (reporting, "chain_digest")):
        monkeypatch.setattr(module, name, counting(counts, module, name))

    def draw():
        for name in counts:
            counts[name] = 0
        drawn(TWOBONE_PT_chains)
        drawn(TWOBONE_PT_result)
        return counts["shown_bone"], counts["chain_digest"]

    watching.unregister()
    draw()
    return draw


def counting(counts, module, name):
    found = getattr(module, name)

    def look(*given):
        counts[name] += 1
        return found(*given)

    return look


def change():
    bpy.data.objects["Rig"].location.x += 0.1
    bpy.context.view_layer.update()


def test_a_redraw_without_a_change_looks_at_nothing(looks):
    assert looks() == (0, 0)


def test_after_a_change_it_looks_once(looks):
    change()
    assert [looks(), looks()] == [(1, 1), (0, 0)]


def test_in_a_window_panels_are_drawn_at_once_and_it_looks_a_little_later(looks, monkeypatch):
    monkeypatch.setattr(watching, "timers_run", lambda: True)
    change()
    assert looks() == (0, 0)
    assert bpy.app.timers.is_registered(watching.catch_up)
    seen = []
    monkeypatch.setattr(visible_bone, "shown_bone", lambda *given: seen.append(given))
    assert watching.catch_up() is None
    assert len(seen) == 1
    assert looks() == (0, 0)
    watching.unregister()
    assert not bpy.app.timers.is_registered(watching.catch_up)


def test_what_is_gone_by_then_is_not_remembered(looks, monkeypatch):
    monkeypatch.setattr(watching, "timers_run", lambda: True)
    change()
    looks()
    bpy.data.objects.remove(bpy.data.objects["Rig"])
    assert watching.catch_up() is None


def test_another_frame_does_not_change_the_animation(looks):
    bpy.context.scene.frame_set(3)
    assert looks() == (1, 0)


def test_while_something_is_moved_or_played_panels_show_what_they_knew(looks, monkeypatch):
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(watching, "is_busy", lambda _manager: True)
        change()
        assert looks() == (0, 0)
    assert looks() == (1, 1)


def test_another_file_is_looked_at_even_then(looks, monkeypatch, tmp_path):
    monkeypatch.setattr(watching, "is_busy", lambda _manager: True)
    path = str(tmp_path / "leg.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert looks() == (1, 1)
