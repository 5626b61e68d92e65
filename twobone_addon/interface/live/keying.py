"""Keys that auto-keying makes for live chains, in the undo step of the move that they belong to.

Blender takes that step when the move ends, and only then it is known that a live chain can be keyed. An operator whose undo
is grouped takes the place of the step before it where that has the operator's own name, so each kind of move gets one.
"""

from collections.abc import Callable
from typing import Any

import bpy

OWN_STEP = "Live Keys"
"""Undo step of keys that belong to no operator's step, such as a number typed in the sidebar."""

TRANSFORM = "TRANSFORM_OT_"

operators: dict[str, Any] = {}
"""The operator for each name of a step."""

due: list[Callable[[], None]] = []
"""What the operator that runs now is to do."""


def running_move(manager: bpy.types.WindowManager) -> str:
    """Name of the operator with which something is moved now, which its undo step will have; empty where none runs."""
    running = [operator for window in manager.windows for operator in window.modal_operators]
    moving = [operator for operator in running if operator.bl_idname.startswith(TRANSFORM)]
    return next((operator.name for operator in (*moving, *running)), "")


def in_step_of(name: str, work: Callable[[], None]) -> None:
    """Do some work so that undo takes it back with the last step, if that has this name; else it becomes a step of its own."""
    manager = bpy.data.window_managers[0]
    operator = operators.get(name) or _made(name)
    due.append(work)
    try:
        window = next(iter(manager.windows), None)
        with bpy.context.temp_override(**({"window": window} if window else {})):
            getattr(bpy.ops.twobone, operator.bl_idname.partition(".")[2])("EXEC_DEFAULT", True)  # noqa: FBT003 - asks for the undo step
    finally:
        due.clear()


def _made(name: str) -> Any:
    def execute(_self: bpy.types.Operator, _context: bpy.types.Context) -> set[str]:
        for work in due:
            work()
        return {"FINISHED"}

    contents = {
        "__doc__": "Key what has followed live",
        "bl_idname": f"twobone.live_keys_{len(operators)}",
        "bl_label": name,
        "bl_options": {"UNDO_GROUPED", "INTERNAL"},
        "execute": execute,
    }
    operators[name] = type(f"TWOBONE_OT_live_keys_{len(operators)}", (bpy.types.Operator,), contents)
    bpy.utils.register_class(operators[name])
    return operators[name]


def forget() -> None:
    """Unregister what was registered."""
    for operator in operators.values():
        bpy.utils.unregister_class(operator)
    operators.clear()
