"""Measurements of a bake, and its report."""
