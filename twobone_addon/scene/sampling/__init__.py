"""The frame loop: what is evaluated, and what is put back afterwards."""
