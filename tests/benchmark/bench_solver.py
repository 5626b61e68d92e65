"""How many frames the solver does in a second of one core. Run: python tests/benchmark/bench_solver.py [frames]

Prints one line per call; nothing is asserted, for time depends on the machine.
"""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from twobone_addon.core.solver import ReachOptions, forward, mid_joint, solve_planar, solve_two_bone, solve_two_bone_limited

FRAMES = 1_000_000
RUNS = 7
SEED = 1


def problems(frames):
    """Targets in and out of reach, lengths that differ from frame to frame, and bends."""
    random = np.random.default_rng(SEED)
    lengths = random.uniform(0.5, 1.5, (frames, 2))
    return random.normal(0, 1.2, (frames, 2)), lengths, random.choice([-1.0, 1.0], frames)


def median_seconds(call):
    """The median over several runs, after one to warm up."""
    call()
    seconds = []
    for _ in range(RUNS):
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return float(np.median(seconds))


def cases(frames):
    """What is measured, by name."""
    targets, lengths, bend = problems(frames)
    limits = np.radians([-90, 90, 5, 150])
    angles = solve_two_bone(targets, lengths, bend).angles
    soft = ReachOptions(mode="SOFTEN", softness=0.1, softness_near=0.1)
    stretch = ReachOptions(mode="STRETCH", softness=0.1, stretch_max=1.5)
    return {
        "angles and status": lambda: solve_two_bone(targets, lengths, bend),
        "angles and status, fixed lengths": lambda: solve_two_bone(targets, np.array([1.0, 0.8]), 1),
        "angles, status and mid joint": lambda: (
            solve_two_bone(targets, lengths, bend),
            mid_joint(targets, lengths, bend),
        ),
        "angles, status and all joints": lambda: forward(solve_two_bone(targets, lengths, bend).angles, lengths),
        "mid joint alone": lambda: mid_joint(targets, lengths, bend),
        "forward kinematics alone": lambda: forward(angles, lengths),
        "planar, CLAMP": lambda: solve_planar(targets, lengths, bend),
        "planar, SOFTEN": lambda: solve_planar(targets, lengths, bend, soft),
        "planar, STRETCH": lambda: solve_planar(targets, lengths, bend, stretch),
        "joint limits": lambda: solve_two_bone_limited(targets, lengths, bend, limits, 0.0),
    }


def main():
    frames = int(sys.argv[1]) if len(sys.argv) > 1 else FRAMES
    print(f"{frames:,} frames, median of {RUNS} runs, NumPy {np.__version__}")
    for name, call in cases(frames).items():
        seconds = median_seconds(call)
        print(f"{name:34} {seconds:8.3f} s {frames / seconds / 1e6:8.1f} million per second")


if __name__ == "__main__":
    main()
