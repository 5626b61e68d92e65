"""Live chains: whenever something moves, they are posed as a bake would pose them, without keys.

Handlers are only registered while a chain is live. They identify armatures and chains by name, which is safe under undo
and deletion. There are no feedback loops: a pose that is already right is not written again. The pose without Live, set
before the chain became live or by its F-Curves at another frame, is kept as its base, for influence, kept bend and stretch.
"""

from collections.abc import Callable, Iterator
from typing import Any

import bpy

from ...errors import TwoBoneError
from ...pipeline.plan.completing import StoredChain, stored_settings
from ...pipeline.pose.present import (
    ChannelValue,
    PresentPlan,
    has_looked,
    is_current,
    keeps_offset,
    needs_frames_around,
    needs_look,
    present_channels,
    present_motion,
    present_plan,
    with_frames_around,
)
from ...said import Sentence
from ...scene.sampling.probes import PROBE_NAME
from ...scene.sampling.stage import STAGE_NAME
from ..stored.where import is_busy
from .auto_keying import SECONDS_BETWEEN_LOOKS, key_when_let_go
from .follower import Following, Key, following, key_of, stored_chain
from .keying import forget, running_move
from .posing import Channels, read_channels, set_values

resting: dict[Key, Following] = {}
"""Chains that were live, to be resumed if undo or redo returns to a state in which they were."""

reasons: dict[Key, Sentence] = {}
"""Why a chain stopped being live, unless the user switched it off."""


def is_live(chain: StoredChain) -> bool:
    """Whether the chain follows its target live."""
    return key_of(chain) in following


def base_of(chain: StoredChain) -> Channels | None:
    """Return the channels of a live chain's pose without Live; `None` for other chains."""
    follower = following.get(key_of(chain))
    return follower.base if follower is not None else None


def present_of(chain: StoredChain) -> PresentPlan | None:
    """Return the plan that poses a live chain, including what was sampled at other frames; `None` for other chains."""
    follower = following.get(key_of(chain))
    return follower.present if follower is not None else None


def start(context: bpy.types.Context, chain: StoredChain) -> None:
    """Make the chain live and pose it; raises a `TwoBoneError` if a bake would refuse."""
    key = key_of(chain)
    _stop(key)
    reasons.pop(key, None)
    follower = Following(present_plan(context.scene, stored_settings(chain.id_data, chain, {})))
    following[key] = follower
    _register_handlers()
    try:
        _follow(key, context.scene, context.evaluated_depsgraph_get())
    except TwoBoneError:
        _stop(key)
        raise
    chain.live = True


def stop(chain: StoredChain) -> None:
    """Stop following live; the chain keeps its pose."""
    key = key_of(chain)
    reasons.pop(key, None)
    if key in following:
        resting[key] = following[key]
    chain.live = False
    _stop(key)


def stop_all(*_: Any) -> None:
    """Stop all live chains, and remove all handlers and timers."""
    for key in list(following):
        _stop(key)
    reasons.clear()
    resting.clear()
    for functions in _undo_handlers():
        if _after_undo in functions:
            functions.remove(_after_undo)


def _stop(key: Key, reason: Sentence | None = None) -> None:
    following.pop(key, None)
    if reason is not None:
        reasons[key] = reason
    if following:
        return
    for functions, function in _handlers():
        if function in functions:
            functions.remove(function)
    for timer in (key_when_let_go, look_again):
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)


def _register_handlers() -> None:
    for functions, function in _handlers():
        if function not in functions:
            functions.append(function)
    for functions in _undo_handlers():
        if _after_undo not in functions:
            functions.append(_after_undo)


def _handlers() -> Iterator[tuple[list[Any], Callable[..., None]]]:
    """Yield Blender's handler lists with our function for each, registered while a chain is live."""
    handlers = bpy.app.handlers
    yield handlers.depsgraph_update_post, _after_update
    yield handlers.frame_change_post, _after_frame_change
    yield handlers.load_pre, stop_all


def _undo_handlers() -> tuple[list[Any], ...]:
    """Return Blender's handler lists for undo and redo, where ours stays registered until `stop_all`."""
    return bpy.app.handlers.undo_post, bpy.app.handlers.redo_post


def _after_undo(*_: Any) -> None:
    """Resume or stop chains as they were in the restored state, and drop pending keys, since undo also restores keys."""
    for key in [*following, *resting]:
        chain = stored_chain(key)
        is_on = chain is not None and chain.live
        if is_on and key in resting:
            following[key] = resting.pop(key)
            _register_handlers()
        elif not is_on and key in following:
            resting[key] = following[key]
            _stop(key)
    for follower in following.values():
        follower.unkeyed, follower.was_undone = [], True


def _after_update(scene: bpy.types.Scene, depsgraph: Any) -> None:
    """Handler: pose the live chains after a change, and schedule auto-keying if they moved."""
    keys_changed = any(isinstance(update.id, bpy.types.Action) for update in depsgraph.updates)
    for key in _keys_to_pose(scene, depsgraph):
        follower = following[key]
        if keys_changed and has_looked(follower.present):
            follower.is_old = True
            later(look_again)
        before, follower.was_undone, was_undone = follower.left, False, follower.was_undone
        moved = _follow_or_stop(key, scene, depsgraph)
        if moved and not was_undone and key in following and scene.tool_settings.use_keyframe_insert_auto:
            if not follower.unkeyed:
                follower.unmoved = before
                follower.moved = set()
            follower.moved |= {update.id.name for update in depsgraph.updates if isinstance(update.id, bpy.types.Object)}
            follower.unkeyed = moved
            follower.move = running_move(bpy.data.window_managers[0]) or follower.move
            later(key_when_let_go)


def _after_frame_change(scene: bpy.types.Scene, depsgraph: Any) -> None:
    """Handler: pose the live chains, without auto-keying."""
    for key in _keys_to_pose(scene, depsgraph):
        _follow_or_stop(key, scene, depsgraph)


def _keys_to_pose(scene: bpy.types.Scene, depsgraph: Any) -> list[Key]:
    """Return the keys of the live chains to pose: none while rendering or while a task samples frames."""
    if depsgraph.mode != "VIEWPORT" or scene.name.startswith(STAGE_NAME) or PROBE_NAME in scene.objects:
        return []
    return list(following)


def _follow_or_stop(key: Key, scene: bpy.types.Scene, depsgraph: Any) -> list[ChannelValue]:
    try:
        return _follow(key, scene, depsgraph)
    except TwoBoneError as error:
        _stop(key, error.sentence)
        return []


def _follow(key: Key, scene: bpy.types.Scene, depsgraph: Any) -> list[ChannelValue]:
    """Pose a live chain on its target; return its channel values if any of them changed. Raises a `TwoBoneError`."""
    chain = stored_chain(key)
    if chain is None:
        _stop(key)
        return []
    armature = chain.id_data
    if armature.mode == "EDIT" or key[0] not in scene.objects:
        return []
    follower = following[key]
    settings = stored_settings(armature, chain, {})
    if not is_current(follower.present, settings):
        if needs_look(follower.present, settings):
            later(look_again)
            return []
        follower.present = present_plan(scene, settings, follower.present)
    base = _base(follower, armature)
    plan, motion = present_motion(follower.present, scene, depsgraph, base)
    follower.is_straight = needs_frames_around(follower.present, motion)
    if follower.is_straight:
        later(look_again)
    values = present_channels(plan, motion)
    changed = set_values(armature, values)
    follower.left = read_channels(armature, base)
    return values if changed else []


def _base(follower: Following, armature: bpy.types.Object) -> Channels:
    """Update and return the base: channels that something else has changed since the last posing replace the known ones."""
    plan = follower.present.plan
    now = read_channels(armature, [bone.name for bone in plan.rest.bones])
    follower.base = {
        name: follower.base[name] if follower.left.get(name) == values and name in follower.base else values
        for name, values in now.items()
    }
    return follower.base


def later(timer: Callable[[], float | None]) -> None:
    """Schedule a timer once, to run outside of the present handler."""
    if not bpy.app.timers.is_registered(timer):
        bpy.app.timers.register(timer, first_interval=SECONDS_BETWEEN_LOOKS)


def look_again() -> float | None:
    """Timer: sample other frames for kept offsets and the planes of straight limbs.

    Handlers cannot do that during a move or playback, since it changes frames.
    """
    context = bpy.context
    if is_busy(context.window_manager):
        return SECONDS_BETWEEN_LOOKS
    for key, follower in list(following.items()):
        chain = stored_chain(key)
        if chain is None:
            continue
        try:
            settings = stored_settings(chain.id_data, chain, {})
            if needs_look(follower.present, settings) or (follower.is_old and keeps_offset(settings)):
                follower.present = present_plan(context.scene, settings)
            elif follower.is_straight or follower.is_old:
                follower.present = with_frames_around(context.scene, follower.present)
            else:
                continue
            follower.is_old = False
            _follow(key, context.scene, context.evaluated_depsgraph_get())
        except TwoBoneError as error:
            _stop(key, error.sentence)
    return None


def register() -> None:
    """Do nothing, since no chain is live yet."""


def unregister() -> None:
    """Stop all live chains, and unregister the keying operators."""
    stop_all()
    forget()
