"""Grounds that are not level: stairs, a slope, and a mesh of hills; and what tells their height."""

import bpy
import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

STEP, RISE, FIRST_STEP = 0.605, 0.15, 0.17
"""A tread takes one footprint of the walker: from behind its heel to before its ball, then the next one rises."""


def ground_of(corners, faces):
    """The mesh as an object, and what tells how high it is at a place."""
    mesh = bpy.data.meshes.new("Ground")
    mesh.from_pydata(corners, [], faces)
    ground = bpy.data.objects.new("Ground", mesh)
    bpy.context.scene.collection.objects.link(ground)
    tree = BVHTree.FromPolygons(corners, faces)
    return ground, lambda place: tree.ray_cast(Vector((place[0], place[1], 50.0)), Vector((0.0, 0.0, -1.0)))[0].z


def slope(degrees=20.0):
    rise = np.tan(np.radians(degrees))
    return ground_of([(x, y, y * rise) for y in (-3.0, 8.0) for x in (-3.0, 3.0)], [(0, 1, 3, 2)])


def stairs(rise=RISE):
    """A closed staircase, up or down along Y."""
    profile = []
    for number in range(-4, 10):
        y = FIRST_STEP + STEP * (number - 1) - 0.02
        profile += [(y, rise * (number - 1)), (y, rise * number)]
    bottom = -6.0
    corners = [(x, y, z) for x in (-1.0, 1.0) for y, z in [*profile, (profile[-1][0], bottom), (profile[0][0], bottom)]]
    count = len(corners) // 2
    faces = [(at, (at + 1) % count, count + (at + 1) % count, count + at) for at in range(count)]
    return ground_of(corners, faces)


def hills(height=0.04):
    """Smooth noise: hills and hollows of some decimetres' width."""
    size, across, along = 0.05, 17, 140
    rng = np.random.default_rng(5)
    waves = [(*rng.uniform(-9.0, 9.0, 2), rng.uniform(0.0, 6.3)) for _ in range(6)]

    def high(x, y):
        return 2.0 * height * np.mean([np.sin(a * x + b * y + c) for a, b, c in waves])

    places = [(x, y) for x in size * (np.arange(across) - across // 2) for y in size * (np.arange(along) - 30)]
    corners = [(x, y, high(x, y)) for x, y in places]
    firsts = [row * along + column for row in range(across - 1) for column in range(along - 1)]
    return ground_of(corners, [(first, first + along, first + along + 1, first + 1) for first in firsts])
