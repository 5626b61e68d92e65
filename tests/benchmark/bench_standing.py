"""How far planting moves feet that stand already, on recordings and generated motion: strict rests, beside a naive pin.

Run: python tests/benchmark/bench_standing.py

Needs NumPy, not Blender; recordings are those of `bench_contacts`. A ball rests where it keeps within 4 mm, of a leg of 0.9 m,
for 0.12 s. Contacts are found and pinned and eased as Plant Feet does, without its root and knees. The naive pin holds a ball
that is low and slow in the middle of its places.
"""

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmark import bench_contacts, bench_left_out
from tests.benchmark.bench_contacts import SHARED, Case, states_of

REST, SECONDS, LEG = 4.0, 0.12, 900.0
"""Millimetres within which a ball rests, for at least so many seconds, and millimetres of a leg."""
LIMITS = (5.0, 10.0, 20.0)
"""Millimetres above which a frame counts as moved."""
LOW, SLOW = 0.056, 0.56
"""Where the naive pin holds a ball: leg lengths over its 2nd percentile, leg lengths a second."""
SKATES = ("comp_3d_1", "comp_3d_2", "comp_video_1", "demo_3d_1", "demo_3d_2", "demo_video_1")


def sources():
    """`{source: [case]}`; clips of skating feet have no rests, so those that their authors repaired are taken."""
    motion = SHARED / "data" / "motion"
    repaired = [motion / f"skate_{name}_fixed.bvh" for name in SKATES]
    walks = [SHARED / "data" / "cmu_02_01_walk.bvh", motion / "cmu_131_01_walk.bvh"]
    plates = [case for row, cases in bench_contacts.plates() if "x0.6" not in row and "jitter" not in row for case in cases]
    return {
        "repaired": [bench_contacts.skate_case(path.stem, path, path) for path in repaired if path.exists()],
        "generator": [case for _, cases in bench_contacts.generated() for case in cases],
        "plates": plates,
        "studio": [case for path in walks for case in at_two_rates(bench_left_out.recording(path, 120.0), 4)],
        "suit": at_two_rates(bench_left_out.recording(motion / "suit_dance_100fps.bvh", 100.0), 3),
    }


def at_two_rates(case, step):
    rows = slice(None, None, step)
    parts = case.points[:, :, rows], case.ball_height, case.hips[:, rows], case.length, case.rate / step
    return [case, Case(case.name, *parts, case.true[:, rows], case.scored[..., rows])]


def strict_rests(ball, length, rate):
    """Mask `(F,)` of the frames at which a ball `(F, 3)` rests."""
    steps, rests = max(2, round(SECONDS * rate) + 1) - 1, np.zeros(len(ball), bool)
    for first in range(len(ball) - steps):
        if np.linalg.norm(np.ptp(ball[first : first + steps + 1], axis=0)) <= REST / LEG * length:
            rests[first : first + steps + 1] = True
    return rests


def planted_moves(case, states, foot):
    """Distances `(F,)` by which planting moves the ball of a foot with these contact `states` `(F,)`."""
    from twobone_addon.core.contacts.states import on_ball, on_heel
    from twobone_addon.core.planting.blends import Ease
    from twobone_addon.core.planting.goals import SAMPLES_PER_FRAME, eased_ankles, foot_goals, without_ways
    from twobone_addon.core.planting.pins import Foot, Resting
    from twobone_addon.core.rig.rotations import nearest_rotation

    heel, ball = case.points[foot]
    along = ball - heel
    size = np.linalg.norm(along, axis=1, keepdims=True)
    across = np.cross([0.0, 0.0, 1.0], along / size)
    across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-9)
    turns = np.stack([along / size, across, np.cross(along / size, across)], axis=-1)
    offset = np.array([float(np.median(size)), 0.0, 0.0])
    at_frames = Foot(heel, turns, np.zeros(3), offset)
    states = without_ways(at_frames, states, case.length, case.rate)
    times, rows = np.arange((len(heel) - 1) * SAMPLES_PER_FRAME + 1) / SAMPLES_PER_FRAME, np.arange(len(heel))
    before = np.minimum(times.astype(int), len(heel) - 2)
    part = (times - before)[:, None, None]
    heels = np.stack([np.interp(times, rows, heel[:, axis]) for axis in range(3)], axis=-1)
    sampled = Foot(heels, nearest_rotation(turns[before] * (1 - part) + turns[before + 1] * part), np.zeros(3), offset)
    second = case.rate * SAMPLES_PER_FRAME
    least, slope = max(1, round(0.1 * second)), max(1, round(0.04 * second))
    resting, turning = Resting(case.length, case.rate), Ease(least, least, slope=slope)
    on = on_heel(states), on_ball(states)
    goals = foot_goals(sampled, *on, settled=3e-6 * case.length, turning=turning, resting=resting)
    moved, _ = eased_ankles(goals, heels, Ease(least, round(0.5 * second), 0.5 * case.length / second, slope))
    balls = (moved + sampled.ways(goals.turns, offset))[::SAMPLES_PER_FRAME]
    return np.linalg.norm(balls - at_frames.points(offset), axis=1)


def naive_moves(case, foot):
    """Distances `(F,)` by which the naive pin moves the ball of a foot."""
    ball = case.points[foot, 1]
    speeds = np.linalg.norm(np.gradient(ball, 1.0 / case.rate, axis=0), axis=1) / case.length
    held = (ball[:, 2] <= np.quantile(ball[:, 2], 0.02) + LOW * case.length) & (speeds < SLOW)
    moves, edges = np.zeros(len(ball)), np.flatnonzero(np.diff(np.concatenate([[0], held, [0]]).astype(int))).reshape(-1, 2)
    for first, end in edges:
        moves[first:end] = np.linalg.norm(ball[first:end] - ball[first:end].mean(axis=0), axis=1)
    return moves


def counts(cases):
    """Resting frames, and how many of them planting and the naive pin move by more than each of the limits: `(1 + 2 * 3,)`."""
    total = np.zeros(1 + 2 * len(LIMITS), int)
    for case in cases:
        found = states_of(case)
        for foot in range(len(case.points)):
            rests = strict_rests(case.points[foot, 1], case.length, case.rate)
            moves = (planted_moves(case, found[foot], foot), naive_moves(case, foot))
            far = [np.count_nonzero(rests & (moved / case.length * LEG > limit)) for moved in moves for limit in LIMITS]
            total += [np.count_nonzero(rests), *far]
    return total


def main():
    rows = {name: counts(cases) for name, cases in sources().items()}
    for name, (rests, *far) in [*rows.items(), ("all", np.sum(list(rows.values()), axis=0))]:
        shares = [f"{100.0 * each / max(rests, 1):5.1f}" for each in far]
        said = f"planted {' '.join(shares[:3])} %, naive {' '.join(shares[3:])} %"
        print(f"{name:10} {rests:5} resting frames; over 5, 10, 20 mm: {said}")


if __name__ == "__main__":
    main()
