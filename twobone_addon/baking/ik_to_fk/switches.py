"""How an IK constraint ends once its motion is keyed."""

SWITCHES = ("MUTE", "INFLUENCE")
"""Muted, or its influence keyed to 0 over the range."""
