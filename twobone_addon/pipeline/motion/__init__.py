"""What moves, sampled: from F-curves where that is exact, else by Blender."""
