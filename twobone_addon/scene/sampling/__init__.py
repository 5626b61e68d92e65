"""Evaluate motion frame by frame, and restore what that changes."""
