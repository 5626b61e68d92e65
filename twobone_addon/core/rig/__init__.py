"""Bones as matrices: rest chain, plane frames, local rotations, channels. NumPy only."""
