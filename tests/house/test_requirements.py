"""What is installed for tests, lint and docs is written down with hashes, and nothing else is."""

import ast
import re
import tomllib

import pytest

from tests.house.source import ROOT

FILES = sorted((ROOT / "requirements").glob("*.txt"))
NAME = re.compile(r"[\w.-]+")


def of_noxfile(name):
    (text,) = re.findall(rf"^{name} = (\{{.*?\}})$", (ROOT / "noxfile.py").read_text(encoding="utf-8"), re.MULTILINE)
    return ast.literal_eval(text)


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(path):
    """The lines of a file, each with its hashes, by the package's name; several where Pythons differ."""
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    packages = {}
    for line in filter(None, text.splitlines()):
        packages.setdefault(canonical(NAME.match(line).group()), []).append(line)
    return packages


def asked(group):
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    for entry in groups[group]:
        if isinstance(entry, dict):
            yield from asked(entry["include-group"])
        else:
            yield canonical(NAME.match(entry).group())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_package_has_one_version_and_hashes_and_no_address(path):
    for lines in locked(path).values():
        for line in lines:
            assert re.match(r"[\w.-]+==[\w.]+ +(; [^\\]+? +)?(--hash=sha256:[0-9a-f]{64} *)+$", line), line[:80]
    assert not re.search(r"https?:|file:|/", path.read_text(encoding="utf-8"))


def test_there_is_a_file_for_each_blender_each_python_without_one_and_each_group():
    blenders, pythons = of_noxfile("PYTHON_OF_BLENDER"), of_noxfile("NUMPY_OF_PYTHON")
    groups = {"lint", "program", "pictures", "docs", "nox"}
    assert {path.stem for path in FILES} == {
        *(f"blender-{name}" for name in blenders),
        *(f"pure-{name}" for name in pythons),
        *groups,
    }
    for blender in blenders:
        (line,) = locked(ROOT / "requirements" / f"blender-{blender}.txt")["bpy"]
        assert line.startswith(f"bpy=={blender}.")
    for path in FILES:
        group = path.stem if path.stem in groups else "test"
        assert set(asked(group)) <= set(locked(path)), path.stem


def test_nothing_is_installed_without_a_hash_but_the_newest_blender():
    noxfile = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    installs = re.findall(r"session\.install\((.*)\)", noxfile)
    assert installs == ['"--require-hashes", "-r", f"requirements/{locked}.txt"', '"--pre", "--upgrade", "bpy", *TEST_PACKAGES']
