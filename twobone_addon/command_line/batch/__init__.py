"""Many shots, each in a Blender of its own."""
