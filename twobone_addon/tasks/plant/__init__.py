"""Plant Feet: plant feet on the ground, and move the root so that the legs reach."""
