"""The fewest Bezier keys that keep the joints within a tolerance of a motion."""
