"""FK motion baked onto the controls of the rig's own IK."""
