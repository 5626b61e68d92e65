"""The pages are true: what is made from code is up to date, and every link leads somewhere."""

import ast
import math
import re

import hypothesis
import pytest

from tests.house.source import ROOT, name_of
from tools import make_help
from twobone_addon.core import solver
from twobone_addon.core.contacts import finding, ground, skating
from twobone_addon.core.planting import heels
from twobone_addon.settings import OPTIONS
from twobone_addon.tasks.convert import solve
from twobone_addon.tasks.plant.pose import standing
from twobone_addon.tasks.plant.solve import UNSEEN_SLIDE

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]
MOST_BYTES_OF_PICTURES = 3_000_000
MANY_FILES = 10
MANY_VARIABLES = 5

each_page = pytest.mark.parametrize("page", PAGES, ids=name_of)


@each_page
def test_every_link_to_a_file_leads_to_one(page):
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    lost = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not lost, f"{name_of(page)} links to {lost}"


@each_page
def test_every_link_to_a_heading_leads_to_one(page):
    links = re.findall(r"\]\(([^)#\s]*)#([^)]+)\)", page.read_text(encoding="utf-8"))
    lost = [f"{file}#{heading}" for file, heading in links if "://" not in file and heading not in headings(file, page)]
    assert not lost, f"{name_of(page)} links to {lost}"


def headings(file, page):
    """Headings of a file that a page links to, of the page itself if it names none, as links write them."""
    text = (page.parent / file if file else page).read_text(encoding="utf-8")
    lines = [line.lstrip("# ").lower() for line in text.splitlines() if line[:1] == "#"]
    return {re.sub(r"[^\w\- ]", "", line).replace(" ", "-") for line in lines}


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    missing = [page.name for page in (ROOT / "docs").glob("*.md") if page.name != "README.md" and f"]({page.name})" not in index]
    assert not missing, f"docs/README.md does not name {missing}"


def test_every_file_that_contributors_are_sent_to_is_there():
    page = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    folders = [ROOT, ROOT / "twobone_addon"]
    named = re.findall(r"`([\w/]+(?:\.py|/))`", page)
    assert len(named) > MANY_FILES
    lost = [name for name in named if not any((folder / name).exists() for folder in folders)]
    assert not lost


def test_every_variable_that_contributors_may_set_is_read():
    page = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    named = set(re.findall(r"TWOBONE_[A-Z_]+", page))
    assert len(named) > MANY_VARIABLES
    code = [path.read_text(encoding="utf-8") for path in (ROOT / "noxfile.py", *(ROOT / "tests").rglob("*.py"))]
    read = {name for text in code for name in re.findall(r"environ(?:\.get\(|\[|\.setdefault\()\"(TWOBONE_[A-Z_]+)", text)}
    assert named <= read


def test_the_flags_of_examples_are_those_on_their_page():
    page = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    (sentence,) = re.findall(r"Flags \(in Blender\s+after `--`\): ([^.]*)\.", page)
    parser = (ROOT / "examples" / "stage.py").read_text(encoding="utf-8")
    assert re.findall(r"--[a-z-]+", sentence) == re.findall(r'add_argument\("(--[a-z-]+)"', parser)


def test_drawn_cases_are_the_same_in_every_run_unless_a_seed_is_named(request):
    assert hypothesis.settings.default.derandomize == (request.config.getoption("--hypothesis-seed") is None)


@each_page
def test_every_script_on_a_page_names_settings_and_solver_as_they_are(page):
    """Words given to the bake are settings, and what is imported is there; the tests of each package see that they work."""
    settings = {option.name for option in OPTIONS}
    for script in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        for node in ast.walk(ast.parse(script)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "bpy.ops.twobone.bake":
                assert {word.arg for word in node.keywords} <= settings
            if isinstance(node, ast.ImportFrom) and node.module == "twobone_addon.core.solver":
                assert {name.name for name in node.names} <= set(solver.__all__)


def percent(part):
    return f"{100.0 * part:g} %"


FIGURES = {
    "contacts": (
        f"speed: {percent(finding.SLOW_PART)} of the fastest difference between feet within {finding.NEAR:g} seconds",
        f"height: {percent(finding.LOW)} of the leg",
        f"heel lift: {percent(finding.LIFT)}",
        f"shortest contact: {finding.LEAST_IN_SECONDS:g} seconds",
    ),
    "plant_the_feet": (
        f"fades in {standing.EASE:g} s, a large one in up to {standing.LONGEST_EASE:g} s",
        f"slides more than {900.0 * UNSEEN_SLIDE:g} mm of a 90 cm leg",
        f"lift by up to {math.degrees(heels.MOST):g} degrees",
        f"steps within {percent(ground.UNEVEN)} of the leg, or flat ground at most {percent(ground.FAR_OFF)} away",
    ),
    "converting": (
        f"by at most {percent(solve.IK_RESIDUAL)} of the limb length, by {percent(solve.STRETCH_SHOWS)} where IK stretches",
    ),
    "audit": (
        f"({percent(skating.LOW)} of L over its lowest {percent(skating.LOWEST)}) at which it moves faster than {skating.FAST} L",
    ),
}


@pytest.mark.parametrize("page", FIGURES)
def test_figures_on_a_page_are_those_of_the_code(page):
    text = " ".join((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8").split())
    assert not [figure for figure in FIGURES[page] if figure not in text]


def test_the_pictures_are_few_enough_to_be_kept_with_the_code():
    assert sum(path.stat().st_size for path in (ROOT / "docs" / "images").iterdir()) < MOST_BYTES_OF_PICTURES


def test_every_picture_is_shown_somewhere():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    unused = [path.name for path in (ROOT / "docs" / "images").iterdir() if path.name not in text]
    assert not unused


def test_the_installed_help_says_what_the_pages_say():
    assert make_help.help_page() == make_help.HELP.read_text(encoding="utf-8"), "run: python tools/make_help.py"
