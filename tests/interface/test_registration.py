"""The add-on comes and goes without a trace."""

import bpy
import pytest

from tests.interface.shown_texts import own_properties

APP_HANDLERS = [name for name in dir(bpy.app.handlers) if isinstance(getattr(bpy.app.handlers, name), list)]
MENUS = ("VIEW3D_MT_pose", "VIEW3D_MT_pose_context_menu")


def traces():
    """All that an add-on could leave behind, but for timers and draw handlers, which nobody can list."""
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


def test_every_class_has_a_tooltip_and_every_operator_a_label(empty_file):
    for name in dir(bpy.types):
        if name.startswith("TWOBONE_OT_"):
            operator = getattr(bpy.types, name)
            assert operator.bl_label
            assert operator.__doc__
            assert not operator.__doc__.strip().endswith(".")
            assert all(prop.description for prop in own_properties(operator)), name
