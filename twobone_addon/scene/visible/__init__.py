"""The visible bones of a limb, and what switches it between IK and FK."""
