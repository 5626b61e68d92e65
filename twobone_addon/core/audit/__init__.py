"""Measure the defects of a clip and draw them as a picture."""
