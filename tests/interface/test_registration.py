"""The add-on comes and goes without a trace."""

import bpy
import pytest

from tests.interface.shown_texts import own_properties
from tests.tasks.scenes import LEG, add_empty, build_armature
from twobone_addon.interface import watching
from twobone_addon.interface.overlay import data as overlay_data
from twobone_addon.interface.overlay import showing as overlay_showing
from twobone_addon.interface.stored import live_limbs

APP_HANDLERS = [name for name in dir(bpy.app.handlers) if isinstance(getattr(bpy.app.handlers, name), list)]
TIMERS = (live_limbs._look, watching.catch_up)
MENUS = ("VIEW3D_MT_pose", "VIEW3D_MT_pose_context_menu")


def traces():
    """All that an add-on could leave behind, but for timers and draw handlers, which Blender does not list."""
    menus = {name: [draw.__name__ for draw in getattr(bpy.types, name)._dyn_ui_initialize()] for name in MENUS}
    return {
        "classes": {name for name in dir(bpy.types) if "twobone" in name.lower()},
        "operators": dir(bpy.ops.twobone),
        "handlers": {name: len(getattr(bpy.app.handlers, name)) for name in APP_HANDLERS},
        "menus": menus,
        "object": hasattr(bpy.types.Object, "twobone"),
        "report": hasattr(bpy.types.WindowManager, "twobone_report"),
        "manuals": len(bpy.utils._manual_map),
    }


@pytest.fixture
def unregistered(empty_file, registered_addon):
    registered_addon.unregister()
    yield registered_addon
    registered_addon.register()


def test_nothing_is_left_after_unregistering(unregistered):
    before = traces()
    assert not before["classes"]
    assert not before["object"]
    unregistered.register()
    assert traces() != before
    unregistered.unregister()
    assert traces() == before


def test_fifty_times_on_and_off_adds_nothing(unregistered):
    before = traces()
    for _ in range(50):
        unregistered.register()
        unregistered.unregister()
    assert traces() == before


def test_fifty_times_on_and_off_in_the_middle_of_work_leaves_no_handler_and_no_timer(unregistered, monkeypatch):
    monkeypatch.setattr(watching, "timers_run", lambda: True)
    rig = build_armature(LEG)
    target = add_empty()
    before = traces()
    for turn in range(50):
        unregistered.register()
        if turn == 0:
            chain = rig.twobone.chains.add()
            chain.name, chain.upper, chain.lower, chain.target = "Leg", "upper", "lower", target
        overlay_data.update(bpy.context, rig)
        bpy.app.timers.register(live_limbs._look)
        assert bpy.app.timers.is_registered(watching.catch_up)
        unregistered.unregister()
        assert not [timer for timer in TIMERS if bpy.app.timers.is_registered(timer)]
        assert not overlay_showing.handles
    assert traces() == before


def test_every_class_has_a_tooltip_and_every_operator_a_label(empty_file):
    for name in dir(bpy.types):
        if name.startswith("TWOBONE_OT_"):
            operator = getattr(bpy.types, name)
            assert operator.bl_label
            assert operator.__doc__
            assert not operator.__doc__.strip().endswith(".")
            assert all(prop.description for prop in own_properties(operator)), name
