"""Find Limbs: the arms and legs of a character as stored chains."""
