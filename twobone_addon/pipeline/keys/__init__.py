"""From values at every frame to the keys that are written."""
