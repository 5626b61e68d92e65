"""How operators run: in steps with progress and Esc, repeated by the redo panel, and corrected in a dialog after an error."""
