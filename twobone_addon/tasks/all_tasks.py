"""List of all tasks, from which operators, commands, jobs, schemas and pages are made."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..pipeline.story import Task

PLACES = {
    "bake": ".bake:BAKE",
    "convert": ".convert.task:CONVERT",
    "give": ".give.task:GIVE",
    "switch": ".switch.task:SWITCH",
    "clear": ".clear:CLEAR",
    "align": ".align:ALIGN",
    "find_limbs": ".find_limbs:FIND_LIMBS",
    "find_contacts": ".find_contacts.task:FIND_CONTACTS",
    "import_contacts": ".find_contacts.exchange:IMPORT_CONTACTS",
    "export_contacts": ".find_contacts.exchange:EXPORT_CONTACTS",
    "plant": ".plant.task:PLANT",
    "finish_retarget": ".finish_retarget.task:FINISH_RETARGET",
    "fit_root": ".fit_root:FIT_ROOT",
    "nudge": ".nudge.task:NUDGE",
    "audit": ".audit:AUDIT",
}
"""Module and name of each task, by the name of its table. A task is imported when it is first used: operators and flags need
only its table, and Blender shall start quickly."""

KEYS_LIMBS = frozenset({"bake", "give", "plant", "find_contacts", "fit_root", "nudge", "align", "finish_retarget"})
"""Tasks that are refused for limbs on IK, and for which scripts may have these switched to FK first."""


def task_named(name: str) -> Task[Any]:
    """The task with the table of this name, imported if it has not been yet."""
    module, _, constant = PLACES[name].partition(":")
    return getattr(import_module(module, __package__), constant)


def all_tasks() -> tuple[Task[Any], ...]:
    """Every task, in the order of the list."""
    return tuple(map(task_named, PLACES))
