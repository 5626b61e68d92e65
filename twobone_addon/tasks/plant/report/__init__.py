"""Measurements and reports of planted feet."""
