"""Branches judged by the body that they would make: its legs, its arms, where it stands and where it faces."""
