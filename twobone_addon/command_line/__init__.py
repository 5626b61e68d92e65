"""`blender --command twobone`: flags and job files to settings, use-cases to exit codes."""
