"""Arms and legs of a character, told from the geometry and the hierarchy of its bones. NumPy only."""
