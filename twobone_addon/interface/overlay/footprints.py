"""The feet's contacts as lines and labels, kept until the animation changes.

They take a walk over time, so they are never made while drawing: whatever may have changed them marks them as old, and a
timer makes new ones when the user pauses.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np

from ...core.array_types import Array
from ...core.contacts.states import ContactState
from ...errors import TwoBoneError
from ...scene.sampling.stage import STAGE_NAME
from ...tasks.find_contacts.pictures import FootPicture, foot_pictures
from ..stored.where import is_busy, redraw_viewports
from .data import PAUSE_IN_SECONDS
from .lines import Lines, Palette, colored_strip, faint, joined, strip

ROUND = 16
"""Points of the outline of a heel."""

AROUND = 8
"""Frames before and after a stance whose paths are shown."""

STEPS = 60
"""Frames before and after the present one whose footprints are shown: some steps."""

WIDTH = 0.22
"""Of a footprint, to either side, relative to the foot from heel to ball."""


@dataclass(slots=True)
class ShownFeet:
    """What is shown of the feet of one armature."""

    armature: str = ""
    pictures: list[FootPicture] = field(default_factory=list)
    is_old: bool = True
    version: int = 0
    """Counts up with every change of what is shown."""


shown = ShownFeet()


def update(armature: bpy.types.Object) -> ShownFeet:
    """What to show of an armature's feet now; it is made anew later if it is old."""
    if shown.armature != armature.name:
        shown.armature, shown.pictures, shown.is_old, shown.version = armature.name, [], True, shown.version + 1
    if shown.is_old and not bpy.app.timers.is_registered(make_pictures):
        bpy.app.timers.register(make_pictures, first_interval=PAUSE_IN_SECONDS)
    if _notice_changes not in bpy.app.handlers.depsgraph_update_post:
        bpy.app.handlers.depsgraph_update_post.append(_notice_changes)
    return shown


def make_pictures() -> float | None:
    """Make the pictures anew, unless the user is in the middle of something; then look again later."""
    manager = bpy.context.window_manager
    if is_busy(manager):
        return PAUSE_IN_SECONDS
    armature = bpy.data.objects.get(shown.armature)
    shown.is_old = False
    try:
        shown.pictures = foot_pictures(bpy.context.scene, armature) if armature is not None else []
    except TwoBoneError:
        shown.pictures = []
    shown.version += 1
    redraw_viewports(manager)
    return None


def _notice_changes(scene: bpy.types.Scene, depsgraph: Any) -> None:
    """Edited keys change the pictures, and so does an armature that somebody moves without keys."""
    if scene.name.startswith(STAGE_NAME):
        return
    for change in depsgraph.updates:
        is_changed = change.is_updated_transform or change.is_updated_geometry
        if isinstance(change.id, bpy.types.Action) or (is_changed and change.id.name == shown.armature):
            shown.is_old = True


def forget() -> None:
    """Leave no timer, no handler and no data behind."""
    global shown  # noqa: PLW0603 - the footprints' one store
    if bpy.app.timers.is_registered(make_pictures):
        bpy.app.timers.unregister(make_pictures)
    if _notice_changes in bpy.app.handlers.depsgraph_update_post:
        bpy.app.handlers.depsgraph_update_post.remove(_notice_changes)
    shown = ShownFeet(version=shown.version + 1)


def pictures_around(pictures: Sequence[FootPicture], frame: float) -> list[FootPicture]:
    """What of each foot is shown at a frame: the paths of its stance and a little around it, and the prints of some steps.

    Of a long take all of them would cover each other.
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
    """The paths of heels and balls, coloured by what is on the ground, and an outline where each foot stands."""
    colors = np.array([state_color(state, palette) for state in ContactState])
    parts = []
    for picture in pictures:
        parts += [colored_strip(way, colors[picture.states]) for way in picture.ways]
        parts += [strip(outline(place.ends, WIDTH * picture.length), palette.chosen) for place in picture.prints]
    return joined(parts)


def state_color(state: ContactState, palette: Palette) -> Any:
    """The colour of a way while this is on the ground."""
    return {
        ContactState.HEEL: palette.too_near,
        ContactState.BALL: palette.soft,
        ContactState.BOTH: palette.reached,
    }.get(state, faint(palette.tip))


def outline(ends: Array, radius: float) -> Array:
    """A closed level line `(P, 3)` around heel and ball `(2, 3)`, at this distance from both; around one, a circle."""
    along = (ends[1] - ends[0])[:2]
    angle = np.arctan2(along[1], along[0])
    around = angle + np.pi / 2 + np.linspace(0.0, np.pi, ROUND + 1)
    back = np.stack([np.cos(around), np.sin(around), np.zeros(ROUND + 1)], axis=-1) * radius
    return np.concatenate([ends[0] + back, ends[1] - back, ends[:1] + back[:1]])


def foot_labels(pictures: Sequence[FootPicture], frame: float) -> list[tuple[Array, str]]:
    """The place `(3,)` and the frames of each time on the ground, those nearest to a frame first."""
    prints = sorted(
        (place for picture in pictures for place in picture.prints),
        key=lambda place: max(place.first - frame, frame - place.last, 0.0),
    )
    return [(place.ends.mean(axis=0), _frames(place.first, place.last)) for place in prints]


def with_room(corners: Sequence[tuple[float, float]], sizes: Sequence[tuple[float, float]]) -> list[int]:
    """Which of these labels, by lower left corner and width and height, can be read: an earlier one keeps its room."""
    kept: list[int] = []
    for row, ((x, y), (width, height)) in enumerate(zip(corners, sizes, strict=True)):
        others = ((*corners[other], *sizes[other]) for other in kept)
        if all(x + width <= u or u + wide <= x or y + height <= v or v + high <= y for u, v, wide, high in others):
            kept.append(row)
    return kept


def _frames(first: float, last: float) -> str:
    return f"{first:g}" if first == last else f"{first:g}\u2013{last:g}"
