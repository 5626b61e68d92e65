"""Choosing which actions of an armature to work on."""
