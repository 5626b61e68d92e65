"""Use cases over several actions of an armature."""
