"""Checks, before anything is changed, that keys can be written and will be visible."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from ...errors import WriteError
from ...said import Sentence
from ..blender_types import AnimData, FCurve, Object, Scene
from ..lookup import owner_of
from ..versions import curve_bag, own_slot, present_fcurves, slot_users, strip_curves
from .reading import curves_at

HARMLESS_MODIFIERS = {"CYCLES"}
"""F-curve modifiers that do not change a curve between its first and last key."""


def refuse_stretched_time(scene: Scene) -> None:
    """Raise `WriteError` where Time Stretching makes Blender read keys at other frames than it shows."""
    old, new = scene.render.frame_map_old, scene.render.frame_map_new
    if old != new:
        raise WriteError(
            'Time Stretching of scene "{scene}" maps {old} frames to {new}, so keys would not be read at the frames they are '
            "baked for. Set Old and New to the same number in the Output properties first.",
            scene=scene.name,
            old=old,
            new=new,
        )


def refuse_unwritable(armature: Object, paths: list[str], destination: str, *, is_motion: bool = False) -> None:
    """Raise `WriteError` where keys at the data paths could not be written, or would not be seen.

    is_motion : whether existing curves hold the motion being worked on, so that they must stay
    """
    _refuse_armature(armature)
    data = armature.animation_data
    if data is None:
        return
    _refuse_drivers(armature, data, paths)
    curves = curves_at(curve_bag(armature), paths)
    # How the action is blended, shared or locked does not matter to a strip on a track of its own.
    if destination == "NLA":
        _refuse_hidden_strip(data, curves, is_motion=is_motion)
        return
    with _naming(armature):
        _refuse_mixed(data)
    if destination == "ACTION":
        _refuse_shared(armature, data)
    for fcurve in curves:
        with _naming(armature, fcurve.data_path):
            _refuse_curve(fcurve)


def unwritable(armature: Object, paths: list[str], destination: str) -> WriteError | None:
    """The error that `refuse_unwritable` would raise, if any, for callers that may not need to write there."""
    try:
        refuse_unwritable(armature, paths, destination)
    except WriteError as error:
        return error
    return None


@contextmanager
def _naming(thing: Object, path: str = "") -> Iterator[None]:
    """Name the object in errors raised in the block, unless the data path names a bone."""
    try:
        yield
    except WriteError as error:
        if owner_of(path):
            raise
        raise WriteError('Object "{object}": {reason}', object=thing.name, reason=error.sentence) from error


def _kind(thing: Object) -> Sentence:
    return Sentence("Armature" if thing.type == "ARMATURE" else "Object")


def refuse_uneditable(armature: Object, paths: list[str], destination: str) -> None:
    """Raise `WriteError` where keys at the data paths could not be removed."""
    _refuse_armature(armature)
    data = armature.animation_data
    if data is None or destination == "NLA":
        return
    _refuse_shared(armature, data)
    for fcurve in curves_at(curve_bag(armature), paths):
        with _naming(armature, fcurve.data_path):
            _refuse_locked(fcurve)


def _refuse_armature(armature: Object) -> None:
    # Blender lets scripts key linked data, and loses the keys when the file is opened again.
    if not armature.is_editable:
        raise WriteError(
            '{kind} "{object}" is linked from another file. Make it local or override it first.',
            kind=_kind(armature),
            object=armature.name,
        )
    if armature.animation_data is not None and armature.animation_data.use_tweak_mode:
        raise WriteError(
            '{kind} "{object}" is in NLA tweak mode. Leave tweak mode (Tab in the NLA editor) first.',
            kind=_kind(armature),
            object=armature.name,
        )


def _refuse_drivers(thing: Object, data: AnimData, paths: list[str]) -> None:
    for fcurve in data.drivers:
        if fcurve.data_path in paths:
            with _naming(thing, fcurve.data_path):
                raise WriteError(
                    "Channel {curve} is driven, so keys would have no effect. Remove the driver first.", curve=_name(fcurve)
                )


def _refuse_hidden_strip(data: AnimData, curves: list[FCurve], *, is_motion: bool) -> None:
    """Refuse an NLA strip that the action, which lies above all strips, would cover."""
    if not curves or data.action_influence <= 0.0:
        return
    if is_motion:
        raise WriteError(
            'Action "{action}" already has curve {curve}, which would cover the NLA strip. Push the action down to the NLA, or '
            "choose another destination.",
            action=data.action.name,
            curve=_name(curves[0]),
        )
    raise WriteError(
        'Action "{action}" already has curve {curve}, which would cover the NLA strip. Remove that curve, or choose another '
        "destination.",
        action=data.action.name,
        curve=_name(curves[0]),
    )


def _refuse_mixed(data: AnimData) -> None:
    """Refuse an action that is blended with the tracks below it: its keys are not what is seen."""
    solo = next((track for track in data.nla_tracks if track.is_solo), None)
    if solo is not None:
        raise WriteError('NLA track "{track}" is solo, so the action would not play. Turn solo off first.', track=solo.name)
    if data.action_influence < 1.0:
        raise WriteError(
            "The action's influence is {influence:g}, so keys would be mixed with what is below. Set it to 1 in the NLA editor "
            "first.",
            influence=data.action_influence,
        )
    if data.action_blend_type != "REPLACE":
        raise WriteError(
            "The action's blending is {blending}, so the baked values would not be what you see. Set it to Replace in the NLA "
            "editor first.",
            blending=data.action_blend_type.title(),
        )


def _refuse_shared(armature: Object, data: AnimData) -> None:
    if data.action is None:
        return
    if not data.action.is_editable:
        raise WriteError(
            'Action "{action}" is linked from another file. Assign a local action to "{armature}" first.',
            action=data.action.name,
            armature=armature.name,
        )
    others = slot_users(data) - 1
    if others > 0:
        raise WriteError(
            'Other users of action "{action}": {others}. Make it single-user first.',
            action=data.action.name,
            others=", ".join(_slot_players(armature, data)) or others,
        )


def _slot_players(armature: Object, data: AnimData) -> list[str]:
    """Names, in quotes, of the other objects that play the same slot of an armature's action."""
    players = (thing for thing in bpy.data.objects if thing != armature and thing.animation_data is not None)
    slot = own_slot(data)
    same = [
        player for player in players if player.animation_data.action == data.action and own_slot(player.animation_data) == slot
    ]
    return [f'"{player.name}"' for player in same]


def _refuse_locked(fcurve: FCurve) -> None:
    group = fcurve.group
    # Keys that are written in bulk go past Blender's own lock.
    if fcurve.lock or (group is not None and group.lock):
        raise WriteError("Curve {curve} is locked. Unlock it in the Graph Editor first.", curve=_name(fcurve))


def _refuse_curve(fcurve: FCurve) -> None:
    _refuse_locked(fcurve)
    group = fcurve.group
    # Keys beside samples would corrupt the curve.
    if fcurve.sampled_points:
        raise WriteError("Curve {curve} holds samples instead of keys. Convert it to keys first.", curve=_name(fcurve))
    if fcurve.mute or (group is not None and group.mute):
        raise WriteError(
            "Curve {curve} is muted, so keys would have no effect. Unmute it in the Graph Editor first.", curve=_name(fcurve)
        )
    for modifier in fcurve.modifiers:
        if not modifier.mute and modifier.type not in HARMLESS_MODIFIERS:
            raise WriteError(
                "Curve {curve} has a {modifier} modifier that would change the baked values. Mute or remove it first.",
                curve=_name(fcurve),
                modifier=modifier.type.title(),
            )


def _name(fcurve: FCurve) -> str:
    return f"{fcurve.data_path}[{fcurve.array_index}]"


def refuse_unconvertible(armature: Object, paths: list[str], bone: str) -> None:
    """Raise `WriteError` where a bone's rotation keys, at the data paths, cannot be converted to another rotation mode."""
    refuse_unwritable(armature, paths, "ACTION")
    data = armature.animation_data
    mode_path = f"{paths[0].rpartition('.')[0]}.rotation_mode"
    for fcurve in present_fcurves(armature):
        if fcurve.data_path == mode_path:
            raise WriteError('The rotation mode of bone "{bone}" is animated. Remove that curve first.', bone=bone)
        if fcurve.data_path in paths and (
            fcurve.extrapolation == "LINEAR" or any(not modifier.mute for modifier in fcurve.modifiers)
        ):
            raise WriteError(
                "Curve {curve} has linear extrapolation or modifiers. Replace them by keys before converting.",
                curve=_name(fcurve),
            )
    for track in data.nla_tracks if data else ():
        for strip in track.strips:
            if any(fcurve.data_path in paths for fcurve in strip_curves(strip)):
                raise WriteError(
                    'NLA strip "{strip}" rotates bone "{bone}" by curves of its old rotation mode. Muting is not enough: bake '
                    "it into the action or remove it first.",
                    strip=strip.name,
                    bone=bone,
                )
