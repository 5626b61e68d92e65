"""The pose of a chain on its target: for a range, for the current frame, and for the overlay."""
