"""Scenes for the tests of what is sampled: no add-on, only Blender's own calls."""

import pytest


@pytest.fixture
def scene():
    """The scene of a new, empty file."""
    import bpy

    from tests.blank import empty

    empty()
    return bpy.context.scene
