"""Many shots, several at a time, in Blenders of their own."""
