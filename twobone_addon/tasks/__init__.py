"""The use-cases: from settings to keys and a report."""
