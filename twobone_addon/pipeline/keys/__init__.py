"""Turn values at every frame into the keys that are written."""
