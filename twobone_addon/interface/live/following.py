"""Live chains: whenever something moves, they are posed as a bake would pose them, without keys.

Handlers are only registered while a chain is live. They identify armatures and chains by name, which is safe under undo
and deletion. There are no feedback loops: a pose that is already right is not written again. The pose without Live, set
before the chain became live or by its F-Curves at another frame, is kept as its base, for influence, kept bend and stretch.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import bpy

from ...errors import TwoBoneError
from ...pipeline.plan.stored import StoredChain, stored_settings
from ...said import Sentence
from ...scene.sampling.stage import STAGE_NAME
from ..stored.where import is_busy
from .follower import MOST_FRAMES, Key, LiveChain, ShownFrame, following, key_of, stored_chain
from .keying import OWN_STEP, forget, in_step_of, running_move
from .posing import Channels, are_left, holds, key_if_automatic, read_channels, set_values

if TYPE_CHECKING:
    from ...pipeline.pose.present import ChannelValue, PresentInputs, PresentLimb, PresentPlan

SECONDS_BETWEEN_LOOKS = 0.1
"""Interval of the timers that wait until the user's move has ended, in seconds."""


def key_when_let_go() -> float | None:
    """Timer: key what changed once the user's move has ended, in the move's undo step; a cancelled move is not keyed."""
    if running_move(bpy.data.window_managers[0]):
        return SECONDS_BETWEEN_LOOKS
    moved = [
        key for key, follower in following.items() if follower.unkeyed and not holds(bpy.data.objects[key[0]], follower.unmoved)
    ]
    if moved:
        in_step_of(next((following[key].move for key in moved if following[key].move), OWN_STEP), partial(_key_moved, moved))
    for follower in following.values():
        follower.unkeyed, follower.move = [], ""
    return None


def _key_moved(keys: list[Key]) -> None:
    for key in keys:
        key_if_automatic(bpy.context, bpy.data.objects[key[0]], following[key].unkeyed)
        # Undo re-evaluates what was tagged since the previous step; the move's own tags were lost with the step it replaced.
        for thing in (bpy.data.objects.get(name) for name in following[key].moved):
            if thing is not None:
                thing.update_tag(refresh={"OBJECT", "DATA"})


resting: dict[Key, LiveChain] = {}
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


def present_of(chain: StoredChain) -> "PresentPlan | None":
    """Return the plan that poses a live chain, including what was sampled at other frames; `None` for other chains."""
    follower = following.get(key_of(chain))
    return follower.present if follower is not None else None


def start(context: bpy.types.Context, chain: StoredChain) -> None:
    """Make the chain live and pose it; raises a `TwoBoneError` if a bake would refuse."""
    from ...pipeline.pose.present import present_plan

    key = key_of(chain)
    _stop(key)
    reasons.pop(key, None)
    follower = LiveChain(present_plan(context.scene, stored_settings(chain.id_data, chain, {})))
    following[key] = follower
    _register_handlers()
    try:
        inputs = _changed_inputs(key, context.scene, context.evaluated_depsgraph_get())
        if inputs is not None:
            _pose_together({key: inputs})
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
    yield handlers.depsgraph_update_pre, _before_update
    yield handlers.depsgraph_update_post, _after_update
    yield handlers.frame_change_pre, _before_frame_change
    yield handlers.frame_change_post, _after_frame_change
    yield handlers.render_init, _forget_frames
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


def _before_update(scene: bpy.types.Scene, *_: Any) -> None:
    """Handler: pose the chains whose free targets were moved, so that Blender evaluates target and rig in one pass.

    Nothing relies on it: `_after_update` reads all inputs as evaluated, and poses anew where they are not those foreseen.
    """
    from ...pipeline.pose.present import foreseen_inputs

    changed = {}
    for key, limb in _limbs_ahead(scene):
        inputs = foreseen_inputs(limb, scene)
        if inputs is not None and are_left(bpy.data.objects[key[0]], following[key].left):
            changed[key] = inputs
    before = {key: following[key].left for key in changed}
    try:
        posed = _pose_together(changed) if changed else {}
    except TwoBoneError:
        return
    for key, values in posed.items():
        if values:
            following[key].ahead = before[key], values


def _after_update(scene: bpy.types.Scene, depsgraph: Any) -> None:
    """Handler: pose the live chains after a change, and schedule auto-keying if they moved."""
    from ...pipeline.pose.present import has_looked

    keys = _keys_to_pose(scene, depsgraph)
    keys_changed = any(isinstance(update.id, bpy.types.Action) for update in depsgraph.updates)
    for key in keys if keys_changed else ():
        if has_looked(following[key].present):
            following[key].is_old = True
            later(look_again)
    ahead = {key: following[key].ahead for key in keys}
    before = {key: posed[0] if posed else following[key].left for key, posed in ahead.items()}
    for key in keys:
        following[key].ahead = None
    undone = {key for key in keys if following[key].was_undone}
    for key in undone:
        following[key].was_undone = False
    followed = _follow(keys, scene, depsgraph)
    for key in (key for key in keys if key in following):
        values = followed.get(key) or (ahead[key] or ((), []))[1]
        if values and key not in undone and scene.tool_settings.use_keyframe_insert_auto:
            follower = following[key]
            if not follower.unkeyed:
                follower.unmoved = before[key]
                follower.moved = set()
            follower.moved |= {update.id.name for update in depsgraph.updates if isinstance(update.id, bpy.types.Object)}
            follower.unkeyed = values
            follower.move = running_move(bpy.data.window_managers[0]) or follower.move
            later(key_when_let_go)


def _limbs_ahead(scene: bpy.types.Scene) -> "Iterator[tuple[Key, PresentLimb]]":
    """Yield the live chains, as posed last, that may be posed ahead of an evaluation if `are_left`.

    Channels that somebody else has changed are first of all a new base.
    """
    if _is_sampling(scene) or bpy.app.is_job_running("RENDER"):
        return
    for key, follower in following.items():
        armature = scene.objects.get(key[0])
        if armature is not None and armature.mode != "EDIT" and follower.limb is not None and not follower.was_undone:
            yield key, follower.limb


def _before_frame_change(scene: bpy.types.Scene, *_: Any) -> None:
    """Handler: pose the chains as they were at this frame before, so that Blender evaluates target and rig in one pass.

    Nothing relies on it: `_after_frame_change` reads all inputs as evaluated, and poses anew where they are not those of then.
    """
    for key, _limb in _limbs_ahead(scene):
        armature, follower = bpy.data.objects[key[0]], following[key]
        known = follower.frames.get(scene.frame_current_final)
        if known is None or known.is_animated or known.limb.inputs.present is not follower.present:
            continue
        if are_left(armature, follower.left):
            set_values(armature, known.values)
            # What it was posed from last no longer tells whether it is right.
            follower.limb, follower.left = None, read_channels(armature, follower.left)


def _after_frame_change(scene: bpy.types.Scene, depsgraph: Any) -> None:
    """Handler: pose the live chains, without auto-keying."""
    if depsgraph.mode != "VIEWPORT":
        _forget_frames()
    _follow(_keys_to_pose(scene, depsgraph), scene, depsgraph, scene.frame_current_final)


def _forget_frames(*_: Any) -> None:
    """Handler: before a render, which shows the pose as it is, forget how the chains were posed at each frame."""
    for follower in following.values():
        follower.frames.clear()


def _keys_to_pose(scene: bpy.types.Scene, depsgraph: Any) -> list[Key]:
    """Return the keys of the live chains to pose: none while rendering or while a task samples frames."""
    return [] if depsgraph.mode != "VIEWPORT" or _is_sampling(scene) else list(following)


def _is_sampling(scene: bpy.types.Scene) -> bool:
    """Whether a task samples frames in this scene."""
    from ...scene.sampling.probes import PROBE_NAME

    return scene.name.startswith(STAGE_NAME) or PROBE_NAME in scene.objects


def _follow(
    keys: Iterable[Key], scene: bpy.types.Scene, depsgraph: Any, frame: float | None = None
) -> "dict[Key, list[ChannelValue]]":
    """Pose those of the live chains whose inputs have changed on their targets, together; stop any that a bake would refuse.

    `frame` is given where it has changed. Returns the channel values of each that was posed: none where it was right already.
    """
    changed = {}
    for key in keys:
        try:
            inputs = _changed_inputs(key, scene, depsgraph)
        except TwoBoneError as error:
            _stop(key, error.sentence)
        else:
            if inputs is not None:
                changed[key] = inputs
    try:
        return _pose_together(changed, frame) if changed else {}
    except TwoBoneError:
        # One of them fails all: each alone tells which one is to stop.
        posed = {}
        for key, inputs in changed.items():
            try:
                posed.update(_pose_together({key: inputs}, frame))
            except TwoBoneError as error:
                _stop(key, error.sentence)
        return posed


def _changed_inputs(key: Key, scene: bpy.types.Scene, depsgraph: Any) -> "PresentInputs | None":
    """All that a live chain's pose depends on; `None` where it is posed from that already. Raises a `TwoBoneError`."""
    from ...pipeline.pose.present import present_inputs, read_moving

    chain = stored_chain(key)
    if chain is None:
        _stop(key)
        return None
    armature = chain.id_data
    if armature.mode == "EDIT" or key[0] not in scene.objects:
        return None
    follower = following[key]
    if not _is_up_to_date(follower, scene, chain):
        return None
    known = follower.limb and follower.limb.inputs
    moving = read_moving(follower.present, armature, scene, depsgraph)
    if known and known.present is follower.present and follower.posed == moving:
        return None
    base = _base(follower, armature)
    inputs = present_inputs(follower.present, scene, depsgraph, base)
    # Otherwise something else has moved.
    if inputs.are_same(known) and follower.left == read_channels(armature, base):
        follower.posed = moving
        return None
    return inputs


def _is_up_to_date(follower: LiveChain, scene: bpy.types.Scene, chain: StoredChain) -> bool:
    """Whether the plan is current, or could be made so; another frame that it needs is looked at later."""
    from ...pipeline.pose.present import is_current, needs_look, present_plan, read_fixed

    fixed = read_fixed(follower.present, chain.id_data, chain)
    plan, checked = follower.checked
    if plan is follower.present and fixed is not None and fixed == checked:
        return True
    settings = stored_settings(chain.id_data, chain, {})
    if not is_current(follower.present, settings):
        if needs_look(follower.present, settings):
            later(look_again)
            return False
        follower.present = present_plan(scene, settings, follower.present)
    follower.checked = follower.present, fixed
    return True


def _pose_together(changed: "dict[Key, PresentInputs]", frame: float | None = None) -> "dict[Key, list[ChannelValue]]":
    """Pose live chains from these inputs; return the channel values of each, none where it was right already.

    What was solved for a `frame` before, from the same inputs, is not solved again.
    """
    from ...pipeline.pose.present import needs_frames_around, present_channels, present_limbs, present_motion

    new = [key for key, inputs in changed.items() if frame is None or not _is_known(following[key], frame, inputs)]
    limbs = present_limbs([changed[key] for key in new], [following[key].limb for key in new])
    posed = present_channels(limbs, [present_motion(limb) for limb in limbs])
    solved = dict(zip(new, zip(limbs, posed, strict=True), strict=True))
    values_of = {}
    for key in changed:
        armature, follower = bpy.data.objects[key[0]], following[key]
        limb, values = solved[key] if key in solved else follower.frames[frame][:2]
        if frame is not None and key in solved:
            if len(follower.frames) >= MOST_FRAMES:
                follower.frames.popitem()  # A loop comes to the first ones next.
            follower.frames[frame] = ShownFrame(limb, values, not are_left(armature, follower.left))
        follower.limb, follower.posed, follower.is_straight = limb, None, needs_frames_around(limb)
        if follower.is_straight:
            later(look_again)
        values_of[key] = values if set_values(armature, values) else []
        follower.left = read_channels(armature, follower.base)
    return values_of


def _is_known(follower: LiveChain, frame: float, inputs: "PresentInputs") -> bool:
    """Whether the chain was posed from these inputs when the frame was shown; if from others, all frames are forgotten."""
    if frame in follower.frames and not inputs.are_same(follower.frames[frame].limb.inputs):
        follower.frames.clear()
    return frame in follower.frames


def _base(follower: LiveChain, armature: bpy.types.Object) -> Channels:
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
    from ...pipeline.pose.present import keeps_offset, needs_look, present_plan, with_frames_around

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
            _follow([key], context.scene, context.evaluated_depsgraph_get())
        except TwoBoneError as error:
            _stop(key, error.sentence)
    return None


def register() -> None:
    """Do nothing, since no chain is live yet."""


def unregister() -> None:
    """Stop all live chains, and unregister the keying operators."""
    stop_all()
    forget()
