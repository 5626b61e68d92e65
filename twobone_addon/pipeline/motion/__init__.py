"""Sample motion: from F-Curves where that is exact, else by Blender's evaluation."""
