"""Legs that stand, and the root that lets them."""
