"""Pose a chain on its target: over a range, at the current frame, and for the overlay."""
