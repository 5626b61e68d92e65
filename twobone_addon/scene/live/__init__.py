"""Limbs that Blender's own evaluation poses: the closed form as geometry nodes, written to bones by constraints."""
