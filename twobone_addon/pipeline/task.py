"""A task as the runner, the command line and the pages know it: its name, its settings and its story."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from ..records import replace
from ..scene.actions import OwnAction
from ..scene.blender_types import Object, Scene
from ..scene.lookup import find_armature
from ..settings import BakeSettings
from ..settings.options import Settings
from ..settings.tasks import Table
from .actions.choosing import ALL, refuse_strips
from .clips import Results, report_of_clips
from .report.reports import Report
from .story import Story

Asked = TypeVar("Asked", bound=Settings)
"""Type of a task's settings."""

Span: TypeAlias = tuple[float, float]
"""First and last frame of an action."""


def with_range(settings: BakeSettings, span: Span | None) -> BakeSettings:
    """The settings with a custom range: that of an action, if there is one."""
    return settings if span is None else replace(settings, frame_range="CUSTOM", frame_start=span[0], frame_end=span[1])


def by_armature(asked: Asked, active: Object | None) -> dict[Object, Asked]:
    """The armatures that settings refer to, each with its own; raises `SettingError` if several actions would make strips."""
    settings: Any = asked  # Whatever the task, either chains or an armature are among them.
    if not hasattr(settings, "chains"):
        return {find_armature(settings.armature, active): settings}
    found: dict[Object, Any] = {}
    for chain in settings.chains:
        refuse_strips(ALL, chain.destination)
        armature = find_armature(chain.armature, active)
        own = found[armature] if armature in found else replace(settings, chains=())
        found[armature] = replace(own, chains=(*own.chains, chain))
    return found


@dataclass(frozen=True, slots=True)
class Task(Generic[Asked]):
    """A task. It has no state, so one instance serves all runs."""

    name: str
    """Name under which its keys are recorded."""
    table: Table
    """Its texts and options, from which operator, command, job and pages are made."""
    story: Callable[[Scene, Asked, Object | None, OwnAction | None], Story[Any]]
    """Tells it for the settings and the active object: for a chosen action, or without one for whatever is played now."""
    record: type[Report]
    """Type of the report of a run; of several actions there is one each where it `has_clips`."""
    by_armature: Callable[[Asked, Object | None], Mapping[Object, Asked]] = by_armature
    """Finds the armatures that the settings refer to, each with its own settings; raises `ObjectError` if there are none."""
    joined: Callable[[Results], Any] = report_of_clips
    """Makes the report of a run from those of its actions; by default several actions have one each."""

    @property
    def has_clips(self) -> bool:
        """Whether several actions have a report each."""
        return self.joined is report_of_clips and any(option.name == "actions" for option in self.table.own)
