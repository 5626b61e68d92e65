"""What objects and bones depend on, and what animates them."""
