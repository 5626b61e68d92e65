"""What an audit measures of a clip, and its picture as SVG text: heights of heels and balls, contacts, skating, pops.

Lengths and speeds are in the units of the input, times in seconds. Changes between two frames depend on the frame rate, so
differences over time are taken over a thirtieth of a second, the rate at which most clips are made and watched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap

import numpy as np

from ..files import one_line
from .array_types import Array, Codes, Mask
from .arrays import cross, dot, magnitude
from .contacts.feet import NOISE_STEP, noise_of
from .contacts.states import on_ball, on_heel, runs

STEP = 1.0 / 30.0
"""Time step of differences, in seconds."""
HUMAN_LEG, HUMAN_LEGS = 0.9, (0.5, 1.4)
"""Assumed leg length in metres where the scene's units are unknown, and range of leg lengths at which they are trusted."""
TOE_LOW, TOE_FAST = 0.05, 0.2
STANDS_LOW, STANDS_SLOW = 0.10, 0.15
"""Heights in metres and speeds in metres per second: the thresholds of Kimodo's `foot_skate_from_height`, `foot_skate_ratio` and
`foot_contact_consistency`."""
STRETCHED = 1e-3
"""Shortening of a limb, relative to its length, within which it is at full stretch: a bend of 5 degrees for two equal links."""
FLAT_SHARE, FLAT_LEVEL = 0.7, 0.08
"""Least fraction of the time on the ground that feet are near one level on a flat floor, and how near, in leg lengths."""
STANDING_LEAST = 0.1
"""Least duration in seconds of a contact whose slide is measured."""


def metre(leg_length: float, units_per_metre: float = 1.0) -> float:
    """Units per metre: the scene's own where legs then have a human length, else such that the leg is 0.9 m long."""
    is_human = HUMAN_LEGS[0] <= leg_length / units_per_metre <= HUMAN_LEGS[1]
    return units_per_metre if is_human else leg_length / HUMAN_LEG


def pops(values: Array, rate: float) -> Array:
    """Magnitudes `(F,)` of the second differences of `values` `(F, k)` over a thirtieth of a second; 0 at the ends.

    Central differences; those of another time step are scaled like an acceleration. Uniform motion has none, whatever its speed;
    a jump of a single frame has twice its size.
    """
    step = max(1, round(rate * STEP))
    largest = np.zeros(len(values))
    if len(values) > 2 * step:
        second = values[2 * step :] - 2.0 * values[step:-step] + values[: -2 * step]
        largest[step:-step] = magnitude(second) * (STEP * rate / step) ** 2
    return largest


def signed_bends(joints: Array, turns: Array) -> Array:
    """Bends `(F,)` of limbs with `joints` `(F, 3, 3)`, radians about the hinge; positive to the side of most bends.

    turns : (F, 3, 3), rotations of the upper bone. The hinge is fixed to that bone and perpendicular to the plane of both links:
        it is the mean over the clip of their cross product, so neither the rest pose nor names matter. 0 is straight.
    """
    links = np.diff(joints, axis=1)
    first, second = (links[:, number] / np.maximum(magnitude(links[:, number]), 1e-30)[:, None] for number in (0, 1))
    area = cross(first, second)
    hinge = np.einsum("fji,fj->i", turns, area)
    size = float(np.linalg.norm(hinge))
    if size <= 1e-9 * len(joints):  # It never bends.
        return np.arctan2(magnitude(area), dot(first, second))
    axes = turns @ (hinge / size)
    return np.arctan2(dot(area, axes), dot(first, second) - dot(first, axes) * dot(second, axes))


def is_stretched(joints: Array) -> Mask:
    """Mask `(F,)` of frames where limbs with `joints` `(F, 3, 3)` are straight, within a thousandth of their length."""
    reach = magnitude(joints[:, 2] - joints[:, 0])
    return reach >= (1.0 - STRETCHED) * magnitude(np.diff(joints, axis=1)).sum(axis=1)


def jitter(places: Array, rate: float) -> float:
    """Standard deviation of one component of the noise in positions `places` `(P, F, 3)`.

    From fourth differences over 0.035 s, of which the smallest fifth contains only noise; see `contacts.feet.noise_of`.
    """
    return noise_of(places, max(1, round(NOISE_STEP * rate)))


def loop_gaps(places: Array, rate: float) -> tuple[float, float]:
    """Greatest difference between first and last frame of any of the positions `places` `(P, F, 3)`, and of their velocities.

    Velocities are in units per second. A cycle ends in the pose in which it begins: its last frame repeats the first.
    """
    if places.shape[1] == 1:
        return 0.0, 0.0
    speeds = (places[:, -1] - places[:, -2] - places[:, 1] + places[:, 0]) * rate
    return float(magnitude(places[:, -1] - places[:, 0]).max()), float(magnitude(speeds).max())


@dataclass(frozen=True, slots=True)
class Skating:
    """Foot metrics by the definitions of Kimodo (NVIDIA, 2026, technical report, section 6.1).

    Speeds are 3D displacements between two frames, in metres per second. Toes are the balls of the feet; heels are below the
    ankles, on the sole. Heights are heights of joints above the ground, which the paper assumes at height 0.
    """

    foot_skate_from_height: float
    """Mean speed of toes at frames where they are lower than 5 cm; 0 without such frames."""
    foot_skate_from_contacts: float
    """Mean speed of heels and toes at frames where a contact has them on the ground (`foot_skate_from_pred_contacts`)."""
    foot_skate_max_speed: float
    """Greatest of the speeds in `foot_skate_from_contacts` (`foot_skate_max_vel`)."""
    foot_skate_ratio: float
    """Fraction of the frames where toes are lower than 5 cm, then and at the next frame, with a speed above 0.2 m/s."""
    foot_contact_consistency: float
    """Fraction of frames, over heels and toes, where contacts agree with being slower than 0.15 m/s and lower than 10 cm."""


def kimodo_skating(places: Array, heights: Array, states: Codes, size: float, rate: float) -> Skating:
    """Metrics of feet with heels and balls at positions `places` `(C, 2, F, 3)`, in ground space.

    heights : (C, 2, F) of the joints above the ground; states : (C, F) contacts; size : units per metre
    """
    if places.shape[2] == 1:
        return Skating(0.0, 0.0, 0.0, 0.0, 1.0)
    speeds = magnitude(np.diff(places, axis=2)) * (rate / size)
    low, toes = heights[:, 1] < TOE_LOW * size, speeds[:, 1]
    stands = np.stack([on_heel(states), on_ball(states)], axis=1)
    # No step follows the last frame: it has the speed of the one before it.
    seen = np.concatenate([speeds, speeds[..., -1:]], axis=2)
    consistent = stands == ((seen < STANDS_SLOW) & (heights < STANDS_LOW * size))
    on = speeds[stands[..., :-1]]
    return Skating(
        foot_skate_from_height=_mean(toes[low[:, :-1]]),
        foot_skate_from_contacts=_mean(on),
        foot_skate_max_speed=float(on.max(initial=0.0)),
        foot_skate_ratio=_mean(toes[low[:, :-1] & low[:, 1:]] > TOE_FAST),
        foot_contact_consistency=float(consistent.mean()),
    )


def standing_speed(places: Array, states: Codes, size: float, rate: float) -> float:
    """Mean speed along the ground of heels and balls between frames at both of which they stand, in metres per second.

    Arguments: `kimodo_skating`. Unlike its speeds, this one leaves out the step after the last frame on the ground, with which a
    foot lifts, and the rise of a heel or ball whose foot rolls: of the few frames of a short cycle they are many.
    """
    stands = np.stack([on_heel(states), on_ball(states)], axis=1)
    return _mean(magnitude(np.diff(places[..., :2], axis=2))[stands[..., 1:] & stands[..., :-1]]) * rate / size


def _mean(values: Array | Mask) -> float:
    return float(values.mean()) if len(values) else 0.0


@dataclass(frozen=True, slots=True)
class StanceMeasures:
    """Measurements of one stance of a foot."""

    first: int
    last: int
    """Indices of the first frame and the last, inclusive."""
    slide: float
    """Slide of a standing point along the ground, in units, see `stances_of`."""
    height: float
    """Height of the sole's lowest point above the floor, in units, kept or exceeded for three quarters of the time; negative
    below it."""


CONTACT_FAST = 0.3
"""Mean speed of standing feet along the ground, metres a second, above which they skate; clean walks have up to 0.21, those
of a network that skates at least 0.35."""


def may_skate(speed: float, *, stands: bool) -> bool:
    """Whether low frames of a foot that move may be skating, by the `standing_speed` of all feet, and whether it `stands` at all.

    Toes are also low while they swing, so low frames alone prove nothing.
    """
    return not stands or speed > CONTACT_FAST


def stances_of(places: Array, heights: Array, states: Codes, rate: float) -> list[StanceMeasures]:
    """Stances of one foot, on any of its points, that last at least a tenth of a second.

    places : (2, F, 3), heel and ball in ground space; heights : (2, F) of the sole there; states : (F,) contacts

    The slide of a point is the distance between its mean positions in the first and the last third of its time on the ground, so
    neither noise nor the frames of landing and lifting count. The point that slides less counts: a rolling foot turns about it.
    """
    stances, least = [], max(3, round(STANDING_LEAST * rate))
    for first, last in runs(states > 0):
        inside, slides = slice(first, last + 1), []
        for place, on in zip(places, (on_heel(states), on_ball(states)), strict=True):
            path = place[inside, :2][on[inside]]
            if len(path) >= least:
                third = len(path) // 3
                slides.append(float(np.linalg.norm(path[-third:].mean(axis=0) - path[:third].mean(axis=0))))
        if slides:
            stances.append(StanceMeasures(first, last, min(slides), float(np.quantile(heights[:, inside].min(axis=0), 0.25))))
    return stances


def on_one_level(stances: list[StanceMeasures], leg_length: float) -> bool:
    """Whether most of the stance time is on one level; on stairs there is no common floor to measure heights from."""
    times, levels = np.array([(stance.last - stance.first + 1, stance.height) for stance in stances]).reshape(-1, 2).T
    level = np.median(levels) if len(levels) else 0.0
    return bool(times[np.abs(levels - level) <= FLAT_LEVEL * leg_length].sum() >= FLAT_SHARE * times.sum())


WIDTH, HEIGHT, LEFT, GAP = 960.0, 120.0, 60.0, 46.0
"""Pixels: width and height of a row's diagram, left margin, gap between rows."""
PICTURE_START = '<svg xmlns="http://www.w3.org/2000/svg" data-kind="twobone-audit"'
"""First characters of a picture, by which it is told from others."""
COLOURS = {"heel": "#3778bf", "ball": "#2f9e5b", "contact": "#9aa3ad", "skating": "#d62f2f", "pop": "#e08a00"}
LETTERS, LINE = 130, 16.0
"""Letters per line of the verdict, and line height in pixels."""
MOST_POINTS = 2000
"""Greatest number of points of a curve; more would be less than a pixel apart."""


@dataclass(frozen=True, slots=True)
class Row:
    """Diagram data of one limb."""

    name: str
    heights: Array
    """`(2, F)` heights of heel and ball above the ground, in limb lengths; `(0, F)` for an arm."""
    stands: Mask
    """`(F,)` whether the limb is in contact."""
    skates: Mask
    """`(F,)` whether it skates."""
    pops: Sequence[float]
    """Frames of pops beyond the limit."""


def clip_picture(title: str, verdict: str, frames: Array, rows: Sequence[Row]) -> str:
    """SVG picture of a clip with `frames` `(F,)`, one diagram per limb, all with one scale of heights."""
    low = min([float(row.heights.min()) for row in rows if row.heights.size] + [0.0])
    high = max([float(row.heights.max()) for row in rows if row.heights.size] + [0.1])
    first, last = float(frames[0]), max(float(frames[-1]), float(frames[0]) + 1.0)

    def across(frame: float) -> float:
        return LEFT + (frame - first) / (last - first) * (WIDTH - LEFT - 20.0)

    lines = wrap(verdict, LETTERS)
    top = 44.0 + LINE * len(lines)
    parts = [_text(LEFT, 24, title, 16), *(_text(LEFT, 44 + LINE * number, line, 12) for number, line in enumerate(lines))]
    parts += [
        f'<rect x="{LEFT + 110 * number:.0f}" y="{top - 6:.0f}" width="10" height="10" fill="{colour}"/>'
        + _text(LEFT + 110 * number + 16, top + 3, name, 11)
        for number, (name, colour) in enumerate(COLOURS.items())
    ]
    top += 24.0
    for row in rows:
        size = HEIGHT if row.heights.size else 16.0

        def down(height: float, top: float = top, size: float = size) -> float:
            return top + size * (high - height) / (high - low)

        parts.append(_text(4, top - 6, row.name, 12))
        parts.append(f'<rect x="{LEFT}" y="{top:.1f}" width="{WIDTH - LEFT - 20}" height="{size}" fill="none" stroke="#ccd1d6"/>')
        for name, mask in (("contact", row.stands), ("skating", row.skates)):
            for start, end in runs(mask):
                left, right = across(float(frames[start]) - 0.5), across(float(frames[end]) + 0.5)
                bar = f'x="{left:.1f}" y="{top + size + 3:.1f}" width="{right - left:.1f}" height="8"'
                parts.append(f'<rect class="{name}" {bar} fill="{COLOURS[name]}"/>')
        for name, heights in zip(("heel", "ball"), row.heights, strict=False):
            chosen = np.unique(np.linspace(0, len(frames) - 1, min(len(frames), MOST_POINTS)).astype(int))
            points = " ".join(f"{across(float(frames[at])):.1f},{down(float(heights[at])):.1f}" for at in chosen)
            parts.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[name]}" stroke-width="1.2"/>')
        for frame in row.pops:
            parts.append(f'<path class="pop" d="M{across(frame):.1f} {top:.1f}v{size}" stroke="{COLOURS["pop"]}"/>')
        parts.append(_text(LEFT, top + size + 24, f"{first:g}", 10) + _text(WIDTH - 50, top + size + 24, f"{last:g}", 10))
        top += size + GAP
    box = f'viewBox="0 0 {WIDTH:.0f} {top:.0f}" width="{WIDTH:.0f}" height="{top:.0f}"'
    head = f'{PICTURE_START} {box} font-family="sans-serif">'
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>", ""])


def _text(x: float, y: float, words: str, size: int) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="#20252b">{escape(one_line(words))}</text>'
