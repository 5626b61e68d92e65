"""Bake: bone rotations from a target's motion."""
