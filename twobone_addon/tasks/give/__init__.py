"""Bake FK motion onto a target and a pole."""
