"""What a bake measured and says."""
