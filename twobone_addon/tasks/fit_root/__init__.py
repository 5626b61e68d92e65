"""Fit Root: move a character's root as little as needed so that chains reach their targets. Built from parts of Plant Feet."""
