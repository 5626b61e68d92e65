"""Planted poses: legs that stand still, and the root moves that let them reach."""
