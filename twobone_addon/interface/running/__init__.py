"""How operators run: bit by bit until Esc, again with other settings, refused with a dialog."""
