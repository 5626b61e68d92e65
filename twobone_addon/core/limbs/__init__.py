"""Detect the arms and legs of a character from the geometry and hierarchy of its bones. NumPy only."""
