"""`python -m twobone_addon bake ...`: the command where Blender is the bpy module and has no command line of its own."""

import sys

from . import registration
from .command_line.command import main

if __name__ == "__main__":
    registration.register()
    sys.exit(main(sys.argv[1:]))
