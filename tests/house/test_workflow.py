"""The public checks run what they ran yesterday: actions by commit, images by digest, tools by version."""

import re
import tomllib

from tests.house.source import ROOT

WORKFLOW = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
TOOLS = ("ruff", "check-jsonschema", "pyright", "fake-bpy-module-5-2", "nox")


def test_every_action_is_pinned_by_its_commit_and_says_its_version():
    used = re.findall(r"uses: (.+)", WORKFLOW)
    assert used
    assert not [action for action in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", action)]


def test_every_image_of_a_container_has_a_digest():
    images = re.findall(r"container: (.+)", WORKFLOW)
    assert images
    assert not [image for image in images if not re.fullmatch(r"[\w/.-]+:[\w.-]+@sha256:[0-9a-f]{64}", image)]


def test_every_job_ends_by_itself_and_a_tag_whose_checks_pass_is_released():
    jobs = dict(re.findall(r"^  (\w+):\n((?:    .*\n|\n)+)", WORKFLOW.split("\njobs:\n")[1], re.MULTILINE))
    assert not [name for name, text in jobs.items() if "timeout-minutes:" not in text]
    (needed,) = re.findall(r"needs: \[(.+)\]", jobs["release"])
    assert set(needed.split(", ")) == set(jobs) - {"release", "newest"}
    assert "continue-on-error: true" in jobs["newest"]
    assert "cancel-in-progress:" in WORKFLOW
    assert all("cache: pip" in line for line in re.findall(r"with: \{ python-version.*", WORKFLOW))


def test_every_tool_that_judges_the_code_has_a_version():
    lint = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]["lint"]
    named = {re.match(r"[\w-]+", entry)[0]: entry for entry in lint if isinstance(entry, str)}
    assert set(TOOLS) <= set(named)
    assert not [entry for entry in named.values() if not re.search(r"[~=]=", entry)]
