"""What is wrong with a clip, as numbers and as a picture."""
