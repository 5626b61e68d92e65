"""The sub-commands for one shot, each with its use case."""
