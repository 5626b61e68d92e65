"""`python -m twobone_addon bake ...`: the command where Blender is the bpy module and has no command line of its own."""

import contextlib
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

from .command_line.output import clean_standard_output, open_closed_streams

if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # Until the command listens, Ctrl-C ends it, and no traceback says where.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
open_closed_streams()
with clean_standard_output(wanted=True):  # On its way in, Blender may say which colours it uses.
    import bpy

    from . import registration
    from .command_line.command import main


def leave(code: int) -> NoReturn:
    """End the process with this exit code, whatever the bpy module would do on its way out.

    Some versions (4.2) crash at exit once properties have been registered, which would hide the exit code, or print
    complaints about memory. Nothing is left to be done then but the removal of Blender's temporary folder.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # Nobody reads it any more.
            stream.flush()
    with contextlib.suppress(OSError):  # Not empty: something else still uses it.
        Path(bpy.app.tempdir).rmdir()
    os._exit(code)


if __name__ == "__main__":
    registration.register()
    try:
        exit_code = main(sys.argv[1:])
    except SystemExit as ended:  # `--help`
        exit_code = int(ended.code or 0)
    leave(exit_code)
