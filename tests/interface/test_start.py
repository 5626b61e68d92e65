"""What Blender's start costs with the add-on enabled: what registering imports."""

import subprocess
import sys

from tests.house.source import ROOT

REGISTERED = """
import sys, os, bpy
before = set(sys.modules)
sys.path.insert(0, ".")
from twobone_addon import registration
registration.register()
print("IMPORTED", *sorted(set(sys.modules) - before), sep="\\n", flush=True)
os._exit(0)
"""


def test_enabling_imports_a_hundred_modules_and_none_that_works_on_motion():
    ended = subprocess.run([sys.executable, "-c", REGISTERED], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not ended.stderr  # Blender says there which annotations of a class it cannot read.
    imported = ended.stdout.partition("IMPORTED\n")[2].split()
    assert len(imported) <= 100
    assert "twobone_addon.interface.operators.bake" in imported
    assert "numpy" not in imported
    rooms = ("core.solver", "tasks.bake", "pipeline.run", "command_line.command")
    assert not [name for name in imported if name.startswith(tuple(f"twobone_addon.{room}" for room in rooms))]
