"""The commands that people and the public checks type are those that the noxfile has."""

import ast
import re
import subprocess
import sys

import pytest

from tests.house.source import ROOT, name_of

CI = ROOT / ".github" / "workflows" / "ci.yml"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "examples").rglob("*.md")), CI]


def sessions():
    """Names of the functions in the noxfile that are sessions; a parametrised one is called ``name(release)``."""
    tree = ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and any(ast.unparse(mark).startswith("nox.session") for mark in node.decorator_list)
    }


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_session_that_a_page_names_exists(page):
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r'nox(?:file\.py)?(?: --[\w-]+)* -s "?(\w+)', text))
    assert named <= sessions() | {"NAME"}


@pytest.mark.parametrize("page", PAGES[:-1], ids=name_of)
def test_commands_mean_the_same_in_every_systems_shell(page):
    """Blocks that say they are for bash, as a farm's are, may be what they are."""
    text = re.sub(r"```bash\n.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    commands = re.findall(r"^ *(?:python|blender|nox|deadlinecommand) .*$", text, re.MULTILINE)
    of_one_shell = [command for command in commands if re.search(r"&&|\\$|\$\(|'|~/|\| ", command)]
    assert not of_one_shell


def test_the_public_checks_run_the_two_commands_of_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^    (python noxfile\.py .*)$", readme, re.MULTILINE) == [
        "python noxfile.py -s demo",
        "python noxfile.py -s tests",
    ]
    checks = CI.read_text(encoding="utf-8")
    assert "- run: python noxfile.py -s demo\n" in checks
    assert '-s "tests_on(${{ matrix.blender }})"' in checks


def test_the_public_checks_look_at_every_blender_that_the_noxfile_knows():
    (releases,) = re.findall(r"blender: (\[.*\])", CI.read_text(encoding="utf-8"))
    (known,) = re.findall(r"^PYTHON_OF_BLENDER = (\{.*\})", (ROOT / "noxfile.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert ast.literal_eval(releases) == list(ast.literal_eval(known))


def test_every_test_is_in_one_of_the_lists_of_the_noxfile_and_every_list_names_tests():
    lists = {"PURE_TESTS", "BLENDER_TESTS", "PROGRAM_TESTS"}
    tree = ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))
    values = [node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in lists]
    named = {leaf.value for value in values for leaf in ast.walk(value) if isinstance(leaf, ast.Constant)}
    files = {path.relative_to(ROOT / "tests").as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    assert len(values) == len(lists)
    assert not {name for name in named if not any(file == name or file.startswith(f"{name}/") for file in files)}
    assert not {file for file in files if not any(file == name or file.startswith(f"{name}/") for name in named)}


def test_a_python_without_blender_leaves_out_what_needs_it_and_collects_the_rest_without_an_error():
    listing = "pytest.main(['tests', '--collect-only', '-q'])"
    code = f"import sys, pytest; sys.modules.update(bpy=None, mathutils=None); sys.exit({listing})"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert not ended.returncode, ended.stdout[-3000:]
    collected = {line.split("/")[1] for line in ended.stdout.splitlines() if "::" in line}
    assert {"core", "house", "settings"} <= collected
    assert not {"command_line", "interface", "pipeline", "scene", "tasks"} & collected
