"""Registration of `blender SHOT.blend --command twobone ...` with Blender; the command is imported when it is run."""

import bpy

NAME = "twobone"

_registered: list[object] = []
"""The handle that Blender returned for the registered command; empty while it is not registered."""


def main(argv: list[str]) -> int:
    """Run one sub-command and return its exit code."""
    from .exit_codes import handled_by, stop_at_once  # noqa: PLC0415 - what is registered at every start is only its name

    with handled_by(stop_at_once):
        from .command import main as run  # noqa: PLC0415 - the same

        return run(argv)


def register() -> None:
    """Register the command with Blender, but not in the bpy module: it has no command line, and that of 4.2 fails at exit."""
    if bpy.app.binary_path:
        _registered.append(bpy.utils.register_cli_command(NAME, main))


def unregister() -> None:
    """Unregister the command."""
    while _registered:
        bpy.utils.unregister_cli_command(_registered.pop())
