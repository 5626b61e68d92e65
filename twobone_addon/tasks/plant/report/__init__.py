"""What became of planted feet: measured, and told."""
