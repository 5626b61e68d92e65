"""Cache of what the overlay shows.

The picture of the present frame is remade when a matrix, the frame or a setting it depends on has changed. The paths over
the range need a pass over all frames, so they are never made while drawing: changes mark them as old, and a timer remakes
them when the user pauses.
"""

from dataclasses import dataclass
from typing import Any

import bpy

from ...errors import TwoBoneError
from ...pipeline.plan.completing import StoredChain, active_chain, stored_settings
from ...pipeline.pose.pictures import ChainPicture, PathPicture, chain_picture, path_picture
from ...pipeline.pose.present import PresentPlan, is_current, present_plan, with_frames_around
from ...scene.sampling.stage import STAGE_NAME
from ...settings import LIMB_PLANES, BakeSettings
from ..live.following import base_of, present_of
from ..live.posing import Channels
from ..stored.where import is_busy, redraw_viewports

PAUSE_IN_SECONDS = 0.3
"""Seconds from a redraw with old paths until they are remade, and between retries while the user is busy."""


@dataclass(slots=True)
class Shown:
    """The cached picture and paths of the chain that the overlay shows."""

    settings: BakeSettings | None = None
    present: PresentPlan | None = None
    is_live: bool = False
    """Whether Live poses the chain with these settings; then `present` is that of Live."""
    situation: tuple[Any, ...] = ()
    """Cache key of `picture`: frame, evaluated matrices and Live's base channels."""
    picture: ChainPicture | None = None
    path: PathPicture | None = None
    path_is_old: bool = True
    picture_version: int = 0
    """Incremented with every change of `picture`."""
    path_version: int = 0
    """Incremented with every change of `path`."""


shown = Shown()


def forget() -> None:
    """Clear the cache, such as after a file was loaded or the add-on was disabled."""
    global shown  # noqa: PLW0603 - the overlay's one store
    shown = Shown(picture_version=shown.picture_version + 1, path_version=shown.path_version + 1)


def update(context: bpy.types.Context, armature: bpy.types.Object) -> Shown:
    """Bring the cache up to date for the armature's active chain and return it; it is empty if a bake would refuse."""
    chain = active_chain(armature)
    settings = _settings(armature, chain)
    if settings is None:
        forget()
        return shown
    live = present_of(chain)
    was_live, shown.is_live = shown.is_live, live is not None and live.wanted == settings
    if settings != shown.settings or shown.present is None or not is_current(shown.present, settings) or was_live > shown.is_live:
        _start(context.scene, settings)
    if shown.is_live and shown.present is not live:
        shown.present, shown.situation = live, ()
    if shown.present is not None:
        _update_picture(context, base_of(chain))
    if armature.twobone.show_path and shown.path_is_old:
        _request_path()
    return shown


def mark_old() -> None:
    """Mark the paths as old."""
    shown.path_is_old = True


def _settings(armature: bpy.types.Object, chain: StoredChain | None) -> BakeSettings | None:
    if chain is None or chain.target is None:
        return None
    try:
        return stored_settings(armature, chain, {})
    except TwoBoneError:
        return None  # The panel shows the invalid setting, and a bake reports it.


def _start(scene: bpy.types.Scene, settings: BakeSettings) -> None:
    shown.settings, shown.situation, shown.picture, shown.path_is_old = settings, (), None, True
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
    has_path = shown.path is not None and not shown.path_is_old and not shown.is_live
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


def _request_path() -> None:
    if not bpy.app.timers.is_registered(make_path):
        bpy.app.timers.register(make_path, first_interval=PAUSE_IN_SECONDS)
    if _notice_changes not in bpy.app.handlers.depsgraph_update_post:
        bpy.app.handlers.depsgraph_update_post.append(_notice_changes)


def make_path() -> float | None:
    """Timer: remake the paths, or return the seconds until the next try while the user is busy."""
    manager = bpy.context.window_manager
    if is_busy(manager):
        return PAUSE_IN_SECONDS
    if shown.settings is None or not shown.path_is_old:
        return None
    shown.path_is_old = False
    try:
        shown.path = path_picture(bpy.context.scene, shown.settings)
        if shown.settings.target_offset == "KEEP" and not shown.is_live:
            shown.present = present_plan(bpy.context.scene, shown.settings)
        if shown.present is not None and shown.settings.plane in LIMB_PLANES and not shown.is_live:
            shown.present, shown.situation = with_frames_around(bpy.context.scene, shown.present), ()
    except TwoBoneError:
        shown.path = None
    shown.path_version += 1
    redraw_viewports(manager)
    return None


def _notice_changes(scene: bpy.types.Scene, depsgraph: Any) -> None:
    """Mark the paths as old after a change of an action, or of an object of the chain."""
    if scene.name.startswith(STAGE_NAME) or shown.settings is None:
        return
    names = {shown.settings.target, shown.settings.pole, shown.settings.plane_object, shown.settings.armature}
    for change in depsgraph.updates:
        # Blender reports a changed pose as a geometry update.
        is_changed = change.is_updated_transform or change.is_updated_geometry
        moved = isinstance(change.id, bpy.types.Object) and is_changed and change.id.name in names
        if moved or isinstance(change.id, bpy.types.Action):
            mark_old()


def unregister() -> None:
    """Remove the timer and the handler, and clear the cache."""
    if bpy.app.timers.is_registered(make_path):
        bpy.app.timers.unregister(make_path)
    if _notice_changes in bpy.app.handlers.depsgraph_update_post:
        bpy.app.handlers.depsgraph_update_post.remove(_notice_changes)
    forget()
