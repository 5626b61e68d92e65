"""The operators behind the buttons."""
