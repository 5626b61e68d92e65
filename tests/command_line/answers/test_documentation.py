"""What the pages about the command line say is so, and the example that they name does what it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.blender_program import PATIENCE_IN_SECONDS
from tools import make_docs
from twobone_addon.command_line.command import CODES, parse
from twobone_addon.command_line.job import load_job
from twobone_addon.command_line.outcomes import ExitCode

ROOT = Path(__file__).resolve().parents[3]
PAGES = [
    ROOT / "docs" / "command_line.md",
    make_docs.FLAGS_PAGE,
    ROOT / "docs" / "farms.md",
    ROOT / "examples" / "flamenco" / "README.md",
]
# Flags in the pages that are Blender's own, or another program's.
OTHERS = {
    "--addons", "--background", "--command", "--factory-startup", "--python", "--help",
    "--array", "--dependency", "--export", "--job-name", "--cpus-per-task", "--time", "--no-verify", "--verify",
}  # fmt: skip


def known_flags():
    flags = {"--version"}
    for command in commands().choices:
        flags |= set(re.findall(r"--[a-z][a-z-]*", help_of(command)))
    return flags


def commands():
    from twobone_addon.command_line import command as arguments

    (found,) = [action for action in arguments.command_parser()._actions if action.dest == "command"]
    return found


def help_of(command):
    return commands().choices[command].format_help()


def test_the_page_of_flags_is_made_from_the_present_commands():
    assert make_docs.flags_page() == make_docs.FLAGS_PAGE.read_text(encoding="utf-8"), "run: python tools/make_docs.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_flag_on_the_pages_exists(page):
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", page.read_text(encoding="utf-8")))
    assert named <= known_flags() | OTHERS


def test_the_jobs_on_the_page_are_jobs(tmp_path):
    jobs = []
    for text in re.findall(r"```toml\n(.*?)```", PAGES[0].read_text(encoding="utf-8"), re.DOTALL):
        (tmp_path / "job.toml").write_text(text)
        jobs.append(load_job(tmp_path / "job.toml"))
    assert [chain.label for chain in jobs[0].chains] == ["left leg", "right leg"]
    assert jobs[1].tables[0].shared == {"frame_start": 1001, "frame_end": 1090, "armature": "Rig.002"}


def test_the_commands_on_the_page_are_understood():
    page = PAGES[0].read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [
        line.split("--command twobone ")[1] for line in page.splitlines() if line.startswith("blender ") and "twobone " in line
    ]
    assert len(lines) >= 2
    for line in lines:
        parse(line.split())


def test_the_exit_codes_are_on_the_page_and_in_the_help():
    page = PAGES[0].read_text(encoding="utf-8")
    for code in ExitCode:
        assert f"| {int(code)} |" in page
        assert f"{int(code)} " in CODES


def test_links_between_the_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_hand_over_example_keeps_the_tip_on_the_target(tmp_path):
    command = [sys.executable, str(ROOT / "examples" / "bake_and_export.py"), "--output", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ), timeout=PATIENCE_IN_SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall(r"imported again", done.stdout)) == 2


def test_the_options_page_is_made_from_the_present_settings():
    assert make_docs.options_page() == make_docs.OPTIONS_PAGE.read_text(encoding="utf-8"), "run: python tools/make_docs.py"


def test_every_setting_of_every_operator_is_in_its_section_of_the_options_page(registered_addon):
    """Or in a section that it links to; "settings of a bake" are those in the sections before the tasks'."""
    bpy = pytest.importorskip("bpy")
    page = make_docs.OPTIONS_PAGE.read_text(encoding="utf-8")
    before, *others = page.split("## Bake All")[0], *re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    sections = {text.split("\n")[0].lower().replace(" ", "-"): text for text in others}

    def told(text):
        linked = re.findall(r"\]\(#([\w-]+)\)", text)
        return text + "".join(told(sections[name]) for name in linked) + (before if "settings of a bake" in text else "")

    operators = {name: text for text in sections.values() for name in re.findall(r"bpy\.ops\.twobone\.(\w+)`", text)}
    assert len(operators) > 10
    for operator, text in operators.items():
        properties = getattr(bpy.ops.twobone, operator).get_rna_type().properties
        names = {each.identifier for each in properties if not each.is_hidden} - {"rna_type"}
        missing = {name for name in names if f"`{name}`" not in told(text)}
        assert not missing, f"{operator}: {missing}"


def test_the_report_page_is_made_from_the_present_records():
    assert make_docs.report_page() == make_docs.REPORT_PAGE.read_text(encoding="utf-8"), "run: python tools/make_docs.py"


def test_the_schemas_are_made_from_the_present_records():
    old = [path.name for path, text in make_docs.schema_files() if path.read_text(encoding="utf-8") != text]
    assert not old, "run: python tools/make_docs.py"
