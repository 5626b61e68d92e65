"""Jobs of batches for tests, and what the summary of a batch says of each shot."""

import json
from pathlib import Path

CHAIN = {"armature": "Rig", "upper": "upper", "lower": "lower", "target": "Target", "plane": "XZ"}
KEYS = 24 * 8
"""Number of keys of a baked shot."""


def write_job(folder, name="job.json", **changes):
    """A job for all shots of a folder, with these keys changed, and without those that are `None`; returns its path."""
    job = {"shots": ["shots/*.blend"], "output": "baked/{shot}.blend", **CHAIN} | changes
    (folder / name).write_text(json.dumps({key: value for key, value in job.items() if value is not None}))
    return folder / name


def records(folder, name="job.json.summary.json"):
    """The records of a summary, by the shots' names."""
    return {Path(record["shot"]).stem: record for record in json.loads((folder / name).read_text())["shots"]}


def states(folder, name="job.json.summary.json"):
    """The states of the shots in the summary, by their names."""
    return {shot: record["state"] for shot, record in records(folder, name).items()}
