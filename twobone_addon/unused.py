"""Settings that change nothing beside the others: found before a bake, so that none is ignored in silence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .options import Kind, Option
from .settings import LIMITS, OPTION, BakeSettings


def unused(settings: BakeSettings, names: Iterable[str]) -> dict[str, str]:
    """Which of the named settings have no effect, by name, each with a sentence that says why.

    A setting at its default says nothing that would be missed, so it is never among them.
    """
    given = sorted(set(names) & OPTION.keys(), key=list(OPTION).index)
    found = {name: why for name in given if (why := _why_unused(settings, OPTION[name]))}
    return found | {name: why for name, why in _empty_choices(settings) if name in given}


def _why_unused(settings: BakeSettings, option: Option) -> str:
    """The sentence for one setting; empty where it makes a difference or is at its default."""
    needs = option.needs
    if needs is None or getattr(settings, option.name) == option.default or needs.is_met(settings):
        return ""
    other = OPTION[needs.setting]
    now = _shown(other, getattr(settings, needs.setting))
    wanted = " or ".join(_shown(other, value) for value in needs.values)
    return f"{option.label} has no effect: {other.label} is {now}, not {wanted}."


def _empty_choices(settings: BakeSettings) -> Iterator[tuple[str, str]]:
    """Choices that need a number to be something, and got none."""
    if settings.reach == "SOFTEN" and not settings.softness and not settings.softness_near:
        yield "reach", "Reach Soften has no effect: Softness and Softness Near are both 0."
    if settings.reach == "STRETCH" and settings.stretch_max == settings.compress_min == 1.0:
        yield "reach", "Reach Stretch stretches nothing: Stretch Maximum and Compress Minimum are both 1."
    if settings.use_limits and not settings.limits and all(getattr(settings, name) == OPTION[name].default for name in LIMITS):
        yield "use_limits", "Joint Limits has no effect: every limit is a half turn to either side."


def _shown(option: Option, value: object) -> str:
    """A value as the panel shows it."""
    if option.kind is Kind.SWITCH:
        return "on" if value else "off"
    return next((choice.label for choice in option.choices if choice.value == value), str(value))
