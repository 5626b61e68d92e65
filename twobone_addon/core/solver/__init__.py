"""Planar inverse kinematics on arrays: triangles and chains of links, not rigs. NumPy only.

Arrays are `(..., F, k)`: any leading dimensions (chains), then frames, then components.

    solve_planar          entry point of a bake: targets and ReachOptions to poses
    solve_two_bone        the closed form for two links
    solve_two_bone_limited    the same within joint limits
    soften, far_zone, near_zone    soft reach, and the distances where it begins and ends
    stretch_ratio         scale of the links when stretching
    solve_planar_chain    the same as solve_planar, for more than two links
    solve_chain           chains of many links with limits, targets to poses
    bend_sides            side to which a chain of many links is bent, over time
    links_with_same_ring  two links with the same reachable ring as many
    mid_joint             mid joint of two links, without angles: for scripts, since a bake needs the angles
    forward               forward kinematics: angles to joints
    Reach                 outcome of a frame
    wrap, hold, sides_with_hysteresis    angles over time
"""

from .angles import forward, hold, sides_with_hysteresis, wrap
from .chain import REACH_TOLERANCE, ChainMethod, ChainSolution, solve_chain
from .chain_sides import CLEAR, UNSEEN_BEND, bend_sides, bends_of
from .limits import LimitedSolution, solve_two_bone_limited
from .planar import PlanarSolution, links_with_same_ring, solve_planar, solve_planar_chain
from .reach import Reach, ReachMode, ReachOptions
from .softness import SoftZone, far_zone, near_zone, soften, stretch_ratio
from .two_bone import TwoBoneSolution, mid_joint, solve_two_bone

__all__ = [
    "CLEAR",
    "REACH_TOLERANCE",
    "UNSEEN_BEND",
    "ChainMethod",
    "ChainSolution",
    "LimitedSolution",
    "PlanarSolution",
    "Reach",
    "ReachMode",
    "ReachOptions",
    "SoftZone",
    "TwoBoneSolution",
    "bend_sides",
    "bends_of",
    "far_zone",
    "forward",
    "hold",
    "links_with_same_ring",
    "mid_joint",
    "near_zone",
    "sides_with_hysteresis",
    "soften",
    "solve_chain",
    "solve_planar",
    "solve_planar_chain",
    "solve_two_bone",
    "solve_two_bone_limited",
    "stretch_ratio",
    "wrap",
]
