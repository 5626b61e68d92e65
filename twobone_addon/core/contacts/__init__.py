"""Foot contacts: contact points of feet, contact states, and how they are found in a motion. NumPy only."""
