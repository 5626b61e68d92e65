"""What moves at all, and what it depends on."""
