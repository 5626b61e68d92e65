"""Clear: remove baked keys."""
