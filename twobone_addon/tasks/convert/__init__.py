"""Convert IK constraints and Rigify limbs to FK keys."""
