"""Interactive posing: chains that follow their targets live, are dragged with the mouse, or nudged."""
