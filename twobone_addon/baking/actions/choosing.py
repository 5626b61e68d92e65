"""Which actions are meant, and over which frames each is to be gone through."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import ObjectError, RangeError, SettingError
from ...scene.actions.finding import OwnAction, action_named, actions_of, key_span, own_action
from ...scene.blender_types import Object

ACTIVE, ALL = "ACTIVE", "ALL"
"""The present action over the range that the settings have, and every action of the armature, each over its own."""

MOST_NAMED = 3
"""Actions that a sentence names."""

SEPARATOR = ";"
"""Between names of actions."""


def which_actions(text: str) -> str:
    """The text as it is meant: the two words that are no names may be written in any case."""
    return text.upper() if text.upper() in {ACTIVE, ALL} else text


def chosen_actions(armature: Object, text: str) -> list[OwnAction] | None:
    """The actions that a text means, by name; `None` where it means the present one over the range of the settings.

    Raises `ObjectError` where a name is none of an action that moves the armature, or where there are no actions.
    """
    if text == ACTIVE:
        return None
    if text == ALL:
        found = actions_of(armature)
        if not found:
            raise ObjectError(f'Armature "{armature.name}" has no actions. Choose the active one, or name others.')
        return found
    names = dict.fromkeys(name.strip() for name in text.split(SEPARATOR) if name.strip())
    if not names:
        raise SettingError(f'Actions are {text!r}. Use ACTIVE, ALL, or names separated by "{SEPARATOR}".')
    return [_named(armature, name) for name in names]


def chosen_of_all(armatures: Sequence[Object], text: str) -> list[tuple[Object, OwnAction]]:
    """The same of several armatures, none of them for `ACTIVE`; raises only where no armature has what is meant."""
    found, errors = [], []
    for armature in armatures:
        try:
            found += [(armature, own) for own in chosen_actions(armature, text) or ()]
        except ObjectError as error:
            errors.append(error)
    if errors and not found:
        raise errors[0]
    return found


def _named(armature: Object, name: str) -> OwnAction:
    action = action_named(name)
    if action is None:
        known = names_of(actions_of(armature)) or "none"
        raise ObjectError(f'Action "{name}" is not in this file. Use those of armature "{armature.name}" ({known}).')
    own = own_action(armature, action, sure=True)
    if own is None:
        raise ObjectError(f'Action "{name}" moves no bone of armature "{armature.name}". Choose one that does.')
    return own


def names_of(actions: Sequence[OwnAction]) -> str:
    """Names for a sentence: of some, and of how many others there are."""
    names = ", ".join(f'"{each.name}"' for each in actions[:MOST_NAMED])
    return names if len(actions) <= MOST_NAMED else f"{names} and {len(actions) - MOST_NAMED} more"


def refuse_strips(actions: str, destination: str) -> None:
    """Raise `SettingError` where strips of several actions would lie on top of each other."""
    if actions != ACTIVE and destination == "NLA":
        raise SettingError(
            "Strips of several actions would cover each other on the NLA tracks. "
            "Choose the current action or a new action as the destination."
        )


def own_span(own: OwnAction) -> tuple[float, float]:
    """First and last frame of an action: its frame range where it has one, else its first and last key."""
    action = own.action
    if action.use_frame_range:
        return float(action.frame_start), float(action.frame_end)
    span = key_span(action)
    if span is None:
        raise RangeError(f'Action "{own.name}" has no keys, so it has no range. Key something, or set its frame range.')
    return span


def goes_on_beside(armature: Object, span: tuple[float, float]) -> tuple[bool, bool]:
    """Whether the action that the armature plays has keys before and after a range."""
    keys = key_span(armature.animation_data.action)
    return (False, False) if keys is None else (keys[0] < span[0], keys[1] > span[1])
