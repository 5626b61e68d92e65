"""The operators, except those of Live and dragging."""
