"""The chains stored on an armature, and how the selection chooses among them."""
