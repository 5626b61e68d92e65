"""Contacts on recordings made by others, source by source: the full table is `tests/benchmark/bench_left_out.py`."""

import numpy as np
import pytest

from tests.benchmark import bench_contacts, bench_left_out, bench_standing

SKATES = ("comp_3d_1", "comp_3d_2", "comp_video_1", "demo_3d_1", "demo_3d_2")

LEAST = {"skating network": (0.85, 0.9), "generator": 0.9, "plates": 0.96, "studio": (0.95, 0.95), "suit": (0.95, 0.95)}
"""Recall and precision, or F1, of each source."""


def cases_of(source, motion, there):
    if source == "skating network":
        pairs = [[there(motion / f"skate_{name}_{which}.bvh") for which in ("raw", "fixed")] for name in SKATES]
        return [bench_contacts.skate_case(path.stem, path, fixed) for path, fixed in pairs]
    if source in ("generator", "plates"):
        there(motion / "plates_walk1.trc")
        rows = bench_contacts.generated() if source == "generator" else bench_contacts.plates()
        return [case for row, cases in rows for case in cases if "x0.6" not in row and "jitter" not in row]
    paths = {
        "studio": [motion.parent / "cmu_02_01_walk.bvh", motion / "cmu_131_01_walk.bvh"],
        "suit": [motion / "suit_dance_100fps.bvh"],
    }
    return [bench_left_out.recording(there(path), 100.0 if source == "suit" else 120.0) for path in paths[source]]


@pytest.mark.parametrize("source", LEAST)
def test_contacts_of_each_source_are_found(data_folder, there, source):
    cases = cases_of(source, data_folder / "motion", there)
    found, least = [bench_contacts.states_of(case) for case in cases], LEAST[source]
    if isinstance(least, float):
        scores = [bench_contacts.f1((s > 0)[:, c.scored], c.true[:, c.scored]) for s, c in zip(found, cases, strict=True)]
        assert np.mean(scores) >= least
        return
    recalled = true = right = judged = 0
    for states, case in zip(found, cases, strict=True):
        # Of the network's feet only the repaired toes are known; elsewhere frames in doubt do not count.
        stands = states > 1 if source == "skating network" else (states > 0) & case.scored
        recalled, true = recalled + np.count_nonzero((states > 0) & case.true), true + np.count_nonzero(case.true)
        right, judged = right + np.count_nonzero(stands & case.true), judged + np.count_nonzero(stands)
    assert recalled / true >= least[0]
    assert right / judged >= least[1]


def test_feet_that_rest_already_are_moved_by_a_fraction_of_what_a_naive_pin_moves_them(data_folder, there):
    """At most half as many of the resting frames of recordings by over 5 and 10 mm, and none by over 20."""
    there(data_folder / "motion" / "plates_walk1.trc")
    rows = np.array([bench_standing.counts(cases) for cases in bench_standing.sources().values()])
    rests, over_5, over_10, over_20, naive_5, naive_10, _ = rows.sum(axis=0)
    assert rests > 1000
    assert over_5 <= naive_5 / 2
    assert over_10 <= naive_10 / 2
    assert over_20 == 0
