"""The user interface in Blender: properties, operators, panels, overlay and Live."""
