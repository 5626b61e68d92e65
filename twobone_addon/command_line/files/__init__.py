"""Files on disk: checked before reading, and written completely or not at all."""
