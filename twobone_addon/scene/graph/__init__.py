"""Dependencies of objects and bones, and their animation."""
