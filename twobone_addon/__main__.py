"""`python -m twobone_addon bake ...`: the command line for Blender as the bpy module, which has none of its own."""

import contextlib
import os
import sys
from pathlib import Path
from typing import NoReturn

from .command_line.exit_codes import handled_by, stop_at_once

# Importing takes a second, in which nothing is written.
until_the_end = contextlib.ExitStack()
until_the_end.enter_context(handled_by(stop_at_once))

from .command_line.output import clean_standard_output, open_closed_streams  # noqa: E402

open_closed_streams()
with clean_standard_output(wanted=True):  # On import, Blender may print which colour management it uses.
    import bpy

    from . import registration
    from .command_line.command import main


def leave(code: int) -> NoReturn:
    """End the process with this exit code, skipping the bpy module's own shutdown.

    Some versions (4.2) crash at exit once properties have been registered, which would hide the exit code, or print memory
    warnings. Only Blender's temporary folder remains to be removed.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # The reader has closed it.
            stream.flush()
    with contextlib.suppress(OSError):  # Not empty because something else still uses it.
        Path(bpy.app.tempdir).rmdir()
    os._exit(code)


if __name__ == "__main__":
    registration.register()
    try:
        exit_code = main(sys.argv[1:])
    except SystemExit as ended:  # `--help`
        exit_code = int(ended.code or 0)
    leave(exit_code)
