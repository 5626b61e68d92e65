"""Bake FK motion onto the controls of the rig's own IK."""
