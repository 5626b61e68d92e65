"""Finish a retarget: feet, root and hands of a character where the source of its motion has them."""
