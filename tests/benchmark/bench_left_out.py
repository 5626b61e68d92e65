"""How well contacts are found on sources on which the constants of the finder were not chosen.

Run: python tests/benchmark/bench_left_out.py [--more FOLDER] [--as-is]

For each source, the constants in `TRIED` are chosen that score best on all others without planting more of the counter-set,
and the figure on the source itself is printed beside that of the constants as they are. Sources: a network whose feet skate, a
generator, the force plates of one laboratory and those of others, a studio's and a suit's recordings, feet made with exact truth.
Recordings are looked for in `shared/data/motion` and in FOLDER; what is absent is skipped, and said.

Joints are made from markers where there are only markers. Where nobody has measured contacts, only frames that leave no doubt
are judged: a foot that is low and at rest for long stands, one that is high or fast does not.
"""

import argparse
import sys
from itertools import product
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmark import bench_contacts as contacts
from tests.benchmark.bench_contacts import ALL_SIDES, SHARED, Case, bvh, f1, lasting, soled, states_of, upright

TRIED = {"WEIGHT": (1.0, 1.25, 2.0), "LOW": (0.07, 0.1), "CHANGE": (0.05, 0.06, 0.08)}
"""Constants of the finder, and the values among which they are chosen."""
PLANTED = 0.05
"""Largest part of what must not stand, in any motion of the counter-set, that may be planted."""
SKATES = ("comp_3d_1", "comp_3d_2", "comp_video_1", "comp_video_2", "demo_3d_1", "demo_3d_2", "demo_video_2")
HIP_DOWN, HIP_ASIDE = 0.3, 0.36
"""Hip joints below and beside the middle of the pelvis, as parts of the distance between its front spines (Bell 1990)."""
LOADED, BORNE = 20.0, 0.9
"""Newtons from which a plate is loaded; part of the usual force that the plates bear from where no foot stands beside them."""
SURE_LOW, SURE_REST, SURE_SECONDS = 0.03, 0.1, 0.15
"""Surely standing: leg lengths over the toe's lowest place, leg lengths a second, for at least so many seconds."""
SURE_HIGH, SURE_FAST = 0.15, 1.5
"""Surely in the air: leg lengths over the lowest place, or leg lengths a second."""


def markers(path):
    """Times `(F,)` and markers `{name: (F, 3)}` in metres, Z up, of a `.trc` file."""
    lines = path.read_text(encoding="latin1").splitlines()
    names = [name.strip() for name in lines[3].split("\t")[2:] if name.strip()]
    wide, rows = 2 + 3 * len(names), []
    for line in lines[5:]:
        cells = line.split("\t")
        if len(cells) > 4 and cells[0].strip():
            row = [float(cell) if cell.strip() else np.nan for cell in cells[:wide]]
            rows.append(row + [np.nan] * (wide - len(row)))
    table = np.array(rows)
    marker = {name: upright(table[:, 2 + 3 * at : 5 + 3 * at] / 1000.0) for at, name in enumerate(names)}
    return table[:, 1], marker


def forces(path):
    """Times `(n,)`, and for each column of a `.mot` file that is an upward force its values `(n,)`."""
    lines = path.read_text().splitlines()
    head = next(number for number, line in enumerate(lines) if line.split()[:1] == ["time"])
    names = lines[head].split()
    table = np.array([[float(word) for word in line.split()] for line in lines[head + 1 :] if line.strip()])
    upward = {name: table[:, at] for at, name in enumerate(names) if name.endswith("_vy")}
    return table[:, 0], upward


MARKED = {
    "stanford_walk": (
        "R.ASIS L.ASIS R.PSIS L.PSIS",
        "{}.Ankle",
        "{}.Heel",
        "{}.MT5 {}.Toe",
        ("ground_force_l_vy", "ground_force_r_vy"),
    ),
    "stanford_run": ("RASI LASI RPSI LPSI", "", "{}CAL", "{}MT5 {}TOE", ("L_ground_force_vy", "R_ground_force_vy")),
    "hamner_run": (
        "R.ASIS L.ASIS V.Sacral V.Sacral",
        "",
        "{}.Heel",
        "{}.Toe.Lat {}.Toe.Med",
        ("1_ground_force_vy", "ground_force_vy"),
    ),
    "delp_walk": (
        "R.ASIS L.ASIS V.Sacral V.Sacral",
        "",
        "{}.Heel",
        "{}.Toe.Lat {}.Toe.Med",
        ("1_ground_force_vy", "ground_force_vy"),
    ),
    "bmc_run": ("RASI LASI RPSI LPSI", "", "{}CAL", "{}MT5 {}TOE", ("L_ground_force_vy", "R_ground_force_vy")),
}
"""By recording: markers of the pelvis, of an ankle (none: made from the foot's), of heel and ball, and the column of forces."""
OVER_ALL = ("stanford_run", "hamner_run")
"""On instrumented treadmills no step is off the plates."""


def laboratory(name, folder):
    """A recording over force plates as a `Case`: rigid feet from markers, hips from the pelvis."""
    pelvis, ankle, heel, ball, column = MARKED[name]
    times, marker = markers(folder / f"{name}.trc")
    moments, upward = forces(folder / f"{name}.mot")
    rate = float(1.0 / np.median(np.diff(times)))
    front = [filled(marker[each]) for each in pelvis.split()]
    middle, wide = (front[0] + front[1]) / 2.0, np.linalg.norm(front[0] - front[1], axis=1, keepdims=True)
    centre = (middle + (front[2] + front[3]) / 2.0) / 2.0
    aside = (front[0] - front[1]) / wide
    joints, true, total = {}, [], 0.0

    def at(names, side):
        known = [marker[each] for each in names.format(side, side).split() if np.isfinite(marker[each]).any()]
        return np.mean([filled(path) for path in known], axis=0)

    for side in ALL_SIDES:
        away = HIP_ASIDE if side == "R" else -HIP_ASIDE
        hip = centre + away * aside * wide - HIP_DOWN * wide * [0.0, 0.0, 1.0]
        back, toe = at(heel, side), at(ball, side)
        joint = at(ankle, side) if ankle else back + 0.25 * (toe - back) + [0.0, 0.0, 0.05]
        joints[side] = [hip, (hip + joint) / 2.0, joint, toe]
        force = np.interp(times, moments, np.abs(upward[column[ALL_SIDES.index(side)]]))
        true.append(force > LOADED)
        total = total + force
    borne = np.flatnonzero(total > BORNE * np.median(total[total > 100.0]))
    scored = np.full(len(times), name in OVER_ALL)
    scored[borne[0] : borne[-1] + 1] = True
    return soled(joints, rate, true, name=name, scored=scored & (times >= moments[0]) & (times <= moments[-1]))


def filled(path):
    """A marker `(F, 3)` with its gaps closed by straight lines."""
    known, rows = np.isfinite(path[:, 0]), np.arange(len(path))
    return np.stack([np.interp(rows, rows[known], column[known]) for column in path.T], axis=1)


LEGS = ("UpLeg Leg Foot ToeBase", "Hip Knee Ankle Toe")
"""Names of the joints of a leg, behind those of its side."""


def recording(path, rate):
    """A recording without measured contacts: a `Case` that is judged where the toe leaves no doubt, see `sure`."""
    posed = bvh(path)
    thigh, shin, foot, toe = next(legs.split() for legs in LEGS if f"Left{legs.split()[0]}" in posed)
    points, hips, lengths = [], [], []
    for side in ("Left", "Right"):
        _, ankle, turn = posed[side + foot]
        offset = posed[side + toe][0]
        points.append([upright(ankle + turn @ np.array([0.0, offset[1], 0.0])), upright(posed[side + toe][1])])
        hips.append(upright(posed[side + thigh][1]))
        lengths.append(sum(np.linalg.norm(posed[side + bone][0]) for bone in (shin, foot)))
    points, length = np.array(points), float(np.mean(lengths))
    stands, flies = sure(points[:, 1], length, rate)
    return Case(path.stem, points, 0.0, np.array(hips), length, rate, stands, stands | flies)


def sure(balls, length, rate):
    """Masks `(C, F)` of the frames at which balls `(C, F, 3)` surely stand, and at which they are surely in the air."""
    speeds = np.linalg.norm(np.gradient(balls, 1.0 / rate, axis=1), axis=-1) / length
    over = (balls[..., 2] - np.quantile(balls[..., 2], 0.02, axis=1, keepdims=True)) / length
    rests = (over < SURE_LOW) & (speeds < SURE_REST)
    return np.array([lasting(foot, SURE_SECONDS * rate) for foot in rests]), (over > SURE_HIGH) | (speeds > SURE_FAST)


def sources(folders):
    """`{source: [(how it is judged, case)]}` of what is there."""

    def at(name):
        return next((folder / name for folder in folders if (folder / name).exists()), None)

    def skate(name):
        raw, fixed = (at(f"skate_{name}_{which}.bvh") for which in ("raw", "fixed"))
        return contacts.skate_case(name, raw, fixed) if raw and fixed else None

    marked = [laboratory(name, at(f"{name}.trc").parent) for name in MARKED if at(f"{name}.trc")]
    recordings = [path for folder in folders for path in sorted(folder.glob("studio_*.bvh"))]
    recordings += [path for path in (SHARED / "data" / "cmu_02_01_walk.bvh", at("cmu_131_01_walk.bvh")) if path]
    suit = at("suit_dance_100fps.bvh")
    made = [case for row, cases in contacts.truths() for case in cases[::4] if not row.startswith(("stairs", "slope"))]
    return {
        "skating network": [("recall", case) for case in map(skate, SKATES) if case],
        "generator": [("f1", case) for _, cases in contacts.generated() for case in cases],
        "plates": [
            ("f1", case) for row, cases in contacts.plates() for case in cases if "x0.6" not in row and "jitter" not in row
        ],
        "other plates": [("f1", case) for case in marked],
        "studio": [("sure", recording(path, 120.0)) for path in recordings],
        "suit": [("sure", recording(suit, 100.0))] if suit else [],
        "made": [("f1", case) for case in made],
    }


def figure(judged):
    """The score of a source, 0 to 1, and how it is said."""
    how, cases = judged[0][0], [case for _, case in judged]
    found = [states_of(case) for case in cases]
    if how == "f1":
        pairs = [((states > 0)[:, case.scored], case.true[:, case.scored]) for case, states in zip(cases, found, strict=True)]
        scores = [f1(*pair) for pair in pairs]
        return np.mean(scores), f"F1 {np.mean(scores):.3f}, least {min(scores):.3f}"
    counts = np.zeros(4)
    for case, states in zip(cases, found, strict=True):
        # Only the toes of the repaired clips are known; elsewhere frames in doubt do not count.
        stands, judged_frames = states > 0, states > 1 if how == "recall" else (states > 0) & case.scored
        counts += [np.count_nonzero(part) for part in (stands & case.true, case.true, judged_frames & case.true, judged_frames)]
    recall, precision = counts[0] / counts[1], counts[2] / max(counts[3], 1.0)
    return (recall + precision) / 2.0, f"recall {recall:.3f}, precision {precision:.3f}"


def planted():
    """Largest part of a motion of the counter-set that is planted."""
    shares = [np.mean(states_of(case)[case.true] > 0) for _, cases in contacts.counters() for case in cases]
    return float(max(shares))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--more", type=Path, default=None, help="a folder with more recordings")
    parser.add_argument("--as-is", action="store_true", help="only the figures of the constants as they are")
    options = parser.parse_args()
    from twobone_addon.core.contacts import finding

    known = sources([folder for folder in (SHARED / "data" / "motion", options.more) if folder])
    print("absent:", ", ".join(name for name, cases in known.items() if not cases) or "nothing")
    known = {name: cases for name, cases in known.items() if cases}
    own = {name: figure(cases) for name, cases in known.items()}
    table = {}
    for values in product(*TRIED.values()) if not options.as_is else ():
        before = {name: getattr(finding, name) for name in TRIED}
        for name, value in zip(TRIED, values, strict=True):
            setattr(finding, name, value)
        if planted() <= PLANTED:
            table[values] = {name: figure(cases) for name, cases in known.items()}
        for name, value in before.items():
            setattr(finding, name, value)
    for name, (_, said) in own.items():
        line = f"{name:16} as it is: {said}"
        if table:
            best = max(table, key=lambda values: np.mean([table[values][other][0] for other in known if other != name]))
            chosen = " ".join(f"{constant} {value:g}" for constant, value in zip(TRIED, best, strict=True))
            line += f"; chosen on the others ({chosen}): {table[best][name][1]}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
