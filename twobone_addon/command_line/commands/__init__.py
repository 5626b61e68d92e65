"""The sub-commands that work on one shot."""
