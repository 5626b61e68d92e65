"""A scene in which much moves, sampled in all ways."""

import numpy as np

from twobone_addon.pipeline.motion.sampling import sample
from twobone_addon.scene.sampling.evaluate import Quantity

FRAMES = np.array([-7.0, -3.25, 0.0, 1.0, 4.5, 8.0, 13.7, 29.999, 44.0])
SINGLE_PRECISION = 4e-6
"""Of Blender's matrices, composed over up to six parents with coordinates around ten."""

THING = Quantity("WORLD", "Thing")
BONES = ("root", "upper", "lower", "toe")
POSES = [Quantity("POSE", "Rig", bone) for bone in BONES]
CHANNELS = [Quantity("CHANNELS", "Rig", bone) for bone in BONES]


def assert_ways_agree(scene, quantities, expected, frames=FRAMES):
    """All ways agree, and the one that is chosen is the one expected."""
    chosen = sample(scene, quantities, frames)
    assert chosen.evaluation == expected
    for way in ("PROBES", "SCENE"):
        evaluated = sample(scene, quantities, frames, evaluation=way)
        assert evaluated.evaluation == way
        for quantity in quantities:
            found, known = chosen.every(quantity), evaluated.every(quantity)
            error = SINGLE_PRECISION * (1.0 + np.abs(known).max())
            np.testing.assert_allclose(found, known, rtol=0, atol=error, err_msg=f"{way} {quantity}")
