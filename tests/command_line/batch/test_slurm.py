"""The scripts of the farms page, run by SLURM where one is running: an array, one that is cancelled, and a summary of all."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.command_line.jobs import write_job
from tests.command_line.shots import add_script, make_shot, save
from tests.command_line.stopped.killing import alive_with, wait_until

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "farms.md"


def has_slurm():
    """Whether jobs can be submitted here, and a node takes them."""
    if shutil.which("sbatch") is None:
        return False
    found = subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True, check=False)
    return bool({"idle", "mixed", "allocated"} & set(found.stdout.split()))


pytestmark = pytest.mark.skipif(not has_slurm(), reason="no SLURM: start one, and put its configuration into SLURM_CONF")


@pytest.fixture
def farm(tmp_path, registered_addon):
    """A job with three shots, and the page's two scripts with this Python in place of Blender's program."""
    for name in "abc":
        make_shot(tmp_path / "shots" / f"{name}.blend")
    write_job(tmp_path)
    program = f"'{sys.executable}' -m twobone_addon"
    array, rest = re.findall(r"```bash\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    for name, text in (("array", array), ("rest", rest)):
        own = text.replace("blender --background --command twobone", program).replace("1-500%8", "1-3")
        (tmp_path / f"{name}.sbatch").write_text(own)
    return tmp_path


def let_it_wait(farm, script):
    """One shot runs a script of its own, and so do the array's tasks; returns that shot as it was."""
    shot, array = farm / "shots" / "b.blend", farm / "array.sbatch"
    before = shot.read_bytes()
    make_shot()
    add_script(script)
    save(shot)
    array.write_text(array.read_text().replace("--resume", "--resume --scripts"))
    return before


def submit(farm, name, *words):
    exported = f"--export=ALL,JOB={farm}/job.json,PYTHONPATH={ROOT}"
    command = ["sbatch", "--parsable", exported, f"--output={farm}/{name}.%j.log", *words, str(farm / f"{name}.sbatch")]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ).stdout.strip()


def litter_in(farm):
    return [path for path in farm.rglob("*") if path.name.startswith(".twobone-")]


def wait_for(job):
    end = time.monotonic() + 600
    while time.monotonic() < end:
        found = subprocess.run(["squeue", "-h", "-j", job], capture_output=True, text=True, check=False).stdout
        if not found.strip():
            return
        time.sleep(0.5)
    raise AssertionError(found)


def test_an_array_bakes_every_shot_and_a_job_that_waits_for_it_sums_up(farm):
    array = submit(farm, "array")
    wait_for(submit(farm, "rest", f"--dependency=afterany:{array}"))
    assert sorted(path.name for path in (farm / "baked").iterdir()) == ["a.blend", "b.blend", "c.blend"]
    assert [json.loads((farm / f"job.json.{number}.summary.json").read_text())["done"] for number in (1, 2, 3)] == [1, 1, 1]
    assert json.loads((farm / "job.json.summary.json").read_text())["done"] == 3
    (log,) = (path.read_text() for path in farm.glob("rest.*.log"))
    assert "3 of 3 shots are done already" in log


def test_a_cancelled_array_leaves_nothing_and_goes_on(farm):
    """One shot waits in a script of its own until it is cancelled."""
    here = farm / "here"
    quick = let_it_wait(farm, f"import time, pathlib\npathlib.Path({str(here)!r}).touch()\ntime.sleep(600)\n")
    array = submit(farm, "array")
    assert wait_until(here.exists, 200)
    subprocess.run(["scancel", array], check=True)
    wait_for(array)
    assert wait_until(lambda: not alive_with(farm / "shots"), 60)
    assert wait_until(lambda: not litter_in(farm), 60)
    (farm / "shots" / "b.blend").write_bytes(quick)
    wait_for(submit(farm, "array"))
    assert sorted(path.name for path in (farm / "baked").iterdir()) == ["a.blend", "b.blend", "c.blend"]


def test_an_array_whose_node_goes_down_runs_again_when_it_is_back_and_completes(farm):
    """One shot waits in a script of its own as long as a file is there; what the others have done by then is left out."""
    here, held = farm / "here", farm / "held"
    let_it_wait(
        farm,
        f"import time, pathlib\nwhile pathlib.Path({str(held)!r}).exists():\n"
        f"    pathlib.Path({str(here)!r}).touch()\n    time.sleep(0.2)\n",
    )
    held.touch()
    node = subprocess.run(["sinfo", "-h", "-o", "%n"], capture_output=True, text=True, check=True).stdout.split()[0]
    array = submit(farm, "array", "--requeue")
    assert wait_until(here.exists, 200)
    subprocess.run(["scontrol", "update", f"nodename={node}", "state=down", "reason=killed"], check=True)
    try:
        assert wait_until(lambda: not alive_with(farm / "shots"), 60)
    finally:
        held.unlink()
        subprocess.run(["scontrol", "update", f"nodename={node}", "state=resume"], check=False)  # It may be back by itself.
    wait_for(array)
    assert sorted(path.name for path in (farm / "baked").iterdir()) == ["a.blend", "b.blend", "c.blend"]
    assert [json.loads((farm / f"job.json.{number}.summary.json").read_text())["done"] for number in (1, 2, 3)] == [1, 1, 1]
    assert not litter_in(farm)
