"""The flags of every sub-command."""
