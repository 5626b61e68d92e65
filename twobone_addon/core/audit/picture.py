"""Draw a clip as SVG text: heights of heels and balls over time, contacts as bars, skating in red, pops marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap

import numpy as np

from ...files import one_line
from ..array_types import Array, Mask
from ..contacts.states import runs

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
            points = " ".join(f"{across(float(frames[each])):.1f},{down(float(heights[each])):.1f}" for each in chosen)
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
