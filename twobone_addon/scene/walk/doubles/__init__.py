"""Doubles of big rigs: a walk over time evaluates only the bones that matter."""
