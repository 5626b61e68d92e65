"""Feet that stand: pins, corrections that ease in and out, and the root that lets the legs reach. NumPy only."""
