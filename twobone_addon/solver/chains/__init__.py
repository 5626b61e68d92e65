"""Chains of many links in a plane: the pose that reaches, over time, within limits."""
