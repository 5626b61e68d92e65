"""IK constraints and Rigify limbs converted to FK keys."""
