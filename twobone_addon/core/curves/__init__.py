"""Keyframes as arrays: continuous channel values, frame selection, error-bounded key reduction. NumPy only."""
