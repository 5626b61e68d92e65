"""Curves and keys of planted legs and their root."""
