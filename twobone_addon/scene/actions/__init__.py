"""The actions of an armature, one after the other."""
