"""The visible bones of a limb, and the settings that switch it between IK and FK."""
