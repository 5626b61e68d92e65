"""Keys as arrays: continuity, which frames, error-bounded reduction. NumPy only."""
