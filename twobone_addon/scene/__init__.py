"""The only rooms that read or write Blender data."""
