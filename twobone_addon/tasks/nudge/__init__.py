"""Nudge: move the tip of a limb at a frame, on top of its motion, fading out before and after."""
