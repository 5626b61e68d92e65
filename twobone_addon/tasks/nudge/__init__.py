"""Nudge: the tip of a limb moved at a frame, on top of its motion, and less and less beside that."""
