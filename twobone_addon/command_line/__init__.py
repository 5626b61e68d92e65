"""`blender --command twobone`: turns flags and job files into settings, and outcomes into exit codes."""
