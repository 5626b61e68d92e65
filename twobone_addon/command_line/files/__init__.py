"""Files on disk: what is read is whole, and what is written is whole or not there."""
