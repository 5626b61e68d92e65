"""The project's commands.

With nothing but Python and pip, from the top of the checkout:

    python noxfile.py -s demo

Where nox is at hand already, `nox -s demo` does the same.
"""

import functools
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent
NOX_FOLDER = ROOT / "build" / "nox"
sys.path.insert(0, str(NOX_FOLDER))


def fetch_nox() -> None:
    """Put nox and uv into the checkout; a system's own Python, which often refuses to be installed into, is left alone."""
    if importlib.util.find_spec("pip") is None:
        sys.exit("This Python has no pip to fetch nox with. Install pip (Debian: apt install python3-pip), or nox.")
    print("Fetching nox and uv into build/nox ...", flush=True)
    command = [sys.executable, "-m", "pip", "install", "-qq", "--target", str(NOX_FOLDER), "--require-hashes", "-r"]
    if subprocess.run([*command, str(ROOT / "requirements" / "nox.txt")], check=False).returncode:
        sys.exit("Nox could not be fetched, for the reason above. Mend that, or install nox.")
    importlib.invalidate_caches()


if importlib.util.find_spec("nox") is None:
    fetch_nox()

import nox
from nox.command import CommandFailed

nox.needs_version = ">=2024.10.9"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_venv = "yes"
nox.options.error_on_missing_interpreters = False
nox.options.sessions = ["lint", "tests"]

# Blender's modules, oldest first, and the only Python that each of them runs in.
PYTHON_OF_BLENDER = {"4.2": "3.11", "4.5": "3.11", "5.0": "3.11", "5.1": "3.13", "5.2": "3.13"}
# The ends of what must work without Blender: the oldest and the newest Python and NumPy.
NUMPY_OF_PYTHON = {"3.11": "numpy==1.24.*", "3.13": "numpy"}
# That every test is in one of these lists is itself tested, in tests/house.
PURE_TESTS = ["core", "house", "settings", "test_said.py"]
BLENDER_TESTS = [
    *("tasks", "pipeline", "command_line", "doors", "examples", "faults", "interface", "matrix", "package", "promises", "real"),
    "scene",
    *("core/rig/test_inheritance.py", "core/rig/test_rotations.py"),
    *("core/curves/test_bezier_against_blender.py", "core/curves/test_reduction_in_blender.py"),
]
# What renders, starts one Blender after the other, poses thousands of limbs or throws dice at our own checks: not in `tests`,
# and on the newest Blender only.
SLOW_TESTS = [
    *("doors", "examples", "faults", "package", "command_line/batch/test_batch.py", "command_line/batch/test_batch_edges.py"),
    *("command_line/batch/test_batches_of_anything.py", "command_line/batch/test_workers.py", "command_line/batch/test_slurm.py"),
    *(
        "command_line/batch/test_own_and_foreign_outputs.py",
        "command_line/batch/test_moved_projects.py",
        "command_line/stopped/test_killing.py",
        "real/test_limbs.py",
    ),
    *("real/test_rigify.py", "real/test_order.py", "promises/test_toy_task.py", "tasks/bake/keys/test_long_takes.py"),
    *("core/rig/test_following.py", "core/rig/test_together.py", "core/curves/test_memory.py"),
]
# What takes minutes and is about every Blender: left to `matrix`, which runs it on all of them.
LONG_TESTS = [
    *("promises", "matrix", "real", "command_line/answers/test_files_matrix.py", "tasks/again/test_over_all_settings.py"),
    *("tasks/bake/keys/test_baking_twice.py", "tasks/bake/reach/test_random_rigs.py", "pipeline/live/test_draws.py"),
    "tasks/bake/keys/test_keys_reduced.py",
]
# All tests run on the newest Blender. The older ones share them: the oldest, which differs most, takes half, so that each test
# runs on an older one as well, and what is about the differences on all. `tests_on` runs everything on one of them.
SHARES = {"4.2": "1,2,3/6", "4.5": "4/6", "5.0": "5/6", "5.1": "6/6"}
PROGRAM_TESTS = ["real_program", "gui"]
# As many processes as there are cores; each takes a run of tests in their order, which share what they have built.
ON_ALL_CORES = ["--numprocesses=auto", "--dist=worksteal"]
# A window waits more than it computes. Where screens are virtual each process has its own; a desk has but one.
ON_SCREENS_OF_THEIR_OWN = ["--numprocesses=auto", "--dist=load"] if shutil.which("Xvfb") else []

PYPROJECT = nox.project.load_toml("pyproject.toml")
TEST_PACKAGES = nox.project.dependency_groups(PYPROJECT, "test")

# Which packages each file in `requirements` locks: a group of pyproject.toml, and more, for a Python and all newer ones.
LOCKED = {
    **{f"blender-{blender}": ("test", f"bpy=={blender}.*", version) for blender, version in PYTHON_OF_BLENDER.items()},
    **{f"pure-{version}": ("test", numpy, version) for version, numpy in NUMPY_OF_PYTHON.items()},
    **{group: (group, "", "3.11") for group in ("lint", "program", "pictures", "docs", "nox")},
}

results_on_blender: dict[str, str] = {}


def in_tests(names: list[str]) -> list[str]:
    return [f"tests/{name}" for name in names]


def without(left_out: list[str], names: list[str]) -> list[str]:
    """What pytest is told; paths that are named win over `--ignore`."""
    return [*in_tests([name for name in names if name not in left_out]), *(f"--ignore={path}" for path in in_tests(left_out))]


@functools.cache
def find_python(version: str) -> str | None:
    """Path of a Python of this version: the running one, one on PATH, or pyenv's newest. None if none of these is.

    Pyenv's own commands on PATH answer only for the versions that are switched on, so each find is asked what it is.
    """
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    patterns = (f"versions/{version}.*/bin/python", f"pyenv-win/versions/{version}.*/python.exe")
    in_pyenv = sorted((path for pattern in patterns for path in pyenv.glob(pattern)), key=os.path.getmtime, reverse=True)
    candidates = [sys.executable, shutil.which(f"python{version}"), *map(str, in_pyenv)]
    return next((path for path in candidates if path and _version_of(path) == version), None)


def _version_of(python: str) -> str:
    question = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([python, "-c", question], capture_output=True, text=True, check=False).stdout.strip()


def on_python(version: str) -> str:
    """What nox is told: the path, or the version alone, which leaves it to nox and uv to look further or to fetch one."""
    return find_python(version) or version


def on_blender(*releases: str) -> Callable:
    """Parametrise a session over releases of Blender, each with the Python that it needs."""
    cases = [nox.param(on_python(PYTHON_OF_BLENDER[release]), release, id=release) for release in releases]
    return nox.parametrize("python,blender", cases)


def best_blender() -> str:
    """The newest release that a Python found here can run; the newest of all where none can."""
    runnable = [release for release, version in PYTHON_OF_BLENDER.items() if find_python(version)]
    return (runnable or list(PYTHON_OF_BLENDER))[-1]


def install(session: nox.Session, locked: str) -> None:
    """Install the very files whose hashes `requirements` has."""
    session.install("--require-hashes", "-r", f"requirements/{locked}.txt")


def install_bpy(session: nox.Session, blender: str) -> None:
    install(session, f"blender-{blender}")


@nox.session(default=False)
def lock(session: nox.Session) -> None:
    """Choose the newest packages that fit together, and write their versions and hashes, for every system."""
    install(session, "nox")
    for name, (group, more, version) in LOCKED.items():
        asked = Path(session.create_tmp()) / "asked.txt"
        asked.write_text(f"{more}\n", encoding="utf-8")
        settings = ["--universal", "--generate-hashes", "--upgrade", "--no-annotate", "--no-header", "--python-version", version]
        files = ["--group", f"pyproject.toml:{group}", str(asked), "--output-file", f"requirements/{name}.txt"]
        session.run("uv", "pip", "compile", "--quiet", *settings, *files)


@nox.session
@on_blender(best_blender())
def demo(session: nox.Session, blender: str) -> None:
    """Show a character's whole story: sliding feet are planted, arms follow targets; a .blend, reports and pictures."""
    session.log(f"Taking Blender {blender}, the newest for the Pythons found here.")
    install_bpy(session, blender)
    session.run("python", "examples/demo.py", *session.posargs)


@nox.session
@on_blender(best_blender())
def tests(session: nox.Session, blender: str) -> None:
    """Run once, on the newest Blender, what needs no window and little time; `-- tests/core` runs what one works on."""
    install_bpy(session, blender)
    named = any(Path(argument.partition("::")[0]).exists() for argument in session.posargs)
    wanted = [] if named else without([*SLOW_TESTS, *LONG_TESTS], [*PURE_TESTS, *BLENDER_TESTS])
    # It costs a seventh of the time, which who only wants to see all pass need not wait.
    if not named and os.environ.get("TWOBONE_COVERAGE"):
        wanted += ["--cov", "--cov-report=term"]
    session.run("python", "-m", "pytest", *wanted, *ON_ALL_CORES, *session.posargs)


@nox.session(python=on_python(PYTHON_OF_BLENDER[best_blender()]), default=False)
def newest(session: nox.Session) -> None:
    """Try the newest bpy that can be had, of whatever version: what fails here is known before that Blender is supported."""
    session.install("--pre", "--upgrade", "bpy", *TEST_PACKAGES)
    session.run("python", "-m", "pytest", *without(SLOW_TESTS, BLENDER_TESTS), *ON_ALL_CORES, *session.posargs)


@nox.session(python=False, default=False)
def matrix(session: nox.Session) -> None:
    """Run what `tests` leaves out: the oldest Python and NumPy, other Blenders, slow tests."""
    session.notify(f"pure_tests({next(iter(NUMPY_OF_PYTHON))})", session.posargs)
    newest = best_blender()
    for release, version in PYTHON_OF_BLENDER.items():
        results_on_blender[release] = f"skipped, no Python {version} here"
        wanted = [*without(SLOW_TESTS, BLENDER_TESTS), *([f"--share={SHARES[release]}"] if release in SHARES else [])]
        if release == newest:
            wanted = in_tests([*SLOW_TESTS, *LONG_TESTS])
        session.notify(f"tests_on({release})", [*wanted, *session.posargs])
    session.notify("matrix_outcome")


@nox.session(default=False)
@on_blender(*PYTHON_OF_BLENDER)
def tests_on(session: nox.Session, blender: str) -> None:
    """Run what needs Blender but no window, on one Blender."""
    try:
        install_bpy(session, blender)
    except CommandFailed:
        if blender not in results_on_blender:  # asked for by name, not as one of all
            raise
        results_on_blender[blender] = "skipped, its bpy module could not be installed here (the reason stands above)"
        session.skip(f"Blender {blender}: {results_on_blender[blender]}")
    wanted = [] if blender in results_on_blender else in_tests(BLENDER_TESTS)
    results_on_blender[blender] = "failed"
    session.run("python", "-m", "pytest", *wanted, *ON_ALL_CORES, *session.posargs)
    results_on_blender[blender] = "passed"


@nox.session(python=False, default=False)
def matrix_outcome(session: nox.Session) -> None:
    """Say which Blenders were tested and which were not; fail if none was."""
    for release, result in results_on_blender.items():
        session.log(f"Blender {release}: {result}")
    if not {"passed", "failed"} & set(results_on_blender.values()):
        session.error(f"Nothing was tested: install Python {' or '.join(sorted(set(PYTHON_OF_BLENDER.values())))}")


@nox.session(default=False)
@nox.parametrize("python,version", [nox.param(on_python(version), version, id=version) for version in NUMPY_OF_PYTHON])
def pure_tests(session: nox.Session, version: str) -> None:
    """Test the packages that need no Blender, in a Python that has none."""
    install(session, f"pure-{version}")
    wanted = [name for name in PURE_TESTS if name != "house"]  # `house` reads sources, which are the same in every Python.
    session.run("python", "-m", "pytest", *in_tests(wanted), *ON_ALL_CORES, *session.posargs)


CHANGED_RECORDS = "pyright --pythonversion 3.13"
"""Only for newer Pythons does Pyright know the fields that `records.replace` takes."""


@nox.session
def lint(session: nox.Session) -> None:
    """Check rules, layout, types and the public checks: all of them, so that one run shows everything there is to fix."""
    install(session, "lint")
    workflow = "check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/ci.yml"
    checks = ["ruff check .", "ruff format --check .", "pyright", CHANGED_RECORDS, workflow]
    # At the same time, since Pyright takes a minute on one core.
    with ThreadPoolExecutor() as pool:
        passed = list(pool.map(lambda check: succeeds(session, *check.split()), checks))
    failed = [check for check, is_right in zip(checks, passed, strict=True) if not is_right]
    if failed:
        session.error(f"To mend: {', '.join(failed)}")


def succeeds(session: nox.Session, *command: str) -> bool:
    try:
        session.run(*command, silent=True)  # What fails says why; others would mix their lines into that.
    except CommandFailed:
        return False
    return True


@nox.session(python=False)
def package(session: nox.Session) -> None:
    """Build the extension's zip in build/, and let Blender's own program check it if there is one."""
    session.run(sys.executable, "tools/build_zip.py", "build")
    blender = find_blender()
    if blender is None:
        session.log("No Blender program on PATH or in BLENDER: not validated here (`tests` does it with Blender's own code).")
        return
    for archive in sorted(Path("build").glob("twobone-*.zip")):
        session.run(blender, "--command", "extension", "validate", str(archive), external=True)


@nox.session
def program_tests(session: nox.Session) -> None:
    """Install the zip in a real Blender, the program in BLENDER or on PATH, and use it without a window."""
    test_with_program(session, PROGRAM_TESTS[0], ON_ALL_CORES)


@nox.session
def window_tests(session: nox.Session) -> None:
    """Install the zip in a real Blender, the program in BLENDER or on PATH, and drive its window."""
    # What a simulated event does depends on what the window shows by then: a scenario that fails is played once more, and named.
    again = ["--reruns", "1", "-rR"]
    test_with_program(session, PROGRAM_TESTS[1], [*ON_SCREENS_OF_THEIR_OWN, *again])


def test_with_program(session: nox.Session, folder: str, settings: list[str]) -> None:
    if find_blender() is None:
        session.error("Put Blender on PATH or its path into BLENDER.")
    install(session, "program")
    session.run("python", "-m", "pytest", *in_tests([folder]), *settings, *session.posargs)


@nox.session
@on_blender("4.2", "5.2")
def bench(session: nox.Session, blender: str) -> None:
    """Measure: every script in tests/benchmark, one after the other; see also tools/make_speed_page.py."""
    install_bpy(session, blender)
    for script in sorted(Path("tests/benchmark").glob("bench_*.py")):
        is_kept = script.name in {"bench_bake.py", "bench_crowd.py", "bench_tasks.py"}
        kept = ["--results", f"build/bench/{blender}.json"] if is_kept else []
        session.run("python", str(script), *kept, *session.posargs)


@nox.session(default=False)
@on_blender(best_blender())
def mutants(session: nox.Session, blender: str) -> None:
    """Break the add-on in one small place at a time and see whether its tests notice; `-- --count 20 --rooms core/solver`."""
    install_bpy(session, blender)
    session.run("python", "tools/mutants.py", *session.posargs)


@nox.session(default=False)
def figures(session: nox.Session) -> None:
    """Draw the figures of the documentation."""
    install(session, "docs")
    session.run("python", "tools/make_figures.py", *session.posargs)


@nox.session(default=False)
@on_blender(best_blender())
def pictures(session: nox.Session, blender: str) -> None:
    """Run the examples and make the pictures of the documentation from what they render."""
    install_bpy(session, blender)
    install(session, "pictures")
    session.run("python", "tools/make_pictures.py", *session.posargs)


def find_blender() -> str | None:
    return os.environ.get("BLENDER") or shutil.which("blender")


if __name__ == "__main__":
    nox.main()
