"""Bake: key bone rotations from a target's motion."""
