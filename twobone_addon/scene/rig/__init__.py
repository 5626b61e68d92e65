"""Bones, constraints and limits as the rig has them."""
