"""Tasks for chains that follow their targets."""

import numpy as np

from twobone_addon.core.rig.following import ChainGoal, FollowingChain
from twobone_addon.core.rig.inverse import follow_together
from twobone_addon.core.rig.posing import Laying
from twobone_addon.core.solver import ReachOptions

KEEP, FLATTEN = Laying(flatten=False), Laying(flatten=True)


def follow_targets(chain, motion, reference, task):
    """One chain alone."""
    return follow_together([FollowingChain(chain, motion, reference, task)])[0]


def task_for(frames, targets, *, bend=1.0, laying=KEEP):
    return ChainGoal(
        frames=frames,
        targets=targets,
        bend=np.full(len(frames), bend),
        options=ReachOptions(),
        laying=laying,
        world_scale=np.ones(len(frames)),
    )
