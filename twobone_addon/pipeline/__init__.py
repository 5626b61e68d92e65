"""What every task shares: plans of chains, sampling and solving, keys, reports."""
