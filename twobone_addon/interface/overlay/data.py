"""What the overlay shows of the active chain: the picture of the present frame, and the paths over the range.

The picture is made anew when a matrix, the frame or a setting that it depends on has changed. The paths need a pass over
all frames, so they follow a change in a pause.
"""

from dataclasses import dataclass
from typing import Any

import bpy

from ...errors import TwoBoneError
from ...pipeline.plan.stored import StoredChain, active_chain, stored_settings
from ...pipeline.pose.pictures import ChainPicture, PathPicture, chain_picture, path_picture
from ...pipeline.pose.present import PresentPlan, is_current, present_plan, with_frames_around
from ...settings import LIMB_PLANES, BakeSettings
from ..live.following import base_of, present_of
from ..live.posing import Channels
from ..watching import Memory


def _moves_limb(settings: BakeSettings, change: Any) -> bool:
    names = {settings.target, settings.pole, settings.plane_object, settings.armature}
    # Blender reports a changed pose as a geometry update.
    is_changed = change.is_updated_transform or change.is_updated_geometry
    return isinstance(change.id, bpy.types.Action) or (is_changed and change.id.name in names)


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
    is_live: bool = False
    """Whether Live poses the chain with these settings; then `present` is that of Live."""
    situation: tuple[Any, ...] = ()
    """Cache key of `picture`: frame, evaluated matrices and Live's base channels."""
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
    live = present_of(chain)
    was_live, shown.is_live = shown.is_live, live is not None and live.wanted == settings
    if settings != shown.settings or shown.present is None or not is_current(shown.present, settings) or was_live > shown.is_live:
        if shown.present is not None:  # The paths were found for that plan.
            paths.doubt()
        _start(context.scene, settings)
    if shown.is_live and shown.present is not live:
        shown.present, shown.situation = live, ()
    if armature.twobone.show_path:
        found = paths.recall(settings, lambda: _find_paths(bpy.context.scene, settings))
        if found is not NO_PATHS and found is not shown.paths:  # Until then the old ones stay.
            shown.paths = found
            if found.present is not None and not shown.is_live:
                shown.present, shown.situation = found.present, ()
    if shown.present is not None:
        _update_picture(context, base_of(chain))
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


def _update_picture(context: bpy.types.Context, base: Channels | None) -> None:
    depsgraph = context.view_layer.depsgraph
    plan = shown.present.plan
    situation = (context.scene.frame_current_final, *_matrices(plan, depsgraph), *(base or {}).items())
    if situation == shown.situation:
        return
    # After a change of frame, an up-to-date path has already solved the chain at this frame.
    # Not with Live: the path was solved from the pose that Live has left, not from the base that Live starts from.
    has_path = shown.path is not None and paths.is_current(shown.settings) and not shown.is_live
    is_new_frame = has_path and situation[:1] != shown.situation[:1]
    known = shown.path.chain_at(situation[0]) if is_new_frame else None
    shown.situation = situation
    try:
        shown.picture = known or chain_picture(shown.present, context.scene, depsgraph, base=base)
    except TwoBoneError:
        shown.picture = None
    shown.picture_version += 1


def _matrices(plan: Any, depsgraph: Any) -> list[Any]:
    """Return the evaluated matrices that the picture depends on, frozen copies for comparison."""
    found = []
    settings = plan.settings
    for name, bone in ((settings.target, settings.target_bone), (settings.pole, settings.pole_bone), (settings.plane_object, "")):
        if name:
            thing = bpy.data.objects[name].evaluated_get(depsgraph)
            world = thing.matrix_world @ thing.pose.bones[bone].matrix if bone else thing.matrix_world.copy()
            found.append(world.freeze())
    armature = bpy.data.objects[plan.names.armature].evaluated_get(depsgraph)
    found.append(armature.matrix_world.copy().freeze())
    bones = [plan.parent.bone] if plan.parent else []
    bones += [bone.name for bone in plan.rest.bones]
    found.extend(armature.pose.bones[bone].matrix.copy().freeze() for bone in bones)
    return found
