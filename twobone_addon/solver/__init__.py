"""Planar inverse kinematics in numbers: triangles and chains of links, not rigs. NumPy only.

Arrays are (..., F, k): any leading dimensions (chains), then frames, then components.

    solve_planar          what a bake calls: targets and options to poses
    solve_two_bone        the closed form for two links
    mid_joint             where their mid joint is, without angles
    forward               angles to joints
    Reach                 what became of a frame
    wrap, shortest_turn, blend_angles, hold, sides_with_hysteresis    angles over time
"""

from .angles import blend_angles, hold, shortest_turn, sides_with_hysteresis, wrap
from .forward import forward
from .mid_joint import mid_joint
from .planar import PlanarSolution, ReachMode, ReachOptions, solve_planar
from .reach import Reach
from .two_bone import TwoBoneSolution, solve_two_bone

__all__ = [
    "PlanarSolution",
    "Reach",
    "ReachMode",
    "ReachOptions",
    "TwoBoneSolution",
    "blend_angles",
    "forward",
    "hold",
    "mid_joint",
    "shortest_turn",
    "sides_with_hysteresis",
    "solve_planar",
    "solve_two_bone",
    "wrap",
]
