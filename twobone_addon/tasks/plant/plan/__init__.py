"""Before planted legs are solved: which ones are meant, what is sampled of them, and where they stand."""
