"""Arithmetic on arrays: no Blender, not even by a detour."""
