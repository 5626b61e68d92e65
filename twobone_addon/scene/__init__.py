"""Blender's data: of the rooms below the interface the only one that imports `bpy`, and the one that makes changes.

The rooms above read the attributes of objects, bones and curves that they get from here.
"""
