"""Tasks for chains that follow their targets."""

import numpy as np

from twobone_addon.core.rig.following import Task
from twobone_addon.core.rig.posing import Laying
from twobone_addon.core.solver import ReachOptions

KEEP, FLATTEN = Laying(flatten=False), Laying(flatten=True)


def task_for(frames, targets, *, bend=1.0, laying=KEEP):
    return Task(
        frames=frames,
        targets=targets,
        bend=np.full(len(frames), bend),
        options=ReachOptions(),
        laying=laying,
        world_scale=np.ones(len(frames)),
    )
