"""Align Hinges: one curve per joint, where the plane stands still and the hinge is a local axis."""
