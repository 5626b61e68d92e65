"""Classify branches as the legs and arms of a body, and find what it stands on and which way it faces."""
