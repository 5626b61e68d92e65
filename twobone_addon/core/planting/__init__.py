"""Planting arithmetic: foot pins, corrections that ease in and out, and root moves that keep legs within reach. NumPy only."""
