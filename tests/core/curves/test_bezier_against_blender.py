"""Our curves are Blender's curves: the same keys give the same values as `FCurve.evaluate`."""

import numpy as np
import pytest

from twobone_addon.core.curves.bezier import Keys, evaluate

bpy = pytest.importorskip("bpy")
from tests.core.curves.blender_curves import read_keys, written_curve  # noqa: E402

# Single precision, and what is left of it where a handle makes the curve steep.
PRECISION = 3e-5


@pytest.mark.parametrize("seed", range(12))
def test_random_keys_and_handles(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 12))
    frames = np.cumsum(rng.uniform(0.05, 20, count)) - 30
    values = rng.normal(size=count) * rng.choice([0.01, 1, 50])
    reach = rng.uniform(0, 25, (2, count))
    keys = Keys(
        frames,
        values,
        np.stack([frames - reach[0], values + rng.normal(size=count)], axis=-1),
        np.stack([frames + reach[1], values + rng.normal(size=count)], axis=-1),
    )
    with written_curve(keys) as fcurve:
        keys = read_keys(fcurve)
        asked = np.linspace(frames[0] - 3, frames[-1] + 3, 500).astype(np.float32).astype(float)
        # At a key Blender rounds the frame, so a step may fall on either side of it.
        asked = asked[np.abs(asked[:, None] - frames).min(axis=1) > 1e-3]
        theirs = np.array([fcurve.evaluate(frame) for frame in asked])
    assert np.allclose(evaluate(keys, asked), theirs, rtol=0, atol=PRECISION * np.abs(theirs).max())
