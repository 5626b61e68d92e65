"""What all tasks share: chain plans, sampling, solving, keys and reports."""
