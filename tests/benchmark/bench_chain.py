"""How often and how fast chains with limits reach: cyclic coordinate descent, one descent, the default.

Random limits around random poses, the target on the tip of the pose, so every target can be reached.
All methods start from the straight chain brought inside the limits. Then motions: how often the joints
jump, against following the target from frame to frame with the least turn.

    python tests/benchmark/bench_chain.py [--problems 100000]
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from twobone_addon.core.solver.angles import forward
from twobone_addon.core.solver.chain import read_request, solve_chain
from twobone_addon.core.solver.chain_descent import aim, descend

REACHED = 1e-6
LINK_COUNTS = range(3, 9)
MOTIONS, FRAMES = 40, 400
JUMP = 0.3


def random_chains(generator, count, links):
    """Lengths (count, links) that sum to 1 and limits (count, links, 2): a third wide, narrow and mixed each."""
    lengths = generator.uniform(0.2, 1.0, (count, links))
    lengths /= lengths.sum(axis=1, keepdims=True)
    center = generator.uniform(-np.pi, np.pi, (count, links))
    wide = generator.uniform(0.0, np.pi, (count, links))
    narrow = generator.uniform(0.0, 0.5, (count, links))
    mixed = 10 ** generator.uniform(-3.0, 0.5, (count, links))
    kind = np.arange(count)[:, np.newaxis] % 3
    half_width = np.choose(kind, [wide, narrow, mixed])
    limits = np.stack([center - half_width, center + half_width], axis=-1)
    return lengths, np.clip(limits, -np.pi, np.pi)


def bench_reach(count):
    """Print the share of reachable targets that each method reaches, and its cost."""
    print(f"{count} reachable targets per row; share reached within {REACHED:g} of the chain length, microseconds each")
    print("links |     CCD           | one descent       | AUTO              | AUTO missed, outside limits, NaN")
    for links in LINK_COUNTS:
        generator = np.random.default_rng(links)
        lengths, limits = random_chains(generator, count, links)
        poses = generator.uniform(limits[..., 0], limits[..., 1])
        targets = forward(poses, lengths)[:, -1]
        arguments = targets[:, np.newaxis], lengths[:, np.newaxis]
        limits = limits[:, np.newaxis]
        ccd, ccd_time = timed(solve_chain, *arguments, limits=limits, method="CCD")
        single, single_time = timed(descend_once, *arguments, limits)
        auto, auto_time = timed(solve_chain, *arguments, limits=limits)
        outside = (auto.angles < limits[..., 0]) | (auto.angles > limits[..., 1])
        columns = [(ccd.distances, ccd_time), (single, single_time), (auto.distances, auto_time)]
        texts = [f"{np.mean(left <= REACHED):8.3%} {1e6 * seconds / count:6.1f} us" for left, seconds in columns]
        counts = int((auto.distances > REACHED).sum()), int(outside.sum()), int(np.isnan(auto.angles).sum())
        print(f"{links:5} | {' | '.join(texts)} | {counts}", flush=True)


def descend_once(targets, lengths, limits):
    """Distances left by the first descent alone."""
    problem = read_request(targets, lengths, 1.0, limits, None).to_problem()
    return descend(problem, aim(problem, problem.preferred))[1]


def bench_motion():
    """Print how often the joints jump along continuous, reachable motions."""
    print(
        f"\n{MOTIONS} motions of {FRAMES} frames inside random limits: frames missed, steps over {JUMP} radians, chains with one"
    )
    print("links | frame to frame    | AUTO              | AUTO, milliseconds per motion")
    for links in (3, 5, 8):
        generator = np.random.default_rng(links)
        lengths, limits = random_chains(generator, MOTIONS, links)
        targets = forward(random_motion(generator, limits), lengths[:, np.newaxis])[..., -1, :]
        followed = follow(targets, lengths, limits)
        solution, seconds = timed(solve_chain, targets, lengths[:, np.newaxis], limits=limits[:, np.newaxis])
        texts = ["{:5d} {:5d} {:5d}".format(*count_jumps(targets, lengths, angles)) for angles in (followed, solution.angles)]
        print(f"{links:5} | {' | '.join(texts)} | {1e3 * seconds / MOTIONS:6.1f}", flush=True)


def random_motion(generator, limits):
    """Poses (MOTIONS, FRAMES, links) that swing smoothly between the limits."""
    shape = (len(limits), 1, limits.shape[1])
    phase = generator.integers(1, 4, shape) * np.linspace(0.0, 1.0, FRAMES)[:, np.newaxis] + generator.random(shape)
    fraction = 0.5 + 0.5 * generator.uniform(0.2, 0.98, shape) * np.sin(2 * np.pi * phase)
    low, high = limits[:, np.newaxis, :, 0], limits[:, np.newaxis, :, 1]
    return low + fraction * (high - low)


def follow(targets, lengths, limits):
    """Poses of a tracker: every frame a descent from the pose before."""
    first = solve_chain(targets[:, :1], lengths[:, np.newaxis], limits=limits[:, np.newaxis])
    poses = [first.angles[:, 0]]
    for frame in range(1, targets.shape[1]):
        request = read_request(
            targets[:, frame : frame + 1], lengths[:, np.newaxis], 1.0, limits[:, np.newaxis], poses[-1][:, np.newaxis]
        )
        poses.append(descend(request.to_problem(), poses[-1].T)[0].T)
    return np.stack(poses, axis=1)


def count_jumps(targets, lengths, angles):
    """Frames missed, steps that jump, chains that jump."""
    missed = np.linalg.norm(forward(angles, lengths[:, np.newaxis])[..., -1, :] - targets, axis=-1) > REACHED
    jumps = np.abs(np.diff(angles, axis=1)).max(axis=-1) > JUMP
    return int(missed.sum()), int(jumps.sum()), int(jumps.any(axis=1).sum())


def timed(call, *arguments, **options):
    """Return what a call returns, and its seconds."""
    begin = time.perf_counter()
    result = call(*arguments, **options)
    return result, time.perf_counter() - begin


def main():
    """Run both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=100_000)
    arguments = parser.parse_args()
    bench_reach(arguments.problems)
    bench_motion()


if __name__ == "__main__":
    main()
