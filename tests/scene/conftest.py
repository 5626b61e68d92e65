"""Scenes for the tests of what is sampled: no add-on, only Blender's own calls."""

import pytest


@pytest.fixture
def scene():
    """The scene of a new, empty file."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    return bpy.context.scene
