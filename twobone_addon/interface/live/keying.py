"""Auto-keying of live chains in the undo step of the user's move.

Blender pushes that step when the move ends, and live chains can only be keyed after that. An operator with grouped undo
replaces the previous step if that has the operator's own name, so there is one keying operator for each kind of move.
"""

from collections.abc import Callable
from typing import Any

import bpy

OWN_STEP = "Live Keys"
"""Name of the undo step for changes without an operator, such as a number typed in the sidebar."""

TRANSFORM = "TRANSFORM_OT_"

operators: dict[str, Any] = {}
"""The keying operator for each name of an undo step."""

due: list[Callable[[], None]] = []
"""Functions that the running keying operator has to call."""


def running_move(manager: bpy.types.WindowManager) -> str:
    """Return the name of the running modal operator, transforms first, which its undo step will have; empty if there is none."""
    running = [operator for window in manager.windows for operator in window.modal_operators]
    moving = [operator for operator in running if operator.bl_idname.startswith(TRANSFORM)]
    return next((operator.name for operator in (*moving, *running)), "")


def in_step_of(name: str, work: Callable[[], None]) -> None:
    """Call `work` as part of the last undo step if that has this name, otherwise in an undo step of its own."""
    manager = bpy.data.window_managers[0]
    operator = operators.get(name) or _registered_operator(name)
    due.append(work)
    try:
        # The context of a timer has no window.
        window = next(iter(manager.windows), None)
        with bpy.context.temp_override(**({"window": window} if window else {})):
            getattr(bpy.ops.twobone, operator.bl_idname.partition(".")[2])("EXEC_DEFAULT", True)  # noqa: FBT003 - asks for the undo step
    finally:
        due.clear()


def _registered_operator(name: str) -> Any:
    """Make and register the keying operator for a name of an undo step."""

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
    """Unregister all keying operators."""
    for operator in operators.values():
        bpy.utils.unregister_class(operator)
    operators.clear()
