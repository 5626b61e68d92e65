"""Draw figures as SVG without a library: small files, and the same bytes from the same numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

INK, GREY, FAINT, BACKGROUND = "#22262e", "#7b828e", "#d9dde3", "#ffffff"
BLUE, ORANGE, TEAL, RED = "#1e5fb4", "#e8590c", "#0b8a7a", "#c92a2a"

Point = Sequence[float]


@dataclass
class Frame:
    """A rectangle of a figure with its own axes, which run from `low` to `high`."""

    left: float
    top: float
    width: float
    height: float
    low: Point
    high: Point

    def place(self, point: Point) -> tuple[float, float]:
        """Picture coordinates of a point given on the axes; the second axis points up."""
        across = (point[0] - self.low[0]) / (self.high[0] - self.low[0])
        upward = (point[1] - self.low[1]) / (self.high[1] - self.low[1])
        return self.left + across * self.width, self.top + (1.0 - upward) * self.height


@dataclass
class Figure:
    """A picture of lines, areas, dots and text."""

    width: int
    height: int
    parts: list[str] = field(default_factory=list)

    def line(self, frame: Frame, points: Iterable[Point], colour: str, width: float = 2.0, *, dash: str = "") -> None:
        """Draw a line through points given on the frame's axes."""
        places = " ".join(f"{x:.2f},{y:.2f}" for x, y in map(frame.place, points))
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="{width:g}" '
            f'stroke-linecap="round" stroke-linejoin="round"{dashes}/>'
        )

    def area(self, frame: Frame, outlines: Iterable[Iterable[Point]], colour: str, opacity: float = 0.18) -> None:
        """Fill the area of closed outlines; an outline inside another is a hole."""
        path = " ".join("M" + " L".join(f"{x:.2f} {y:.2f}" for x, y in map(frame.place, outline)) + " Z" for outline in outlines)
        self.parts.append(f'<path d="{path}" fill="{colour}" fill-opacity="{opacity:g}" fill-rule="evenodd"/>')

    def dot(self, frame: Frame, point: Point, colour: str, radius: float = 5.0) -> None:
        """Draw a dot, for a joint or a target."""
        x, y = frame.place(point)
        self.parts.append(f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{radius:g}" fill="{colour}"/>')

    def arrow(self, frame: Frame, start: Point, end: Point, colour: str, width: float = 2.0) -> None:
        """Draw a line with an arrowhead at its end."""
        self.line(frame, [start, end], colour, width)
        (x0, y0), (x1, y1) = frame.place(start), frame.place(end)
        length = max(((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5, 1e-9)
        ux, uy = (x1 - x0) / length, (y1 - y0) / length
        wings = [(x1 - 9 * ux + side * 4.5 * uy, y1 - 9 * uy - side * 4.5 * ux) for side in (1, -1)]
        corners = " ".join(f"{x:.2f},{y:.2f}" for x, y in [(x1 + 2 * ux, y1 + 2 * uy), *wings])
        self.parts.append(f'<polygon points="{corners}" fill="{colour}"/>')

    def words(
        self,
        place: Point,
        text: str,
        colour: str = INK,
        *,
        size: int = 14,
        anchor: str = "middle",
        bold: bool = False,
        turned: bool = False,
    ) -> None:
        """Write text at picture coordinates; `turned` makes it read upwards."""
        weight = ' font-weight="600"' if bold else ""
        turn = f' transform="rotate(-90 {place[0]:.1f} {place[1]:.1f})"' if turned else ""
        self.parts.append(
            f'<text x="{place[0]:.1f}" y="{place[1]:.1f}" font-size="{size}" fill="{colour}" '
            f'text-anchor="{anchor}"{weight}{turn}>{escape(text)}</text>'
        )

    def label(self, frame: Frame, point: Point, text: str, colour: str = INK, **style: object) -> None:
        """Write text at a point given on the frame's axes."""
        self.words(frame.place(point), text, colour, **style)  # type: ignore[arg-type]

    def axes(self, frame: Frame, across: str, upward: str, ticks: tuple[Sequence[float], Sequence[float]]) -> None:
        """Draw the axes at the left and the bottom, with grid lines, numbers and names."""
        (x0, y0), (x1, y1) = frame.low, frame.high
        self.line(frame, [(x0, y1), (x0, y0), (x1, y0)], GREY, 1.2)
        for tick in ticks[0]:
            self.line(frame, [(tick, y0), (tick, y1)], FAINT, 0.8)
            x, y = frame.place((tick, y0))
            self.words((x, y + 18), f"{tick:g}", GREY, size=12)
        for tick in ticks[1]:
            self.line(frame, [(x0, tick), (x1, tick)], FAINT, 0.8)
            x, y = frame.place((x0, tick))
            self.words((x - 8, y + 4), f"{tick:g}", GREY, size=12, anchor="end")
        self.words((frame.left + frame.width / 2, frame.top + frame.height + 38), across, size=13)
        self.words((frame.left - 44, frame.top + frame.height / 2), upward, size=13, turned=True)

    def save(self, path: Path) -> None:
        """Write the picture to a file."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" font-family="Helvetica, Arial, sans-serif">'
        )
        ground = f'<rect width="{self.width}" height="{self.height}" fill="{BACKGROUND}"/>'
        path.write_text("\n".join([head, ground, *self.parts, "</svg>", ""]), encoding="utf-8")
