"""The actions to work on, and the frame range of each."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..errors import ObjectError, RangeError, SettingError
from ..scene.actions import OwnAction, action_named, actions_of, key_span, own_action
from ..scene.blender_types import Object
from ..settings.options import ACTIVE, ALL

MOST_NAMED = 3
"""Largest number of actions that a sentence names."""

SEPARATOR = ";"
"""Separates names of actions."""


def chosen_actions(armature: Object, text: str) -> list[OwnAction] | None:
    """The actions that a text chooses by name; `None` for `ACTIVE`, the present one over the range of the settings.

    Raises `ObjectError` if a name is not that of an action that moves the armature, or if there are no actions.
    """
    if text == ACTIVE:
        return None
    if text == ALL:
        actions = actions_of(armature)
        if not actions:
            raise ObjectError(
                'Armature "{armature}" has no actions. Choose the active one, or name others.', armature=armature.name
            )
        return actions
    # A doubled separator is part of a name.
    parts = re.split(f"(?<!{SEPARATOR}){SEPARATOR}(?!{SEPARATOR})", text)
    names = dict.fromkeys(part.strip().replace(2 * SEPARATOR, SEPARATOR) for part in parts if part.strip())
    if not names:
        raise SettingError(
            'Actions are {text!r}. Use ACTIVE, ALL, or names separated by "{separator}".', text=text, separator=SEPARATOR
        )
    return [_named(armature, name) for name in names]


def chosen_of_all(armatures: Sequence[Object], text: str) -> list[tuple[Object, OwnAction]]:
    """The chosen actions of several armatures, none for `ACTIVE`; raises only if no armature has any of them."""
    chosen, errors = [], []
    for armature in armatures:
        try:
            chosen += [(armature, own) for own in chosen_actions(armature, text) or ()]
        except ObjectError as error:
            errors.append(error)
    if errors and not chosen:
        raise errors[0]
    return chosen


def _named(armature: Object, name: str) -> OwnAction:
    action = action_named(name)
    if action is None:
        known = first_names(actions_of(armature)) or "none"
        raise ObjectError(
            'Action "{action}" is not in this file. Use those of armature "{armature}" ({known}).',
            action=name,
            armature=armature.name,
            known=known,
        )
    own = own_action(armature, action, sure=True)
    if own is None:
        raise ObjectError(
            'Action "{action}" moves no bone of armature "{armature}". Choose one that does.', action=name, armature=armature.name
        )
    return own


def first_names(actions: Sequence[OwnAction]) -> str:
    """Names for a sentence: the first few, and the number of the others."""
    names = ", ".join(f'"{action.name}"' for action in actions[:MOST_NAMED])
    return names if len(actions) <= MOST_NAMED else f"{names} and {len(actions) - MOST_NAMED} more"


def refuse_strips(actions: str, destination: str) -> None:
    """Raise `SettingError` if strips of several actions would lie on top of each other."""
    if actions != ACTIVE and destination == "NLA":
        raise SettingError(
            "Strips of several actions would cover each other on the NLA tracks. Choose the current action or a new action as "
            "the destination."
        )


def own_span(own: OwnAction | None) -> tuple[float, float] | None:
    """First and last frame of an action: its frame range where it has one, else its first and last key; `None` without one."""
    if own is None:
        return None
    action = own.action
    if action.use_frame_range:
        return float(action.frame_start), float(action.frame_end)
    span = key_span(action)
    if span is None:
        raise RangeError(
            'Action "{action}" has no keys, so it has no range. Key something, or set its frame range.', action=own.name
        )
    return span


def goes_on_beside(armature: Object, span: tuple[float, float]) -> tuple[bool, bool]:
    """Whether the action that the armature plays has keys before and after `span`."""
    keys = key_span(armature.animation_data.action)
    return (False, False) if keys is None else (keys[0] < span[0], keys[1] > span[1])
