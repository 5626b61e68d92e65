"""A new task is one folder and one line: operator, flags, job keys, schema, progress, refusals, report and tests follow."""

import subprocess
import sys

from tests.house.source import ROOT


def test_a_task_needs_a_folder_and_a_line(tmp_path):
    words = ["-p", "tests.promises.toy_task.line", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'toy'}"]
    promises = [sys.executable, "-m", "pytest", "-q", *words, "tests/promises/test_promises.py", "-k", "lift and not bake"]
    done = subprocess.run(promises, cwd=ROOT, capture_output=True, text=True, check=False)
    told = done.stdout[-5000:]
    assert done.returncode == 0, told
    assert " passed" in told, told
    assert "failed" not in told, told
