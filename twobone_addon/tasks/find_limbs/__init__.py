"""Find Limbs: store the arms and legs of a character as chains."""
