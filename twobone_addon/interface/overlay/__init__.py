"""The overlay drawn in the 3D viewport."""
