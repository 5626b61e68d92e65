"""Settings that change nothing beside the others: found before anything is done, so that none is ignored in silence."""

from __future__ import annotations

from collections.abc import Iterable

from ..said import Sentence, joined, note
from .options import Kind, Option, Settings, options_of


def without_effect(settings: Settings, given: Iterable[str] | None = None) -> dict[str, Sentence]:
    """Which settings have no effect, by name and in the order of their table, each with a sentence that says why.

    A setting at its default says nothing that would be missed, so it is never among them.

    given : names of those that were given; without it, every setting that is not at its default was
    """
    options = {option.name: option for option in options_of(type(settings))}
    empty = dict(settings.empty_choices())
    found = {}
    for name in options if given is None else [name for name in options if name in set(given)]:
        why = empty.get(name) or _unmet(settings, options[name], options)
        if why and getattr(settings, name) != options[name].default:
            found[name] = why
    return found


def _unmet(settings: Settings, option: Option, options: dict[str, Option]) -> Sentence | None:
    """The sentence for a setting that needs another one to be otherwise; `None` where it does not."""
    needs = option.needs
    if needs is None or needs.is_met(settings):
        return None
    other = options[needs.setting]
    now = _shown(other, getattr(settings, needs.setting))
    return note(
        "{option} has no effect: {other} is {now}, not {wanted}.",
        option=Sentence(option.label),
        other=Sentence(other.label),
        now=now,
        wanted=joined((_shown(other, value) for value in needs.values), " or "),
    )


def _shown(option: Option, value: object) -> Sentence:
    """A value as the panel shows it."""
    if option.kind is Kind.SWITCH:
        return Sentence("on" if value else "off")
    return Sentence(next((choice.label for choice in option.choices if choice.value == value), str(value)))
