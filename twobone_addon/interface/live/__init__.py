"""Chains that follow their targets at once: live, and dragged."""
