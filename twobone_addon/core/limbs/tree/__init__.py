"""A skeleton as one tree of joints, and the branches of it that may be limbs."""
