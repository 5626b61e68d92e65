"""Fit Root: the root of a character moved as little as needed so that chains reach their targets. Made of what plants feet."""
