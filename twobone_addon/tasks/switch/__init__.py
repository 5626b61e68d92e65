"""Limbs switched between FK and IK, without being seen to move."""
