"""Curves and keys of what planting changes."""
