"""What every test may ask for: Blender, an empty scene with the add-on registered, and real rigs."""

import atexit
import importlib.util
import itertools
import os
import shutil
import signal
import sys
import tempfile
import zlib
from pathlib import Path

import hypothesis
import pytest

from tests.blender_program import find_blender, run
from tools.build_zip import build

ROOT = Path(__file__).resolve().parent.parent
HAS_BLENDER = importlib.util.find_spec("bpy") is not None
# The only rooms whose tests run in a Python without bpy, or say themselves what they are skipped for.
RUN_WITHOUT_BLENDER = {"core", "examples", "gui", "house", "real_program", "settings"}
ROOMS = {path.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").glob("*/**/test_*.py")}
NEEDS_BLENDER = sorted(ROOMS - RUN_WITHOUT_BLENDER)
DATA_VARIABLE = "TWOBONE_TEST_DATA"

# Blender keeps preferences and installed extensions in the user's folder. The tests get one of their own,
# named before anything imports bpy, because that is when Blender looks.
USER_FOLDER = tempfile.mkdtemp(prefix="twobone-tests-")
os.environ["BLENDER_USER_RESOURCES"] = USER_FOLDER

# As many tests run as there are cores: threads of NumPy's own would only wait for each other, six times as long with 1.26.
# Named before anything imports NumPy, because that is when it looks.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell has Ctrl-C ignored by what it starts in the background, and that by all it starts itself.
signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadline: tests say what is right, not how fast. The same examples on every run, unless somebody names another seed.
SEED_IS_NAMED = any(argument.startswith("--hypothesis-seed") for argument in sys.argv)
hypothesis.settings.register_profile("house", deadline=None, print_blob=True, derandomize=not SEED_IS_NAMED)
hypothesis.settings.load_profile("house")

collect_ignore = [] if HAS_BLENDER else NEEDS_BLENDER


ALWAYS_WHOLE = "tests/scene/"
"""What differs between Blenders lives in the room that these tests are about."""


def pytest_addoption(parser):
    text = f"of N parts of all tests run these, such as 1,2/6, and all of {ALWAYS_WHOLE}"
    parser.addoption("--share", metavar="K,K/N", help=text)


def pytest_collection_modifyitems(config, items):
    if share := config.getoption("--share"):
        parts, _, count = share.partition("/")
        # By its name a test is in the same part whatever else is run.
        chosen = {int(part) - 1 for part in parts.split(",")}
        part_of = [zlib.crc32(item.nodeid.encode()) % int(count) for item in items]
        wanted = [part in chosen or item.nodeid.startswith(ALWAYS_WHOLE) for part, item in zip(part_of, items, strict=True)]
        config.hook.pytest_deselected(items=[item for item, is_wanted in zip(items, wanted, strict=True) if not is_wanted])
        items[:] = itertools.compress(items, wanted)


def pytest_report_header():
    if HAS_BLENDER:
        import bpy

        return f"Blender {bpy.app.version_string}"
    return f"no bpy module in this Python: left out are {', '.join(f'tests/{name}' for name in NEEDS_BLENDER)}"


def pytest_unconfigure():
    shutil.rmtree(USER_FOLDER, ignore_errors=True)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """End the process with pytest's own exit code: the 4.2 module crashes at exit once properties have been registered."""
    if HAS_BLENDER:
        atexit.register(leave, session)


def leave(session):
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(session.exitstatus))


@pytest.fixture(scope="session")
def data_folder(there):
    """Folder of real rigs: beside the checkout as ``shared/data``, or where TWOBONE_TEST_DATA says."""
    return there(Path(os.environ.get(DATA_VARIABLE, ROOT.parent / "shared" / "data")))


@pytest.fixture(scope="session")
def there():
    """Returns a path of data; without it a test is skipped, or fails where TWOBONE_TEST_DATA promises data."""

    def checked(path):
        if not path.exists():
            why = f"{path} is not there: set {DATA_VARIABLE} to a folder that has it"
            pytest.fail(why) if DATA_VARIABLE in os.environ else pytest.skip(why)
        return path

    return checked


@pytest.fixture(scope="session")
def built_zip(tmp_path_factory):
    """The extension's zip, built from the checkout."""
    return build(tmp_path_factory.mktemp("zip"))


@pytest.fixture(scope="session")
def user_folder(tmp_path_factory, built_zip):
    """A user folder for Blender's own program, with the zip installed and enabled."""
    folder = tmp_path_factory.mktemp("user")
    install = ["--command", "extension", "install-file", "-r", "user_default", "-e", str(built_zip)]
    done = run([find_blender(), *install], folder)
    assert done.returncode == 0, done.stdout
    return folder


@pytest.fixture(scope="session")
def registered_addon():
    """The add-on, registered once from the source tree."""
    from twobone_addon import registration

    registration.register()
    yield registration
    registration.unregister()


@pytest.fixture
def empty_file(registered_addon):
    """A new file with factory settings, nothing in it, and the add-on registered. Returns ``bpy.context``."""
    import bpy

    from tests.blank import empty

    empty()
    return bpy.context
