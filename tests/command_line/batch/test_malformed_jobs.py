"""Job files that are no job files: one sentence that names the file and fits a screen, exit code 2, no traceback."""

import json

import pytest

BATCH = {"shots": ["shots/a.blend"], "output": "baked/{shot}.blend", "armature": "Rig", "upper": "u", "lower": "l", "target": "t"}
TOML = 'shots=["shots/a.blend"]\noutput="baked/{shot}.blend"\narmature="Rig"\nupper="u"\nlower="l"\ntarget="t"\n'
DEEP = 100_000
LONGEST_SENTENCE = 500


def json_with(extra):
    return f"{json.dumps(BATCH)[:-1]},{extra}}}"


def batch(**changes):
    return json.dumps({**BATCH, **changes})


NO_JOBS = {
    "empty.toml": ("", '"shots" is missing'),
    "deep lists.toml": (f"{TOML}limits={'[' * DEEP}{']' * DEEP}", "nested too deeply"),
    "deep tables.toml": (f"{TOML}x={'{a=' * DEEP}1{'}' * DEEP}", "nested too deeply"),
    "deep lists.json": (json_with(f'"limits":{"[" * DEEP}{"]" * DEEP}'), "nested too deeply"),
    "dotted key.toml": (f"{TOML}{'a.' * DEEP}a=1", "nested too deeply"),
    "dotted table.toml": (f"{TOML}[{'a.' * DEEP}a]\nb=1", "nested too deeply"),
    "dotted key in a table.toml": (f"{TOML}x={{{'a . ' * DEEP}a=1}}", "nested too deeply"),
    "version in a folder.json": (batch(output="v{version}/{shot}.blend"), "{version} in a folder"),
    "900 lists.json": (json_with(f'"limits":{"[" * 900}{"]" * 900}'), "nested too deeply"),
    "400 digits.json": (json_with(f'"step":{"9" * 400}'), "finite number"),
    "5000 digits.json": (json_with(f'"step":{"9" * 5000}'), "thousands of digits"),
    "400 digits.toml": (f"{TOML}step={'9' * 400}", "finite number"),
    "5000 digits.toml": (f"{TOML}step={'9' * 5000}", "thousands of digits"),
    "max_error of 400 digits.json": (json_with(f'"max_error":{"9" * 400}'), '"max_error"'),
    "limits of 400 digits.json": (json_with(f'"limits":[[-{"9" * 400},1]]'), '"limits"'),
    "1e309.toml": (f"{TOML}step=1e309", "finite number"),
    "date.toml": (f"{TOML}step=1979-05-27", "Use a number"),
    "key twice.toml": (f'{TOML}armature="X"', "not TOML"),
    "key twice.json": (json_with('"armature":"B"'), "twice"),
    "NUL in a shot.json": (batch(shots=["a\0.blend"]), "NUL"),
    "NUL in a pattern.json": (batch(shots=["a\0*.blend"]), "NUL"),
    "surrogate in a shot.json": ('{"shots":["a\\ud800.blend"],"output":"b/{shot}.blend"}', "surrogate"),
    "surrogate in the output.json": ('{"shots":["a.blend"],"output":"b\\udcff/{shot}.blend"}', "surrogate"),
    "surrogate in a name.json": (json_with('"pole":"\\ud800"'), "surrogate"),
    "unknown variable.json": (batch(output="$NO_SUCH_SHOW/{shot}.blend"), "$NO_SUCH_SHOW"),
    "nameless output.json": (batch(output="baked/.blend"), "does not name a file"),
    "open brace.json": (batch(output="{shot.blend"), "brace"),
    "braces in braces.json": (batch(output="{{shot}}.blend"), "brace"),
    "null.json": ('{"shots":null,"output":null}', '"shots"'),
    "long key.json": (json_with(f'"{"k" * 1_000_000}":1'), "is unknown"),
    "long pattern.json": (batch(shots=["*" * 10_000 + ".blend"]), "no file matches"),
    "comment.json": ('{// c\n"shots":[]}', "line 1, column 2"),
    "list.json": ("[]", "not a table"),
}


@pytest.mark.parametrize("name", NO_JOBS)
def test_what_is_no_job_is_refused_in_one_sentence(twobone, tmp_path, name):
    text, reason = NO_JOBS[name]
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    ended = twobone("batch", path, "--list")
    assert ended.code == 2
    assert reason in ended.complained
    assert len(ended.complained.splitlines()) == 1
    assert len(ended.complained) < LONGEST_SENTENCE + len(str(path))


def test_twenty_thousand_unknown_keys_are_read_in_one_go(twobone, tmp_path):
    path = tmp_path / "job.json"
    path.write_text(json_with(",".join(f'"k{number}":1' for number in range(20_000))))
    assert '"k0" is unknown' in twobone("batch", path, "--list").complained


@pytest.mark.parametrize("written", ["~/baked/{shot}.blend", "$SHOW/baked/{shot}.blend", "${SHOW}/baked/{shot}.blend"])
def test_home_and_variables_in_paths_stand_for_what_they_are(twobone, tmp_path, monkeypatch, written):
    monkeypatch.setenv("SHOW", str(tmp_path / "show"))
    monkeypatch.setenv("HOME", str(tmp_path / "show"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "show"))
    path = tmp_path / "job.json"
    path.write_text(batch(output=written))
    ended = twobone("batch", path, "--list")
    assert ended.code == 0, ended.complained
    assert str(tmp_path / "show" / "baked" / "a.blend") in ended.said
