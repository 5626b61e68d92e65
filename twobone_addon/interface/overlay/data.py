"""What the overlay shows of the active chain: the present frame, the paths over the range, and the contacts of feet.

The picture is made anew when a matrix, the frame or a setting that it depends on has changed. The paths need a pass over
all frames, so they follow a change in a pause. Contacts become lines and labels here, and are drawn in `drawing`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ...core.array_types import Array
from ...core.contacts.states import ContactState
from ...errors import TwoBoneError
from ...pipeline.plan.stored import StoredChain, active_chain, stored_settings
from ...pipeline.pose.pictures import ChainPicture, PathPicture, chain_picture, path_picture
from ...pipeline.pose.present import PresentPlan, is_current, present_plan, with_frames_around
from ...settings import LIMB_PLANES, BakeSettings
from ...tasks.find_contacts.task import FootPicture, foot_pictures
from ..watching import Memory
from .lines import Lines, Palette, colored_strip, faint, joined, strip


def _moves(names: set[str], change: Any) -> bool:
    """Whether a change may have moved objects of these names."""
    # Blender reports a changed pose as a geometry update.
    is_changed = change.is_updated_transform or change.is_updated_geometry
    return isinstance(change.id, bpy.types.Action) or (is_changed and change.id.name in names)


def _moves_limb(settings: BakeSettings, change: Any) -> bool:
    return _moves({settings.target, settings.pole, settings.plane_object, settings.armature}, change)


@dataclass(frozen=True, slots=True)
class Paths:
    """What one pass over all frames finds."""

    picture: PathPicture | None = None
    present: PresentPlan | None = None
    """The plan that knows the frames around the present one; `None` where none needs them."""


NO_PATHS = Paths()

paths: Memory[Paths] = Memory(concerns=_moves_limb, meanwhile=lambda: NO_PATHS)


@dataclass(slots=True)
class OverlayPicture:
    """The cached picture and paths of the chain that the overlay shows."""

    settings: BakeSettings | None = None
    present: PresentPlan | None = None
    situation: tuple[Any, ...] = ()
    """Cache key of `picture`: frame and evaluated matrices."""
    picture: ChainPicture | None = None
    paths: Paths = NO_PATHS
    picture_version: int = 0
    """Incremented with every change of `picture`."""

    @property
    def path(self) -> PathPicture | None:
        """The paths over the range."""
        return self.paths.picture


shown = OverlayPicture()


def forget() -> None:
    """Clear the cache, such as after a file was loaded or the add-on was disabled."""
    global shown  # noqa: PLW0603 - the overlay's one store
    shown = OverlayPicture(picture_version=shown.picture_version + 1)


def update(context: bpy.types.Context, armature: bpy.types.Object) -> OverlayPicture:
    """Bring the cache up to date for the armature's active chain and return it; it is empty if a bake would refuse."""
    chain = active_chain(armature)
    settings = _settings(armature, chain)
    if settings is None:
        forget()
        return shown
    if settings != shown.settings or shown.present is None or not is_current(shown.present, settings):
        if shown.present is not None:  # The paths were found for that plan.
            paths.doubt()
        _start(context.scene, settings)
    if armature.twobone.show_path:
        latest = paths.recall(settings, lambda: _find_paths(bpy.context.scene, settings))
        if latest is not NO_PATHS and latest is not shown.paths:  # Until then the old ones stay.
            shown.paths = latest
            if latest.present is not None:
                shown.present, shown.situation = latest.present, ()
    if shown.present is not None:
        _update_picture(context)
    return shown


def _find_paths(scene: bpy.types.Scene, settings: BakeSettings) -> Paths:
    try:
        picture = path_picture(scene, settings)
        if settings.target_offset == "KEEP":
            present = present_plan(scene, settings)
        else:
            present = shown.present if settings.plane in LIMB_PLANES else None
        if present is not None and settings.plane in LIMB_PLANES:
            present = with_frames_around(scene, present)
    except TwoBoneError:
        return Paths()
    return Paths(picture, present)


def _settings(armature: bpy.types.Object, chain: StoredChain | None) -> BakeSettings | None:
    if chain is None or chain.target is None:
        return None
    try:
        return stored_settings(armature, chain, {})
    except TwoBoneError:
        return None  # The panel shows the invalid setting, and a bake reports it.


def _start(scene: bpy.types.Scene, settings: BakeSettings) -> None:
    shown.settings, shown.situation, shown.picture = settings, (), None
    try:
        shown.present = None if settings.target_offset == "KEEP" else present_plan(scene, settings)
    except TwoBoneError:
        shown.present = None
    shown.picture_version += 1


def _update_picture(context: bpy.types.Context) -> None:
    depsgraph = context.view_layer.depsgraph
    plan = shown.present.plan
    situation = (context.scene.frame_current_final, *_matrices(plan, depsgraph))
    if situation == shown.situation:
        return
    # After a change of frame, an up-to-date path has already solved the chain at this frame.
    has_path = shown.path is not None and paths.is_current(shown.settings)
    is_new_frame = has_path and situation[:1] != shown.situation[:1]
    known = shown.path.chain_at(situation[0]) if is_new_frame else None
    shown.situation = situation
    try:
        shown.picture = known or chain_picture(shown.present, context.scene, depsgraph)
    except TwoBoneError:
        shown.picture = None
    shown.picture_version += 1


def _matrices(plan: Any, depsgraph: Any) -> list[Any]:
    """Return the evaluated matrices that the picture depends on, frozen copies for comparison."""
    matrices = []
    settings = plan.settings
    for name, bone in ((settings.target, settings.target_bone), (settings.pole, settings.pole_bone), (settings.plane_object, "")):
        if name:
            guide = bpy.data.objects[name].evaluated_get(depsgraph)
            world = guide.matrix_world @ guide.pose.bones[bone].matrix if bone else guide.matrix_world.copy()
            matrices.append(world.freeze())
    armature = bpy.data.objects[plan.names.armature].evaluated_get(depsgraph)
    matrices.append(armature.matrix_world.copy().freeze())
    bones = [plan.parent.bone] if plan.parent else []
    bones += [bone.name for bone in plan.rest.bones]
    matrices.extend(armature.pose.bones[bone].matrix.copy().freeze() for bone in bones)
    return matrices


ROUND = 16
"""Number of segments in each half circle of a footprint's outline."""

AROUND = 8
"""Number of frames before and after a stance for which paths are shown."""

STEPS = 60
"""Number of frames before and after the present one for which footprints are shown; covers a few steps."""

WIDTH = 0.22
"""Half the width of a footprint, relative to the foot's length from heel to ball."""


feet: Memory[list[FootPicture]] = Memory(concerns=lambda armature, change: _moves({armature}, change), meanwhile=list)


def feet_of(armature: bpy.types.Object) -> list[FootPicture]:
    """Return the pictures of an armature's feet; they take a pass over all frames, so they follow a change in a pause."""
    name = armature.name

    def find() -> list[FootPicture]:
        rig = bpy.data.objects.get(name)
        try:
            return foot_pictures(bpy.context.scene, rig) if rig is not None else []
        except TwoBoneError:
            return []

    return feet.recall(name, find)


def pictures_around(pictures: Sequence[FootPicture], frame: float) -> list[FootPicture]:
    """Return the parts of each foot's picture to show at a frame: the paths around its stance, and the prints of a few steps.

    In a long take, all of them together would overlap.
    """
    around = []
    for picture in pictures:
        stance = [footprint for footprint in picture.prints if footprint.first <= frame <= footprint.last]
        first, last = (stance[0].first, stance[0].last) if stance else (frame, frame)
        rows = (picture.frames >= first - AROUND) & (picture.frames <= last + AROUND)
        in_view = (frame - STEPS, frame + STEPS)
        near = tuple(footprint for footprint in picture.prints if footprint.first <= in_view[1] and footprint.last >= in_view[0])
        around.append(FootPicture(picture.frames[rows], picture.paths[:, rows], picture.states[rows], near))
    return [picture for picture in around if len(picture.frames)]


def foot_lines(pictures: Sequence[FootPicture], palette: Palette) -> Lines:
    """Return the paths of heels and balls, coloured by what is on the ground, and an outline for each footprint."""
    color_of = {
        ContactState.HEEL: palette.too_near,
        ContactState.BALL: palette.soft,
        ContactState.BOTH: palette.reached,
    }
    colors = np.array([color_of.get(state, faint(palette.tip)) for state in ContactState])
    parts = []
    for picture in pictures:
        parts += [colored_strip(path, colors[picture.states]) for path in picture.paths]
        parts += [strip(outline(footprint.ends, WIDTH * picture.length), palette.chosen) for footprint in picture.prints]
    return joined(parts)


def outline(ends: Array, radius: float) -> Array:
    """Return a closed horizontal outline `(P, 3)` around heel and ball `(2, 3)` at this distance; a circle if they coincide."""
    along = (ends[1] - ends[0])[:2]
    angle = np.arctan2(along[1], along[0])
    # A half circle behind the heel, and its reflection in front of the ball.
    around = angle + np.pi / 2 + np.linspace(0.0, np.pi, ROUND + 1)
    back = np.stack([np.cos(around), np.sin(around), np.zeros(ROUND + 1)], axis=-1) * radius
    return np.concatenate([ends[0] + back, ends[1] - back, ends[:1] + back[:1]])


def foot_labels(pictures: Sequence[FootPicture], frame: float) -> list[tuple[Array, str]]:
    """Return the position `(3,)` and the label with the frames of each footprint, sorted by their distance to a frame."""
    prints = sorted(
        (footprint for picture in pictures for footprint in picture.prints),
        key=lambda footprint: max(footprint.first - frame, frame - footprint.last, 0.0),
    )
    return [(footprint.ends.mean(axis=0), _frames(footprint.first, footprint.last)) for footprint in prints]


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
