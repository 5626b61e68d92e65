"""The only package that reads or writes Blender data."""
