"""Turn settings into a plan: find bones and frames, and refuse whatever cannot be done."""
