"""Keys and channels: read, guarded, written, cleared."""
