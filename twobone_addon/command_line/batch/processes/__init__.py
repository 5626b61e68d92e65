"""The processes of a batch: a Blender for each shot, and the end of all that it has started."""
