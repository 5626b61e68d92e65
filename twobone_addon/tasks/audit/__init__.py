"""Audit: measure whether clips skate, float, sink, pop or have a seam. Reads only."""
