"""How well contacts are found, on joints alone: recorded over force plates, generated, skating, and made with exact truth.

Run: python tests/benchmark/bench_contacts.py [--checkout FOLDER] [--only WORD] [--each]

Needs NumPy, not Blender. The recordings and the makers of exact feet are those of `shared` beside the checkout, or of the
parent of TWOBONE_TEST_DATA; what is absent is skipped, and said. `--checkout` measures the finder of another checkout.
Heel and ball are where the add-on has them for a foot whose rest pose stands.
"""

import argparse
import os
import sys
import time
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("TWOBONE_TEST_DATA", ROOT.parent / "shared" / "data")).parent
MOTIONS = ("walk", "run", "sneak", "jump", "idle", "turn", "pivot", "back", "side", "limp", "stairs", "slope")
CORRUPTIONS = ("slide", "retarget", "float", "sink", "noise0.3", "noise0.4", "smooth", "tpose", "glitch")
RATES = (24, 30, 60, 120)
SKATES = ("comp_3d_1", "comp_video_1", "demo_3d_1", "demo_video_1")
LOW, SLOW, LASTING = 0.056, 0.3, 3
"""Where a repaired toe stands: leg lengths over its 2nd percentile, leg lengths a second, frames."""
ALL_SIDES = "LR"


@dataclass(frozen=True)
class Case:
    """Feet in metres or any other unit, and where they truly stand."""

    name: str
    points: np.ndarray
    """`(C, 2, F, 3)`"""
    ball_height: float
    hips: np.ndarray
    """`(C, F, 3)`"""
    length: float
    rate: float
    true: np.ndarray
    """`(C, F)`"""
    scored: np.ndarray
    """`(F,)`"""


def tool(name):
    """A module of `shared/tools`, which only names Blender's where it is not needed here."""
    for folder in (SHARED / "tools", SHARED / "tools" / "feet_truth"):
        sys.path.insert(0, str(folder))
    for absent in ("bpy", "mathutils"):
        if absent not in sys.modules and find_spec(absent) is None:
            sys.modules[absent] = stand_in = ModuleType(absent)
            for each in ("Matrix", "Vector", "Quaternion", "Euler"):
                setattr(stand_in, each, None)
    return import_module(name)


def soled(joints, rate, true, *, name="", scored=None, rest_ankle=0.08, toe_height=0.03):
    """A case from joints as `motion_rigs` has them: the foot's rest is flat, its heel below the ankle."""
    points, lengths = [], []
    for hip, knee, ankle, toe in joints.values():
        along = toe - ankle
        size = np.linalg.norm(along, axis=1, keepdims=True)
        forward = along / size
        up = np.array([0.0, 0.0, 1.0]) - forward * forward[:, 2:]
        up /= np.maximum(np.linalg.norm(up, axis=1, keepdims=True), 1e-9)
        sine = (rest_ankle - toe_height) / float(np.median(size))
        points.append([ankle + rest_ankle * (sine * forward - np.sqrt(1 - sine * sine) * up), toe])
        lengths.append(sum(np.median(np.linalg.norm(b - a, axis=1)) for a, b in ((hip, knee), (knee, ankle))))
    hips = np.array([each[0] for each in joints.values()])
    scored = np.ones(len(hips[0]), bool) if scored is None else scored
    return Case(name, np.array(points), toe_height, hips, float(np.mean(lengths)), rate, np.array(true), scored)


# --- recorded and generated


def plates():
    rigs = tool("motion_rigs")
    joints, rate, loaded, scored = rigs.force_plate_walk()
    labels = [loaded[side].astype(float) for side in ALL_SIDES]

    def at(fps, joints=joints, name="plates"):
        if not fps:
            return soled(joints, rate, [loaded[side] for side in ALL_SIDES], name=name, scored=scored)
        thin, *more = rigs.thinned(joints, rate, fps, *labels, scored.astype(float))
        return soled(thin, fps, [each > 0.5 for each in more[:2]], name=f"{name} {fps}", scored=more[2] > 0.5)

    for fps in (0, 60, 30, 24):
        yield f"plates {fps or 'native'}", [at(fps)]
    pelvis = (joints["L"][0] + joints["R"][0]) / 2
    slid, _ = rigs.with_slide(joints, pelvis, 0.6)
    for fps in (0, 60, 30):
        yield f"plates x0.6 {fps or 'native'}", [at(fps, slid)]
    for metres, fps in product((0.01, 0.02), (60, 30)):
        thin, *more = rigs.thinned(joints, rate, fps, *labels, scored.astype(float))
        cases = [
            soled(rigs.with_jitter(thin, metres, fps, seed), fps, [each > 0.5 for each in more[:2]], scored=more[2] > 0.5)
            for seed in range(3)
        ]
        yield f"plates jitter {metres * 100:.0f} cm {fps}", cases


def generated():
    rigs = tool("motion_rigs")
    cases = []
    for name in ("01", "03", "05", "07"):
        joints, _, labels = rigs.generated_clip(name)
        cases.append(soled(joints, 30.0, [labels[:, 0] | labels[:, 1], labels[:, 2] | labels[:, 3]], name=name))
    yield "generated", cases


def hierarchy(text):
    """The joints of a BVH file's head, in order: offset, parent, channels, and which column is their first."""
    joints, stack, first = {}, [], 0
    for line in text.splitlines():
        match line.split():
            case ["ROOT" | "JOINT", name]:
                joints[name] = {"above": stack[-1] if stack else None, "channels": []}
                stack.append(name)
            case ["End", _]:
                stack.append(f"{stack[-1]} end")
                joints[stack[-1]] = {"above": stack[-2], "channels": []}
            case ["OFFSET", *numbers]:
                joints[stack[-1]]["offset"] = np.array(numbers, float)
            case ["CHANNELS", count, *channels]:
                joints[stack[-1]] |= {"channels": channels, "first": first}
                first += int(count)
            case ["}"]:
                stack.pop()
    return joints


def bvh(path):
    """Rest offsets, and positions and rotations over time, of a BVH file, Y up: `{joint: (offset, (F, 3), (F, 3, 3))}`."""
    head, motion = path.read_text().split("MOTION")
    joints = hierarchy(head)
    values = np.array([[float(word) for word in line.split()] for line in motion.strip().splitlines()[2:]])
    posed = {}
    for name, joint in joints.items():
        place, turn = np.tile(joint["offset"], (len(values), 1)), np.tile(np.eye(3), (len(values), 1, 1))
        for number, channel in enumerate(joint["channels"]):
            column = values[:, joint["first"] + number]
            axis = "XYZ".index(channel[0])
            if channel.endswith("position"):
                place[:, axis] = column
            else:
                turn = turn @ turned(axis, np.radians(column))
        if joint["above"]:
            _, above, outer = posed[joint["above"]]
            place, turn = above + np.einsum("fij,fj->fi", outer, place), outer @ turn
        posed[name] = (joint["offset"], place, turn)
    return posed


def turned(axis, angles):
    """Rotations `(F, 3, 3)` about one axis."""
    turn = np.tile(np.eye(3), (len(angles), 1, 1))
    one, two = (axis + 1) % 3, (axis + 2) % 3
    turn[:, one, one] = turn[:, two, two] = np.cos(angles)
    turn[:, two, one], turn[:, one, two] = np.sin(angles), -np.sin(angles)
    return turn


def upright(points):
    """From Y up to Z up."""
    return np.stack([points[..., 0], -points[..., 2], points[..., 1]], axis=-1)


def skate_case(name, raw=None, fixed=None):
    """A clip of `shared`, or one whose files are given."""
    folder = SHARED / "data" / "motion"
    paths = (raw or folder / f"skate_{name}_raw.bvh", fixed or folder / f"skate_{name}_fixed.bvh")
    raw, fixed = (bvh(path) for path in paths)
    points, hips, lengths, true = [], [], [], []
    for side in ("Left", "Right"):
        foot, toe = raw[f"{side}Foot"], raw[f"{side}ToeBase"]
        heel = foot[1] + foot[2] @ np.array([0.0, toe[0][1], 0.0])
        points.append([upright(heel), upright(toe[1])])
        hips.append(upright(raw[f"{side}UpLeg"][1]))
        lengths.append(sum(np.linalg.norm(raw[side + bone][0]) for bone in ("Leg", "Foot")))
    length = float(np.mean(lengths))
    for side in ("Left", "Right"):
        stood = upright(fixed[f"{side}ToeBase"][1])
        speed = np.linalg.norm(np.gradient(stood, 1 / 30, axis=0), axis=1)
        good = (stood[:, 2] <= np.quantile(stood[:, 2], 0.02) + LOW * length) & (speed < SLOW * length)
        true.append(lasting(good, LASTING))
    return Case(name, np.array(points), 0.0, np.array(hips), length, 30.0, np.array(true), np.ones(len(hips[0]), bool))


def lasting(mask, least):
    """`mask` `(F,)` without rows of fewer than `least` frames."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask, [0]]).astype(int))).reshape(-1, 2)
    kept = np.zeros_like(mask)
    for first, end in edges:
        kept[first:end] = end - first >= least
    return kept


# --- made with exact truth


def truth_case(kind, corruption, fps):
    """A character of `feet_truth`, spoiled as `plant_eval` does it."""
    synth, rng = tool("synth"), np.random.default_rng(4)
    times, feet, hips, yaw, _ = synth.motion(kind, fps)
    count, hips = len(times), hips.copy()
    ankles, turns = (np.array([feet[side][part] for side in ALL_SIDES]) for part in (0, 1))
    true = np.array([feet[side][3] | feet[side][4] for side in ALL_SIDES])
    thigh, shin = synth.THIGH, synth.SHIN
    if corruption == "slide":
        drift = np.outer(times, [0.03, 0.02]) if kind in ("idle", "turn", "jump") else 0
        moved = np.zeros((count, 3))
        moved[:, :2] = (hips[:, :2] - hips[0, :2]) * 0.12 + drift
        hips, ankles = hips + moved, ankles + moved
    if corruption in ("float", "sink"):
        moved = np.array([0, 0, 0.03 if corruption == "float" else -0.03])
        hips, ankles = hips + moved, ankles + moved
    body = np.array([synth.rotz(angle) for angle in yaw])
    places = np.stack(
        [
            legs_of(synth, hips - [0, 0, 0.05] + body[:, :, 0] * sign * synth.HALF, body, ankles[side], turns[side])
            for side, sign in ((0, 1), (1, -1))
        ]
    )
    if corruption == "retarget":
        longer = (0.47 + 0.40 + synth.ANK) / (thigh + shin + synth.ANK)
        raised = hips * [1, 1, longer]
        roots = places[:, 0] + (raised - hips)
        knees = roots + (places[:, 1] - places[:, 0]) * 0.47 / thigh
        places = np.stack([roots, knees, knees + (places[:, 2] - places[:, 1]) * 0.40 / shin], axis=1)
        thigh, shin = 0.47, 0.40
    if corruption.startswith(("noise", "smooth")):
        places, turns = shaken(rng, corruption, (synth.lowpass, fps), hips, (places, turns))
    if corruption == "tpose":
        root = np.array([1.5, 0, thigh + shin + synth.ANK])
        for side, sign in ((0, 1), (1, -1)):
            places[side, :, 0] = root + np.array(
                [
                    [sign * synth.HALF, 0, 0],
                    [sign * synth.HALF, 0, -thigh],
                    [sign * synth.HALF, 0, -thigh - shin],
                ]
            )
            turns[side, 0] = np.eye(3)
    if corruption == "glitch":
        odd, middle = turned(1, np.array([2.5]))[0] @ turned(2, np.array([1.0]))[0], count // 2
        places[1, 1:, middle] = places[1, 0, middle] + (places[1, 1:, middle] - places[1, 0, middle]) @ odd.T
        turns[1, middle] = odd @ turns[1, middle]
    heels = places[:, 2] + turns @ np.array([0, 0, -synth.ANK])
    balls = places[:, 2] + turns @ np.array([0, -synth.FWD, synth.BALLZ - synth.ANK])
    points = np.stack([heels, balls], axis=1)
    return Case(f"{kind} {fps}", points, synth.BALLZ, places[:, 0], thigh + shin, fps, true, np.ones(count, bool))


def legs_of(synth, roots, body, ankles, turns):
    """Hip, knee and ankle `(3, F, 3)`."""
    legs = []
    for root, ankle, facing, turn in zip(roots, ankles, body, turns, strict=True):
        forward = facing @ np.array([0, -1.0, 0]) + turn @ np.array([0, -1.0, 0])
        forward[2] = 0
        knee, _, reached = synth.ik(root, ankle, forward, synth.THIGH, synth.SHIN)
        legs.append([root, knee, reached])
    return np.swapaxes(np.array(legs), 0, 1)


def shaken(rng, corruption, slowly, hips, legs):
    """Every joint of the legs and the hips turned by chance, and what is below with it."""
    (lowpass, fps), (places, turns) = slowly, legs
    count = len(hips)
    fast = corruption.startswith("noise")
    degrees = float(corruption[5:] or 0.4) if fast else float(corruption[6:] or 1.2)

    def little():
        angles = rng.normal(size=(count, 3))
        if not fast:
            angles = lowpass(angles, fps, 2.5) / lowpass(rng.normal(size=(4000, 1)), fps, 2.5).std()
        angles = np.radians(degrees) * angles
        return turned(2, angles[:, 2]) @ turned(1, angles[:, 1]) @ turned(0, angles[:, 0])

    whole, out, turned_feet = little(), places.copy(), turns.copy()
    moved = rng.normal(size=(count, 3)) * 0.0025 * degrees if fast else np.zeros((count, 3))
    for side in (0, 1):
        turn = whole
        out[side, 0] = hips + moved + np.einsum("fij,fj->fi", turn, places[side, 0] - hips)
        for joint in (1, 2):
            turn = turn @ little()
            out[side, joint] = out[side, joint - 1] + np.einsum("fij,fj->fi", turn, places[side, joint] - places[side, joint - 1])
        turned_feet[side] = turn @ little() @ turns[side]
    return out, turned_feet


def truths():
    flat = [kind for kind in MOTIONS if kind not in ("stairs", "slope")]
    for fps in RATES:
        yield f"truth clean {fps}", [truth_case(kind, "clean", fps) for kind in flat]
    for corruption in CORRUPTIONS:
        rates = RATES if corruption.startswith(("noise", "smooth")) else (30,)
        yield f"truth {corruption}", [truth_case(kind, corruption, fps) for fps in rates for kind in flat]
    for kind in ("stairs", "slope"):
        for corruption in ("clean", "slide", "noise0.3"):
            yield f"{kind} {corruption}", [truth_case(kind, corruption, fps) for fps in RATES]


# --- measured


def skates():
    yield "skate", [skate_case(name) for name in SKATES]


def counters():
    from tests.core.contacts.counter import counter_set

    rows = {}
    for rate in (24, 30, 60, 120):
        for name, feet, must_not in counter_set(rate):
            case = Case(name, feet.points, 0.0, feet.hips, feet.leg_length, feet.rate, must_not, np.ones(must_not.shape[1], bool))
            rows.setdefault(f"counter {name}", []).append(case)
    yield from rows.items()


def states_of(case):
    """As Find Contacts has them for flat ground whose height and motion nobody gives."""
    from twobone_addon.core.contacts import feet as feet_module
    from twobone_addon.core.contacts import finding, ground

    heights = case.points[..., 2] - np.array([0.0, case.ball_height])[:, None]
    feet = feet_module.FeetMotion(case.points, heights, case.hips, case.length, case.rate)
    feet = feet.beside(ground.ground_velocity(feet))
    return finding.find_story(feet.over(ground.ground_height(feet)), finding.Thresholds()).states


def f1(found, true):
    both = np.count_nonzero(found & true)
    return 2 * both / max(np.count_nonzero(found) + np.count_nonzero(true), 1)


def scored(kind, cases):
    """One line of numbers, and those of each case."""
    found = [states_of(case) for case in cases]
    if kind == "counter":
        shares = [np.mean(states[case.true] > 0) for case, states in zip(cases, found, strict=True)]
        return f"planted {max(shares):.3f}", [f"{share:.3f}" for share in shares]
    if kind == "skate":
        counts = np.zeros(4)
        each = []
        for case, states in zip(cases, found, strict=True):
            ball = states > 1
            row = [np.count_nonzero(part) for part in (ball & case.true, (states > 0) & case.true, ball, case.true)]
            each.append(f"R {row[1] / row[3]:.3f} P {row[0] / row[2]:.3f}")
            counts += row
        return f"recall {counts[1] / counts[3]:.3f} precision {counts[0] / counts[2]:.3f}", each
    pairs = [((states > 0)[:, case.scored], case.true[:, case.scored]) for case, states in zip(cases, found, strict=True)]
    each = [min(f1(*foot) for foot in zip(states, true, strict=True)) for states, true in pairs]
    mean = np.mean([f1(*pair) for pair in pairs])
    return f"F1 {mean:.3f} worst {min(each):.3f}", [f"{value:.3f}" for value in each]


GROUPS = {"plates": plates, "generated": generated, "skate": skates, "truth": truths, "counter": counters}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkout", type=Path, default=ROOT, help="whose finder is measured")
    parser.add_argument("--only", default="", help="groups or rows with this word")
    parser.add_argument("--each", action="store_true", help="every case of a row as well")
    options = parser.parse_args()
    # The tests, and what they import, are this checkout's; the finder is that of the one asked for.
    sys.path.insert(0, str(ROOT))
    sys.path.insert(0, str(options.checkout))
    began = time.process_time()
    for name, rows in GROUPS.items():
        try:
            for row, cases in rows():
                if options.only in row:
                    numbers, each = scored(name, cases)
                    more = "  " + " ".join(f"{case.name} {value}," for case, value in zip(cases, each, strict=True))
                    print(f"{row:28} {numbers}{more if options.each else ''}", flush=True)
        except (FileNotFoundError, ModuleNotFoundError, StopIteration) as absent:
            print(f"{name}: skipped, data are absent ({absent})")
    print(f"{time.process_time() - began:.1f} s of CPU")


if __name__ == "__main__":
    main()
