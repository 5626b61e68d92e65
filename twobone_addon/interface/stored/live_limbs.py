"""Live chains: Blender itself poses their limbs, from datablocks that this file makes, keeps up to date and removes.

Nothing here poses a limb. A changed setting is written to the nodes where it is only a number, and else the limb is made anew;
so it is where its bones or keys were edited, once the user's move has ended, and when a file is loaded. Of renaming, rendering
and undo Blender takes care: an undo step from before a limb was made anew comes with an update of what was edited.
"""

from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import bpy
from bpy.app.handlers import persistent

from ...errors import TwoBoneError
from ...pipeline.plan.stored import StoredChain, stored_chains, stored_settings
from ...said import Sentence, note
from ...scene.live.marks import NEEDS_NEWER, can_go_live, has_solvers
from ...scene.sampling.stage import STAGE_NAME
from ...scene.writer import Transaction, at_end, is_putting_back, is_writing
from .where import is_busy

Key = tuple[str, str]
"""Names of an armature and of a chain stored on it."""

reasons: dict[Key, Sentence] = {}
"""What the panel says of a chain's Live: why it has ended, or was made anew."""

MADE_ANEW = "The bones were edited, so Live was made anew."

LOST_TARGET = "Live has lost its target. Choose another one."

CLEARED = "Live of an earlier version was switched off: {reason}"

PAUSE_IN_SECONDS = 0.2
"""Interval of the timer that waits until the user's move has ended."""


if TYPE_CHECKING:
    from ...scene.live.limbs import LiveLimb


def live_limb_of(chain: StoredChain) -> "LiveLimb | None":
    """Return what poses a chain's limb; `None` where it is not live."""
    from ...scene.live.limbs import limb_on

    return limb_on(chain.id_data, (chain.upper, chain.lower))


def is_live(chain: StoredChain) -> bool:
    """Whether Blender poses the chain's limb."""
    return live_limb_of(chain) is not None


def start(scene: bpy.types.Scene, chain: StoredChain) -> None:
    """Make the chain live, or make its nodes anew; raises a `TwoBoneError` if a bake would, or if nodes were not exact."""
    from ...pipeline.live import go_live

    stop(chain)
    # What poses the limb no longer does, but is evaluated until then.
    for layer in scene.view_layers:
        layer.update()
    go_live(scene, stored_settings(chain.id_data, chain, {}))


def stop(chain: StoredChain) -> None:
    """Take away what poses the chain's limb; the limb has its own pose again."""
    from ...scene.live.limbs import drop_limb, live_limbs

    reasons.pop((chain.id_data.name, chain.name), None)
    if chain.live:
        chain.live = False
    bones = {chain.upper, chain.lower}
    for limb in live_limbs(chain.id_data):
        if bones & set(limb.bones):
            drop_limb(limb)


def state_of(chain: StoredChain) -> Sentence | None:
    """Return what the panel says of a live chain; `None` where all is well."""
    limb = live_limb_of(chain)
    if limb is not None and limb.helper is None:
        return note("The helper of Live was deleted. Press Live to make it anew, or Bake.")
    if limb is not None and limb.mimics:
        return note("This copy moves with the Live of the original.")
    if limb is not None and chain.target is None:
        return note(LOST_TARGET)
    return reasons.get((chain.id_data.name, chain.name))


def setting_changed(chain: StoredChain, context: bpy.types.Context) -> None:
    """Pose a live limb by its changed settings; where they are refused, it is no longer live, and the panel says why.

    Blender only prints what fails in here, so nothing of a run is done here: what changes settings has the limb made anew once
    all are changed, and not at all where they are put back.
    """
    if is_putting_back():
        return
    if is_writing():
        at_end(partial(_renew_changed, context.scene, chain.id_data, str(chain.name)))
        return
    limb = live_limb_of(chain) if can_go_live() else None
    key = chain.id_data.name, chain.name
    if limb is None and chain.target is not None and reasons.get(key) == note(LOST_TARGET):
        del reasons[key]
    if limb is None or limb.mimics or not chain.id_data.is_editable:
        return
    from ...pipeline.live import write_numbers

    with suppress(TwoBoneError):  # Making it anew is refused for the same reason, and says so.
        if write_numbers(chain.id_data, stored_settings(chain.id_data, chain, {}), limb):
            reasons.pop(key, None)
            return
    _renew(context.scene, chain)


def _renew_changed(scene: bpy.types.Scene, armature: bpy.types.Object, name: str) -> None:
    """Make the limb of a chain anew, if that still is there and differs from what its limb was made from."""
    chain = armature.twobone.chains.get(name)
    if chain is not None:
        _renew_old_chain(scene, armature, chain)


def _renew(scene: bpy.types.Scene, chain: StoredChain, told: Sentence | None = None) -> None:
    key = chain.id_data.name, chain.name
    try:
        with Transaction() as changes, changes.noting():
            start(scene, chain)
    except TwoBoneError as error:
        told = error.sentence if chain.target is not None else note(LOST_TARGET)
        with Transaction() as changes, changes.noting():
            stop(chain)
    if told is not None:
        reasons[key] = told


def renew_old(scene: bpy.types.Scene, armatures: Iterable[bpy.types.Object]) -> None:
    """Make the limbs anew whose bones or settings have changed since; those of duplicates and linked ones stay as they are."""
    for armature in armatures:
        for chain in armature.twobone.chains:
            _renew_old_chain(scene, armature, chain)


def _renew_old_chain(scene: bpy.types.Scene, armature: bpy.types.Object, chain: StoredChain) -> None:
    from ...pipeline.live import fingerprint
    from ...pipeline.plan.found_chain import find_chain

    limb = live_limb_of(chain)
    if limb is None or limb.helper is None or limb.mimics or not armature.is_editable:
        return
    try:
        settings = stored_settings(armature, chain, {})
        bones = tuple(bone.name for bone in find_chain(settings, armature).rest.bones)
        made_from = fingerprint(armature, settings, bones)
    except TwoBoneError:  # A bone was renamed or removed; the panel says so, and Bake.
        return
    if repr(made_from) != limb.reference:
        are_bones_edited = repr(made_from[1]) not in limb.reference
        _renew(scene, chain, note(MADE_ANEW) if are_bones_edited else None)


def _armatures_in(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    from ...scene.live.limbs import live_limbs

    return [thing for thing in scene.objects if thing.type == "ARMATURE" and thing.mode != "EDIT" and live_limbs(thing)]


@persistent
def _after_update(scene: bpy.types.Scene, depsgraph: Any) -> None:
    """Handler: after an edit of bones or keys, make the limbs that hang on them anew once the user is done."""
    is_edited = depsgraph.id_type_updated("ARMATURE") or depsgraph.id_type_updated("ACTION")
    if is_edited and depsgraph.mode == "VIEWPORT" and not scene.name.startswith(STAGE_NAME):
        _look_soon()


def _look_soon() -> None:
    # Asked at every move of a target, so that it is to take no time: limbs are looked for in the pause.
    if is_writing() or not has_solvers():
        return
    if bpy.app.background:
        _look()
    elif not bpy.app.timers.is_registered(_look):
        bpy.app.timers.register(_look, first_interval=PAUSE_IN_SECONDS)


def _look() -> float | None:
    """Timer: make limbs anew whose bones or keys were edited."""
    if is_busy(bpy.context.window_manager):
        return PAUSE_IN_SECONDS
    handlers = bpy.app.handlers.depsgraph_update_post
    # What follows changes the scenes themselves.
    handlers.remove(_after_update)
    try:
        for scene in bpy.data.scenes:
            renew_old(scene, _armatures_in(scene))
    finally:
        handlers.append(_after_update)
    return None


@persistent
def _after_loading(*_: Any) -> None:
    """Handler: make limbs live that were so in an earlier version, and limbs anew whose bones were edited without the add-on."""
    reasons.clear()
    for scene in bpy.data.scenes:
        for chain in stored_chains(scene):
            if chain.live and chain.id_data.is_editable:
                _take_over(scene, chain)
    for scene in bpy.data.scenes if can_go_live() and has_solvers() else ():
        renew_old(scene, _armatures_in(scene))


def _take_over(scene: bpy.types.Scene, chain: StoredChain) -> None:
    key, needs = (chain.id_data.name, chain.name), note(NEEDS_NEWER)
    if not can_go_live():
        chain.live = False
        reasons[key] = note(CLEARED, reason=needs)
        return
    try:
        with Transaction() as changes, changes.noting():
            start(scene, chain)
    except TwoBoneError as error:
        chain.live = False
        reasons[key] = note(CLEARED, reason=error.sentence)


def register() -> None:
    """Listen to loaded files and, where limbs can be live, to edited bones."""
    bpy.app.handlers.load_post.append(_after_loading)
    if can_go_live():
        bpy.app.handlers.depsgraph_update_post.append(_after_update)


def unregister() -> None:
    """Stop listening; live limbs stay live, since Blender poses them."""
    for functions, function in (
        (bpy.app.handlers.load_post, _after_loading),
        (bpy.app.handlers.depsgraph_update_post, _after_update),
    ):
        if function in functions:
            functions.remove(function)
    if bpy.app.timers.is_registered(_look):
        bpy.app.timers.unregister(_look)
    reasons.clear()
