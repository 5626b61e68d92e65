"""From settings to a plan: which bones, which frames, and everything that can be refused."""
