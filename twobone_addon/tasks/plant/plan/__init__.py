"""Inputs of planting: the legs and their root, the quantities to sample, the contacts and the ground."""
