"""The feet's contacts as lines and labels."""

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ...core.array_types import Array
from ...core.contacts.states import ContactState
from ...errors import TwoBoneError
from ...tasks.find_contacts.judge import FootPicture, foot_pictures
from ..watching import Memory
from .lines import Lines, Palette, colored_strip, faint, joined, strip

ROUND = 16
"""Number of segments in each half circle of a footprint's outline."""

AROUND = 8
"""Number of frames before and after a stance for which paths are shown."""

STEPS = 60
"""Number of frames before and after the present one for which footprints are shown; covers a few steps."""

WIDTH = 0.22
"""Half the width of a footprint, relative to the foot's length from heel to ball."""


def _moves_feet(armature: str, change: Any) -> bool:
    is_changed = change.is_updated_transform or change.is_updated_geometry
    return isinstance(change.id, bpy.types.Action) or (is_changed and change.id.name == armature)


feet: Memory[list[FootPicture]] = Memory(concerns=_moves_feet, meanwhile=list)


def feet_of(armature: bpy.types.Object) -> list[FootPicture]:
    """Return the pictures of an armature's feet; they take a pass over all frames, so they follow a change in a pause."""
    return feet.recall(armature.name, lambda name=armature.name: _pictures(name))


def _pictures(name: str) -> list[FootPicture]:
    armature = bpy.data.objects.get(name)
    try:
        return foot_pictures(bpy.context.scene, armature) if armature is not None else []
    except TwoBoneError:
        return []


def pictures_around(pictures: Sequence[FootPicture], frame: float) -> list[FootPicture]:
    """Return the parts of each foot's picture to show at a frame: the paths around its stance, and the prints of a few steps.

    In a long take, all of them together would overlap.
    """
    found = []
    for picture in pictures:
        stance = [place for place in picture.prints if place.first <= frame <= place.last]
        first, last = (stance[0].first, stance[0].last) if stance else (frame, frame)
        rows = (picture.frames >= first - AROUND) & (picture.frames <= last + AROUND)
        near = tuple(place for place in picture.prints if place.first <= frame + STEPS and place.last >= frame - STEPS)
        found.append(FootPicture(picture.frames[rows], picture.ways[:, rows], picture.states[rows], near))
    return [picture for picture in found if len(picture.frames)]


def foot_lines(pictures: Sequence[FootPicture], palette: Palette) -> Lines:
    """Return the paths of heels and balls, coloured by what is on the ground, and an outline for each footprint."""
    colors = np.array([state_color(state, palette) for state in ContactState])
    parts = []
    for picture in pictures:
        parts += [colored_strip(way, colors[picture.states]) for way in picture.ways]
        parts += [strip(outline(place.ends, WIDTH * picture.length), palette.chosen) for place in picture.prints]
    return joined(parts)


def state_color(state: ContactState, palette: Palette) -> Any:
    """Return the colour of a foot's path for a contact state."""
    return {
        ContactState.HEEL: palette.too_near,
        ContactState.BALL: palette.soft,
        ContactState.BOTH: palette.reached,
    }.get(state, faint(palette.tip))


def outline(ends: Array, radius: float) -> Array:
    """Return a closed horizontal outline `(P, 3)` around heel and ball `(2, 3)` at this distance; a circle if they coincide."""
    along = (ends[1] - ends[0])[:2]
    angle = np.arctan2(along[1], along[0])
    around = angle + np.pi / 2 + np.linspace(0.0, np.pi, ROUND + 1)
    back = np.stack([np.cos(around), np.sin(around), np.zeros(ROUND + 1)], axis=-1) * radius
    return np.concatenate([ends[0] + back, ends[1] - back, ends[:1] + back[:1]])


def foot_labels(pictures: Sequence[FootPicture], frame: float) -> list[tuple[Array, str]]:
    """Return the position `(3,)` and the label with the frames of each footprint, sorted by their distance to a frame."""
    prints = sorted(
        (place for picture in pictures for place in picture.prints),
        key=lambda place: max(place.first - frame, frame - place.last, 0.0),
    )
    return [(place.ends.mean(axis=0), _frames(place.first, place.last)) for place in prints]


def with_room(corners: Sequence[tuple[float, float]], sizes: Sequence[tuple[float, float]]) -> list[int]:
    """Return the indices of labels that do not overlap an earlier kept one, given lower left corners and (width, height)."""
    kept: list[int] = []
    for row, ((x, y), (width, height)) in enumerate(zip(corners, sizes, strict=True)):
        others = ((*corners[other], *sizes[other]) for other in kept)
        if all(x + width <= u or u + wide <= x or y + height <= v or v + high <= y for u, v, wide, high in others):
            kept.append(row)
    return kept


def _frames(first: float, last: float) -> str:
    return f"{first:g}" if first == last else f"{first:g}\u2013{last:g}"
