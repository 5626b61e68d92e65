"""When feet stand: their contact points, the states of their contact, and how those are found. NumPy only."""
