"""A typed function for each task, made from its table: `twobone_addon.bake(armature="rig", ...)` returns the report.

The functions have the names and settings of the operators, but need no active object and no selection. `__init__.pyi` shows
them to editors; `tools/make_docs.py` writes it from the same tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any

import bpy

from .errors import SelectionError, SettingError
from .interface.operators.bake import stored_in_scope, with_targets
from .interface.operators.of_tasks import keep_planted
from .interface.running.progress import keep_report
from .interface.stored.where import MODES
from .pipeline.plan.completing import completed
from .pipeline.plan.stored import active_object, over_stored, stored_settings, with_custom_range
from .pipeline.run import run
from .records import replace
from .scene.restoring import bring_up_to_date, write_animated_values
from .settings import BakeSettings
from .settings.options import ACTIVE, Option, OptionKind, as_meant
from .settings.tasks import ALL_CHAINS, tables_by_call
from .tasks.all_tasks import KEYS_LIMBS, task_named
from .tasks.switch.task import run_after_switch

TABLE_OF = tables_by_call()
"""The table of each call, by the name of its operator."""

SWITCH_FIRST = "switch_first"
"""Setting of the tasks that are refused for limbs on IK."""

TYPES = {OptionKind.NUMBER: "float", OptionKind.SWITCH: "bool", OptionKind.VECTOR: "tuple[float, float, float]"}
"""Types of settings, as annotations; of all other kinds they are texts."""


def call_named(name: str) -> Callable[..., Any]:
    """The function with the name of an operator."""
    table = TABLE_OF[name]
    named = {option.name: (_type(option), option.default) for option in options_of_call(name)}
    if table.of_chains and name != ALL_CHAINS:
        named |= {"stored": ("str", ""), "limits": ("Sequence[tuple[float, float]]", ())}
    only_named = Parameter.KEYWORD_ONLY
    if table.task in KEYS_LIMBS:
        named[SWITCH_FIRST] = ("bool", False)
    signature = Signature([Parameter(key, only_named, default=value, annotation=hint) for key, (hint, value) in named.items()])

    def call(**given: Any) -> Any:
        return _called(name, signature.bind(**given).arguments)

    settings = "\n".join(f"    {option.name}: {option.text}." for option in options_of_call(name))
    if table.task in KEYS_LIMBS:
        settings += f"\n    {SWITCH_FIRST}: Switch limbs that IK poses to FK before, with their motion."
    call.__name__ = call.__qualname__ = name
    call.__module__ = __package__ or ""
    text = "Bake all enabled chains in one pass" if name == ALL_CHAINS else table.text
    call.__doc__ = f"{text}.\n\nReturns the report; raises `TwoBoneError`.\n\n{settings}\n"
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def options_of_call(name: str) -> Sequence[Option]:
    """The settings that a function takes, in the order of its signature."""
    table = TABLE_OF[name]
    if name == ALL_CHAINS:
        return table.own
    of_chain = [option for option in table.of_chains if option.name in table.heeded]
    return of_chain if table.task == "bake" else (*of_chain, *table.own)


def _type(option: Option) -> str:
    if option.kind is OptionKind.CHOICE:
        values = ", ".join(f'"{choice.value}"' for choice in option.choices)
        return f"Literal[{values}]"
    return TYPES.get(option.kind, "str") + (" | None" if option.default is None else "")


def _called(name: str, given: Mapping[str, Any]) -> Any:
    """Run the task as its operator does: after unfinished edits, and with the report kept in the file."""
    if not hasattr(bpy.types.Object, "twobone"):
        raise SettingError("Two-Bone IK is not enabled. Enable the extension, or call registration.register() first.")
    context, table = bpy.context, TABLE_OF[name]
    if context.mode not in MODES:
        raise SelectionError("Switch to Object Mode or Pose Mode first.")
    bring_up_to_date()
    options = {option.name: option for option in (*table.of_chains, *table.own)}
    values = {key: as_meant(options[key], value) if key in options else value for key, value in given.items()}
    start = run_after_switch if values.pop(SWITCH_FIRST, False) else run
    own = {option.name: values.pop(option.name) for option in table.own if option.name in values}
    if any(option.name == "frame_range" for option in table.own):
        own = dict(with_custom_range(context.scene, own))
    active, keepers, skipped = active_object(context), [], []
    settings: Any = table.settings(**own)  # Refuses wrong values before anything is looked for.
    if name == ALL_CHAINS:
        chains, skipped = with_targets(stored_in_scope(context, settings.scope))
        settings = replace(settings, chains=tuple(stored_settings(chain.id_data, chain, {}) for chain in chains))
    elif table.of_chains:
        settings = replace(settings, chains=tuple(_chains(values, own)))
    if table.task == "bake" and own.get("actions", ACTIVE) == ACTIVE:
        keepers = [values.get("stored") or chain.stored for chain in settings.chains]
    report = start(context.scene, task_named(table.task), settings, active, actions=getattr(settings, "actions", ACTIVE))
    report = replace(report, skipped=skipped) if skipped else report
    if table.task == "plant":
        keep_planted(report, report.sentence())
    keep_report(context, report, keepers)
    write_animated_values()
    return report


def _chains(values: Mapping[str, Any], given_own: Mapping[str, Any]) -> Iterator[BakeSettings]:
    """The settings of the chain that is named by its bones or as a stored one, or of all those in the scope."""
    context, scope = bpy.context, given_own.get("scope", "CHAIN")
    given = {key: value for key, value in values.items() if key != "stored"}
    if scope == "CHAIN":
        stored = values.get("stored") or given_own.get("chain", "")
        yield completed(context.scene, given, active_object(context), stored)
        return
    for chain in stored_in_scope(context, scope):
        yield stored_settings(chain.id_data, chain, over_stored(context.scene, chain, given))
