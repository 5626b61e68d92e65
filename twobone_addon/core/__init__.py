"""Arithmetic on arrays, independent of Blender, even indirectly."""
