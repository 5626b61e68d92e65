"""A folder with a job, and the batch of it."""

import pytest

from tests.command_line.jobs import write_job
from tests.command_line.shots import make_shot


@pytest.fixture
def folder(tmp_path, registered_addon):
    """A folder with one shot, and a job for all that come to it."""
    make_shot(tmp_path / "shots" / "s0.blend")
    write_job(tmp_path)
    return tmp_path


@pytest.fixture
def batch_here(run_here, folder):
    """Runs the batch of the folder's job, in this process."""
    return lambda *words, job="job.json": run_here(folder / job, *words)
