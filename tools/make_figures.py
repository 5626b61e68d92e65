"""Draw the figures of the documentation with the add-on's own solver: `nox -s figures`.

python tools/make_figures.py [FOLDER]          (needs NumPy)
"""

import argparse
import math
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
from drawing import BLUE, FAINT, GREY, INK, ORANGE, RED, TEAL, Figure, Frame

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from twobone_addon.core.array_types import Array, Indices  # noqa: E402, the checkout is on the path only now
from twobone_addon.core.curves.reduction import reduce_keys  # noqa: E402
from twobone_addon.core.solver import ReachOptions, far_zone, forward, soften, solve_planar, solve_two_bone  # noqa: E402

FULL_TURN = np.linspace(0.0, 2.0 * np.pi, 181)


def circle(radius: float) -> Array:
    """A circle about the origin, as points."""
    return radius * np.column_stack([np.cos(FULL_TURN), np.sin(FULL_TURN)])


def arc(centre: Array, radius: float, start: float, end: float) -> Array:
    """An arc from one direction to another, as points."""
    turns = np.linspace(start, end, 40)
    return centre + radius * np.column_stack([np.cos(turns), np.sin(turns)])


def solved(target: tuple[float, float], lengths: tuple[float, float], bend: float) -> tuple[Array, Array]:
    """Root, middle joint and tip `(3, 2)`, and the two angles."""
    angles = solve_two_bone(np.array([target]), np.array(lengths), np.array([bend])).angles
    return forward(angles, np.array(lengths))[0], angles[0]


def draw_chain(figure: Figure, frame: Frame, joints: Array, colour: str, width: float = 5.0) -> None:
    """Draw the links and joints of a chain."""
    figure.line(frame, joints, colour, width)
    for joint in joints:
        figure.dot(frame, joint, colour, width)


def planes() -> Figure:
    """The three letter planes as Blender's views show them, with both sides of the bend."""
    figure = Figure(960, 380)
    views = (("XY", "Top", "X", "Y", "+Z"), ("XZ", "Front", "X", "Z", "-Y"), ("YZ", "Right", "Y", "Z", "+X"))
    for column, (plane, view, across, upward, normal) in enumerate(views):
        frame = Frame(30 + 310 * column, 60, 280, 270, (-0.6, -1.9), (1.9, 0.52))
        target, lengths = (1.15, -0.95), (1.0, 0.85)
        positive, angles = solved(target, lengths, 1.0)
        negative, _ = solved(target, lengths, -1.0)
        figure.arrow(frame, (0, 0), (1.75, 0), GREY, 1.5)
        figure.arrow(frame, (0, 0), (0, 0.48), GREY, 1.5)
        figure.label(frame, (1.78, 0.08), f"u = {across}", GREY, anchor="end")
        figure.label(frame, (0.08, 0.42), f"v = {upward}", GREY, anchor="start")
        draw_chain(figure, frame, negative, "#b8bfca")
        figure.line(frame, [positive[1], 2 * positive[1] - positive[0]], BLUE, 1.2, dash="4 4")
        draw_chain(figure, frame, positive, BLUE)
        sweep = arc(positive[1], 0.42, angles[0], angles[0] + angles[1])
        figure.line(frame, sweep, ORANGE, 2.2)
        figure.arrow(frame, sweep[-3], sweep[-1], ORANGE, 2.2)
        figure.label(frame, positive[1] + (-0.12, -0.06), "POSITIVE", BLUE, anchor="end", size=13)
        figure.label(frame, negative[1] + (0.14, -0.32), "NEGATIVE", GREY, anchor="start", size=13)
        figure.dot(frame, target, RED, 6)
        figure.words((frame.left + 140, 32), f"{plane}: {view} view", bold=True, size=16)
        figure.words((frame.left + 140, 360), f"the normal u x v points at you: {normal}", GREY, size=13)
    return figure


def reach() -> Figure:
    """The ring that a chain can reach, and the closest pose outside of it."""
    figure = Figure(860, 400)
    lengths = (1.0, 0.6)
    frame = Frame(20, 20, 360, 360, (-1.9, -1.9), (1.9, 1.9))
    figure.area(frame, [circle(1.6), circle(0.4)], TEAL)
    figure.line(frame, circle(1.6), TEAL)
    figure.line(frame, circle(0.4), TEAL)
    figure.dot(frame, (0, 0), INK, 5)
    for target, colour in (((1.6, 0.95), RED), ((0.75, -0.95), BLUE), ((-0.22, -0.1), ORANGE)):
        joints, _ = solved(target, lengths, 1.0)
        draw_chain(figure, frame, joints, colour, 4)
        figure.line(frame, [joints[2], target], colour, 1.4, dash="3 4")
        figure.dot(frame, target, colour, 7)
    notes = (
        (TEAL, "the ring that the tip can reach: |l1 - l2| to l1 + l2"),
        (BLUE, "in reach: the tip is on the target"),
        (RED, "too far: straight, pointing at the target"),
        (ORANGE, "too near: folded, the tip on the target's side"),
    )
    for row, (colour, text) in enumerate(notes):
        figure.parts.append(f'<circle cx="420" cy="{136 + 36 * row}" r="6" fill="{colour}"/>')
        figure.words((436, 141 + 36 * row), text, anchor="start")
    return figure


def softness() -> Figure:
    """Distance of the tip, and bend of the knee, for a target that moves away at constant speed."""
    figure = Figure(960, 390)
    lengths, amount = np.array([1.0, 0.8]), 0.1
    zone = far_zone(lengths, amount)
    distances = np.linspace(1.3, 2.1, 641)
    left = Frame(70, 40, 370, 280, (1.3, 1.3), (2.1, 2.0))
    right = Frame(560, 40, 370, 280, (1.3, 0.0), (2.1, 110.0))
    figure.axes(left, "distance of the target", "distance of the tip", ([1.4, 1.6, 1.8, 2.0], [1.4, 1.6, 1.8, 2.0]))
    figure.axes(right, "distance of the target", "bend of the knee in degrees", ([1.4, 1.6, 1.8, 2.0], [0, 30, 60, 90]))
    for frame in (left, right):
        for place, text in ((float(zone.start), "begins"), (float(zone.end), "straight")):
            figure.line(frame, [(place, frame.low[1]), (place, frame.high[1])], GREY, 1.0, dash="4 4")
            figure.label(frame, (place, frame.high[1]), text, GREY, size=12)
    for softened, colour, width in ((0.0, GREY, 2.0), (amount, BLUE, 3.0)):
        tips = soften(distances, lengths, softened)
        targets = np.column_stack([tips, np.zeros_like(tips)])
        bends = np.degrees(solve_two_bone(targets, lengths, np.ones(len(tips))).angles[:, 1])
        figure.line(left, np.column_stack([distances, tips]), colour, width)
        figure.line(right, np.column_stack([distances, bends]), colour, width)
    figure.label(left, (1.52, 1.76), "Clamp", GREY, anchor="end")
    figure.label(left, (1.72, 1.58), f"Soften, softness {amount:g}", BLUE, anchor="start")
    figure.label(right, (1.76, 46), "Soften: constant speed", BLUE, anchor="start")
    figure.label(right, (1.5, 18), "Clamp: ever faster", GREY)
    return figure


def stretch() -> Figure:
    """Scale of the bones, and bend of the knee, while a stretching chain keeps its tip on a target that moves away."""
    figure = Figure(960, 390)
    lengths, distances = np.array([1.0, 0.8]), np.linspace(1.3, 2.5, 721)
    targets = np.column_stack([distances, np.zeros_like(distances)])
    left = Frame(70, 40, 370, 280, (1.3, 0.95), (2.5, 1.35))
    right = Frame(560, 40, 370, 280, (1.3, 0.0), (2.5, 110.0))
    figure.axes(left, "distance of the target", "scale of the bones", ([1.4, 1.8, 2.2], [1.0, 1.1, 1.2, 1.3]))
    figure.axes(right, "distance of the target", "bend of the knee in degrees", ([1.4, 1.8, 2.2], [0, 30, 60, 90]))
    for row, (name, colour, start) in enumerate((("starts at 1", GREY, 1.0), ("starts at 0.9, or softness 0.1", BLUE, 0.9))):
        options = ReachOptions(mode="STRETCH", stretch_max=1.25, stretch_start=start)
        found = solve_planar(targets, lengths, np.ones(len(targets)), options)
        figure.line(left, np.column_stack([distances, found.ratio]), colour, 2.5)
        figure.line(right, np.column_stack([distances, np.degrees(found.angles[:, 1])]), colour, 2.5)
        figure.label(right, (1.78, 96 - 12 * row), name, colour, anchor="start", size=13)
    return figure


def depth() -> Figure:
    """A splayed leg in the YZ plane, seen from the front and from the right: with depth kept, and flattened."""
    figure = Figure(960, 360)
    rest = np.array([(0.0, 0.0, 0.0), (0.34, -0.05, -0.95), (0.16, 0.0, -1.85)])
    target = (-0.55, -1.45)
    for column, (name, flat) in enumerate((("KEEP", False), ("FLATTEN", True))):
        links = np.diff(rest, axis=0)
        lengths = np.linalg.norm(links if flat else links[:, 1:], axis=-1)
        posed, _ = solved(target, tuple(lengths), 1.0)
        front = np.column_stack([np.zeros(3) if flat else rest[:, 0], posed[:, 1]])
        left = 20 + 470 * column
        views = (("from the front", front, rest[:, [0, 2]]), ("from the right", posed, rest[:, 1:]))
        for number, (view, joints, before) in enumerate(views):
            frame = Frame(left + 220 * number, 60, 200, 250, (-0.9, -2.05), (0.75, 0.1))
            if number == 0:
                figure.line(frame, [(0.0, -2.05), (0.0, 0.1)], TEAL, 1.5, dash="5 4")
            draw_chain(figure, frame, before, FAINT, 4)
            draw_chain(figure, frame, joints, BLUE, 4)
            figure.dot(frame, target if number else (0.0, target[1]), RED, 5)
            figure.words((frame.left + 100, 338), view, GREY, size=13)
        figure.words((left + 210, 32), name, bold=True, size=16)
    return figure


def limits() -> Figure:
    """The region that a chain with joint limits can reach, and the closest pose to a target outside it."""
    figure = Figure(860, 420)
    lengths = np.array([1.0, 0.8])
    box = np.radians([-70.0, 40.0, 20.0, 120.0])
    frame = Frame(20, 20, 380, 380, (-1.2, -1.55), (1.9, 1.55))
    upper, lower = np.linspace(box[0], box[1], 60), np.linspace(box[2], box[3], 60)
    edges = [
        np.column_stack([upper, np.full(60, box[2])]), np.column_stack([np.full(60, box[1]), lower]),
        np.column_stack([upper[::-1], np.full(60, box[3])]), np.column_stack([np.full(60, box[0]), lower[::-1]]),
    ]  # fmt: skip
    outline = forward(np.concatenate(edges), lengths)[:, 2]
    figure.line(frame, arc(np.zeros(2), 1.8, -1.0, 1.0), FAINT, 1.5)
    figure.line(frame, circle(0.2), FAINT, 1.5)
    figure.area(frame, [outline], TEAL, 0.25)
    figure.line(frame, outline, TEAL, 1.8)
    options = ReachOptions(limits=box)
    for target, colour in (((0.75, 0.75), BLUE), ((1.65, -1.3), RED), ((-0.55, -0.5), ORANGE)):
        angles = solve_planar(np.array([target]), lengths, np.array([1.0]), options).angles
        joints = forward(angles, lengths)[0]
        draw_chain(figure, frame, joints, colour, 4)
        figure.line(frame, [joints[2], target], colour, 1.4, dash="3 4")
        figure.dot(frame, target, colour, 7)
    notes = (
        (TEAL, "what the limits leave of the ring"),
        (BLUE, "in reach"),
        (RED, "out of reach: the closest pose that the limits allow"),
        (ORANGE, "... in a corner of them, without getting stuck"),
    )
    for row, (colour, text) in enumerate(notes):
        figure.parts.append(f'<circle cx="420" cy="{146 + 36 * row}" r="6" fill="{colour}"/>')
        figure.words((434, 151 + 36 * row), text, anchor="start", size=13)
    return figure


def rounding() -> Figure:
    """Error of the knee's angle near full reach: the law of cosines with acos, and the form used here.

    The targets lie on the u axis, so that their distance is exact and the error is that of the formula alone.
    """
    figure = Figure(760, 400)
    lengths = np.array([1.0, 0.75])
    near, far = 0.25, 1.75
    distances = far * (1.0 - np.logspace(-15.0, -1.0, 281))
    targets = np.column_stack([distances, np.zeros_like(distances)])
    cosine = (distances**2 - lengths[0] ** 2 - lengths[1] ** 2) / (2.0 * lengths[0] * lengths[1])
    textbook = np.arccos(np.clip(cosine, -1.0, 1.0))
    ours = solve_two_bone(targets, lengths, np.ones(len(targets))).angles[:, 1]
    exact = np.array([exact_bend(Fraction(distance), Fraction(near), Fraction(far)) for distance in distances.tolist()])
    frame = Frame(90, 40, 620, 290, (-15.0, -18.0), (-1.0, -6.0))
    figure.axes(
        frame, "distance from full reach by the chain's length, power of ten", "error of the knee's angle, power of ten",
        (range(-14, 0, 2), range(-18, -5, 2)),
    )  # fmt: skip
    for angles, colour in ((textbook, RED), (ours, BLUE)):
        error = np.log10(np.maximum(np.abs(angles - exact), 1e-18))
        figure.line(frame, np.column_stack([np.log10(1.0 - distances / far), error]), colour, 1.5)
    figure.label(frame, (-8.5, -9.2), "law of cosines with acos", RED, anchor="start")
    figure.label(frame, (-9.0, -17.2), "atan2 of two square roots", BLUE, anchor="start")
    return figure


def exact_bend(distance: Fraction, near: Fraction, far: Fraction) -> float:
    """The knee's angle, computed exactly up to the square roots."""
    return 2.0 * math.atan2(math.sqrt(far**2 - distance**2), math.sqrt(distance**2 - near**2))


def reduction() -> Figure:
    """The knee's angle while the tip draws a figure eight: with every frame keyed, and reduced by a tolerance."""
    figure = Figure(860, 380)
    lengths, frames, tolerance = np.array([1.0, 0.8]), 96, 0.002
    times = np.arange(0.0, frames + 1e-9, 0.25)
    turns = 2.0 * np.pi * times / frames
    targets = np.column_stack([1.0 + 0.45 * np.sin(turns), -0.5 + 0.5 * np.sin(2.0 * turns)])
    angles = np.unwrap(solve_two_bone(targets, lengths, np.ones(len(times))).angles, axis=0)
    tips = forward(angles, lengths)[:, 2]

    def drift(tried: Array, samples: Indices) -> Array:
        return np.hypot(*np.moveaxis(forward(tried, lengths)[..., 2, :] - tips[samples], -1, 0))

    found = reduce_keys(times, angles, drift, tolerance)
    frame = Frame(80, 40, 740, 270, (0.0, 30.0), (float(frames), 150.0))
    figure.axes(frame, "frame", "knee in degrees", (range(0, 97, 12), range(30, 151, 30)))
    curve = np.column_stack([times, np.degrees(angles[:, 1])])
    figure.line(frame, curve, BLUE, 1.5)
    for point in curve[::4]:
        figure.dot(frame, point, "#a8bfe0", 3)
    for place, before, after in zip(found.frames, found.left[:, 1], found.right[:, 1], strict=True):
        value = np.degrees(found.curve(1).values[found.frames == place][0])
        handles = [(x, np.degrees(y)) for x, y in (before, after) if 0.0 <= x <= frames]
        figure.line(frame, [handles[0], (place, value), handles[-1]], ORANGE, 1.5)
        for handle in handles:
            figure.dot(frame, handle, ORANGE, 2.5)
        figure.dot(frame, (place, value), RED, 6)
    fewer = f"{frames + 1} keys become {len(found.frames)}"
    told = f"{fewer}; the tip drifts at most {found.worst_drift:.4f}, allowed {tolerance:g}"
    figure.words((450, 26), told, bold=True)
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "planes": planes,
    "reach": reach,
    "softness": softness,
    "stretch": stretch,
    "limits": limits,
    "depth": depth,
    "rounding": rounding,
    "reduction": reduction,
}


def main() -> None:
    """Draw all figures into a folder."""
    parser = argparse.ArgumentParser(description="Draw the figures of the documentation.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs" / "images")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in FIGURES.items():
        draw().save(folder / f"{name}.svg")
        print(folder / f"{name}.svg")


if __name__ == "__main__":
    main()
