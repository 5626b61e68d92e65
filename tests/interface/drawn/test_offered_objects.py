"""Which objects are offered where one is to be chosen."""

import bpy

from tests.tasks.scenes import add_empty
from twobone_addon.interface.stored.option_properties import offered_objects
from twobone_addon.settings.feet import SURFACES


def add_object(name, data):
    bpy.context.scene.collection.objects.link(bpy.data.objects.new(name, data))


def test_only_what_has_a_surface_is_offered_as_the_ground(empty_file):
    """Not the armature and its targets, which would be refused."""
    add_object("Stairs", bpy.data.meshes.new("Stairs"))
    add_object("Path upstairs", bpy.data.curves.new("Path", "CURVE"))
    add_object("Stair light", bpy.data.lights.new("Light", "POINT"))
    add_empty("Stair target")
    assert offered_objects(SURFACES, "") == ["Path upstairs", "Stairs"]
    assert offered_objects(SURFACES, "PATH") == ["Path upstairs"]
    assert offered_objects(SURFACES, "light") == []
