"""Read the bones, constraints and limits of a rig."""
