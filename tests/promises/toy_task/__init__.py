"""A task as somebody might add one: all that it takes beside its line in the list of tasks."""
