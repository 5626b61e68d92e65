"""What a person meets in Blender: properties, operators, panels, overlay, live."""
