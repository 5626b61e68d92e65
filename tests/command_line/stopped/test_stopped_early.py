"""A signal that comes before the command handles any, while Blender and the add-on are being imported, is a stop as well."""

import signal
import subprocess
import sys

import pytest

from tests.command_line.stopped.killing import ROOT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
STOPPED = 5

# Sends the signal as the first import of a module begins.
PROGRAM = """
import os, runpy, signal, sys
number, module = int(sys.argv[1]), sys.argv[2]
class Sender:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            os.kill(os.getpid(), number)
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # Under nohup it would be ignored, as it should.
sys.meta_path.insert(0, Sender())
sys.argv = ["twobone", "--help"]
runpy.run_module("twobone_addon", run_name="__main__")
"""


@pytest.mark.parametrize("module", ["twobone_addon.command_line.output", "bpy", "twobone_addon.command_line.command"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_while_modules_are_imported_ends_with_the_code_of_a_stop(module, number):
    words = [sys.executable, "-c", PROGRAM, str(int(number)), module]
    ended = subprocess.run(words, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == STOPPED, ended.stderr
    assert "Traceback" not in ended.stderr
    assert "Stopped." in ended.stderr
