"""Contacts of feet: found in the motion, keyed on stored chains, and read back."""
