"""The feet's contacts as lines and labels, cached until the animation changes.

They need a pass over all frames, so they are never made while drawing: changes mark them as old, and a timer remakes them
when the user pauses.
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
"""Number of segments in each half circle of a footprint's outline."""

AROUND = 8
"""Number of frames before and after a stance for which paths are shown."""

STEPS = 60
"""Number of frames before and after the present one for which footprints are shown; covers a few steps."""

WIDTH = 0.22
"""Half the width of a footprint, relative to the foot's length from heel to ball."""


@dataclass(slots=True)
class ShownFeet:
    """The cached foot pictures of one armature."""

    armature: str = ""
    pictures: list[FootPicture] = field(default_factory=list)
    is_old: bool = True
    version: int = 0
    """Incremented with every change of `pictures`."""


shown = ShownFeet()


def update(armature: bpy.types.Object) -> ShownFeet:
    """Return the cached pictures of an armature's feet; old ones are remade later by a timer."""
    if shown.armature != armature.name:
        shown.armature, shown.pictures, shown.is_old, shown.version = armature.name, [], True, shown.version + 1
    if shown.is_old and not bpy.app.timers.is_registered(make_pictures):
        bpy.app.timers.register(make_pictures, first_interval=PAUSE_IN_SECONDS)
    if _notice_changes not in bpy.app.handlers.depsgraph_update_post:
        bpy.app.handlers.depsgraph_update_post.append(_notice_changes)
    return shown


def make_pictures() -> float | None:
    """Timer: remake the pictures, or return the seconds until the next try while the user is busy."""
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
    """Mark the pictures as old after a change of an action or of the armature."""
    if scene.name.startswith(STAGE_NAME):
        return
    for change in depsgraph.updates:
        is_changed = change.is_updated_transform or change.is_updated_geometry
        if isinstance(change.id, bpy.types.Action) or (is_changed and change.id.name == shown.armature):
            shown.is_old = True


def forget() -> None:
    """Remove the timer and the handler, and clear the cache."""
    global shown  # noqa: PLW0603 - the footprints' one store
    if bpy.app.timers.is_registered(make_pictures):
        bpy.app.timers.unregister(make_pictures)
    if _notice_changes in bpy.app.handlers.depsgraph_update_post:
        bpy.app.handlers.depsgraph_update_post.remove(_notice_changes)
    shown = ShownFeet(version=shown.version + 1)


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
