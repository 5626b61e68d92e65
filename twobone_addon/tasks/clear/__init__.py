"""Clear: take away what was baked."""
