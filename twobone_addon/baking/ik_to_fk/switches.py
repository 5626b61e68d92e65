"""How an IK constraint ends once its motion is keyed."""

SWITCHES = ("MUTE", "INFLUENCE")
"""Muted, or its influence keyed to 0 over the range."""

SIDES = ("FK", "IK")
"""What a limb can be switched to."""

MOTIONS = ("AUTO", "BAKE", "KEEP")
"""What becomes of the motion that is seen: baked onto the other side where that does not move by itself, always, or never."""
