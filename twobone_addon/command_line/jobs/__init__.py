"""Job files: read, checked key by key, and what they say."""
