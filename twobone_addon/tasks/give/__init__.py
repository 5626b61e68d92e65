"""FK motion baked onto a target and a pole."""
