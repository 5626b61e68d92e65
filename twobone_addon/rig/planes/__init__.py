"""The plane that a limb is bent in: its frames, its normal, and turns about it."""
