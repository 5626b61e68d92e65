"""The chains stored on an armature, and where an operator finds them."""
