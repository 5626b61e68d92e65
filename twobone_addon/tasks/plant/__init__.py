"""Feet planted on the ground, and the root moved so that the legs reach."""
