"""Tasks: each goes from settings to keys and a report."""
