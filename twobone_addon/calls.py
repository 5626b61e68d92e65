"""A typed function for each task, made from its table: `twobone_addon.bake(armature="rig", ...)` returns the report.

The functions have the names and settings of the operators, but need no active object and no selection. `__init__.pyi` shows
them to editors; `tools/make_docs.py` writes it from the same tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any

import bpy

from .desk.doing import carried_out
from .desk.meant import CHAIN, Meant, chain_named, chains_in_scope, meant
from .errors import SelectionError, SettingError
from .pipeline.plan.stored import MODES
from .scene.restoring import bring_up_to_date
from .settings.options import Option, OptionKind, as_meant
from .settings.tasks import ALL_CHAINS, tables_by_call
from .tasks.all_tasks import KEYS_LIMBS

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
    switch_first, stored = values.pop(SWITCH_FIRST, False), values.pop("stored", "")
    own = {option.name: values.pop(option.name) for option in table.own if option.name in values}
    settings: Any = table.settings(**own)  # Refuses wrong values before anything is looked for.
    scope = settings.scope if name == ALL_CHAINS else own.get("scope", CHAIN)

    def requested() -> Meant:
        chains = None
        if table.of_chains and scope == CHAIN:
            chains = chain_named(context, table, values, stored or own.get("chain", ""))
        elif table.of_chains:
            chains = chains_in_scope(context, table, scope, values)
        return meant(context, table, own, chains)

    return carried_out(context, requested, switch_first=switch_first)[1]
