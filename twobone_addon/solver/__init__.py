"""Planar inverse kinematics in numbers: triangles and chains of links, not rigs. NumPy only."""
