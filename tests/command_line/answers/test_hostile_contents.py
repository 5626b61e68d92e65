"""Files that others made, and names in them: whatever they hold, the answer is one sentence, and the terminal stays as it is."""

import io
import json
import os
import re
import struct
import sys
import zipfile
from xml.etree import ElementTree as ET

import bpy
import numpy as np
import pytest

from tests.command_line.shots import LEG, make_shot, save, store_chain
from tests.promises.tasks_under_test import TASKS
from tests.promises.ways import operator
from tests.tasks.rigs.walker import Walk, build_walker, key_contacts

REFUSED = {1, 2}
LEAST_MEMORY = 1 << 30
"""More than Blender needs for these shots, less than any of the files promises."""


@pytest.fixture
def walk(tmp_path, registered_addon):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    armature, states = build_walker(Walk(frames=24))
    key_contacts(armature, states)
    bpy.context.view_layer.objects.active = armature
    save(tmp_path / "walk.blend")
    return tmp_path / "walk.blend"


def assert_one_sentence(ended):
    assert ended.code in REFUSED, (ended.said, ended.complained)
    assert len(ended.complained.splitlines()) == 1, ended.complained
    assert "Traceback" not in ended.said + ended.complained


def npy(header, data=b"", version=1):
    """An array's file with any header."""
    text = header.encode() + b"\n"
    length = struct.pack("<H", len(text)) if version == 1 else struct.pack("<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + data


def described(shape, kind="<f8"):
    return f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"


def pickled():
    made = io.BytesIO()
    np.save(made, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return made.getvalue()


ARRAYS = {
    "a header of 4 GB": b"\x93NUMPY\x02\x00" + struct.pack("<I", 0xFFFFFFFF) + b" " * 100,
    "a header of 64 MB": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 4), }" + " " * (64 << 20), version=2),
    "a deep header": npy("(" * 50_000 + ")" * 50_000, version=2),
    "a header that computes": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (9**9**9, 4), }"),
    "ten terabytes": npy(described(f"({10**12}, 4)")),
    "a shape beyond any memory": npy(described(f"({10**30}, 4)")),
    "a negative shape": npy(described("(-1, 4)")),
    "a gigabyte of zeros": npy(described("(33554432, 4)"), b"\0" * (1 << 20)),
    "pickled objects": pickled(),
    "text": npy(described("(1, 4)", "<U4"), b"\0" * 64),
    "records": npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1, 4), }", b"\0" * 32),
    "not a number": npy(described("(2, 4)"), np.full((2, 4), np.nan).tobytes()),
    "no header": b"\x93NUMPY\x01\x00",
    "nothing": b"",
}


@pytest.mark.parametrize("content", ARRAYS.values(), ids=ARRAYS.keys())
def test_contacts_of_a_hostile_npz_are_refused_in_a_sentence_without_reading_what_it_promises(twobone, walk, content):
    path = walk.with_name("made.npz")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("foot_contacts.npy", content)
    before = walk.read_bytes()
    peak = highest_memory()
    assert_one_sentence(twobone("import-contacts", "--file", walk, "--armature", "Walker", "--filepath", path, "--save"))
    assert walk.read_bytes() == before
    assert highest_memory() - peak < LEAST_MEMORY


def highest_memory():
    """Bytes that the process has had at most."""
    if sys.platform == "win32":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def test_a_npz_that_is_no_archive_is_refused_in_a_sentence(twobone, walk):
    for number, data in enumerate((b"", b"PK\x03\x04", b"\x00" * 100, walk.read_bytes()[:5000], b"PK\x05\x06" + b"\xff" * 18)):
        path = walk.with_name(f"{number}.npz")
        path.write_bytes(data)
        assert_one_sentence(twobone("import-contacts", "--file", walk, "--armature", "Walker", "--filepath", path))


ODD_REPORTS = {
    "nothing": b"",
    "null": b"null",
    "a list": b"[]",
    "a number": b"7",
    "no report": b"{}",
    "bytes": bytes(range(256)),
    "deep": b"[" * 100_000 + b"]" * 100_000,
    "a long number": b'{"version": ' + b"9" * 10_000 + b"}",
    "infinity": b'{"kind": "audit", "version": 1, "clips": [{"skate_share": 1e999}], "x": Infinity}',
    "the same key twice": b'{"kind": "audit", "kind": "audit"}',
    "a report of another task": json.dumps({"kind": "bake", "version": 1, "chains": []}).encode(),
    "clips that are a text": json.dumps({"kind": "audit", "version": 1, "clips": "walk"}).encode(),
    "clips that are numbers": json.dumps({"kind": "audit", "version": 1, "clips": [1, 2]}).encode(),
    "clips without limbs": json.dumps({"kind": "audit", "version": 1, "clips": [{"action": None, "limbs": None}]}).encode(),
}


@pytest.mark.parametrize("content", ODD_REPORTS.values(), ids=ODD_REPORTS.keys())
def test_an_audit_compares_with_a_report_of_an_audit_or_says_that_it_is_none(twobone, walk, content):
    path = walk.with_name("before.json")
    path.write_bytes(content)
    assert_one_sentence(twobone("audit", "--file", walk, "--armature", "Walker", "--compare", path))
    job = walk.with_name("job.json")
    job.write_text(json.dumps({"use": "audit", "armature": "Walker", "compare": "before.json"}))
    assert_one_sentence(twobone("audit", "--file", walk, "--job", job))


IN_ACTIONS = [task for task in TASKS if any(option.name == "actions" for option in task.options)]


@pytest.mark.parametrize("task", IN_ACTIONS, ids=lambda task: task.name)
@pytest.mark.parametrize("text", ["", " ", ";", ";;", "\n", "\x1b[31m"], ids=repr)
def test_actions_that_name_nothing_are_done_or_refused_in_a_sentence(twobone, tmp_path, registered_addon, task, text):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    task.build()
    save(tmp_path / "shot.blend")
    ended = operator(task, {"actions": text})
    assert "Traceback" not in ended.said
    if not task.command:
        return
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in task.call.items()]
    job = tmp_path / "job.json"
    job.write_text(json.dumps({"use": task.command, **task.job, **task.call, "actions": text}))
    for words in ([*flags, "--actions", text], ["--job", job]):
        ended = twobone(task.command, "--file", tmp_path / "shot.blend", *task.words, *words)
        assert "Traceback" not in ended.said + ended.complained
        assert ended.code == 0 or (ended.code in REFUSED and len(ended.complained.splitlines()) == 1), ended.complained


EVIL = "\x1b[2J\x1b]0;owned\x07\r\x9b31m\x7f\u202e"
"""Clears the screen, renames the window, rings, goes back to the start of the line, turns the writing around."""
COMMANDS = [
    *(["bake", *LEG], ["bake", "--armature", "Rig"], ["report", *LEG], ["clear", "--armature", "Rig", "--upper", "upper"]),
    *(["audit"], ["limbs"], ["contacts"], ["plant"], ["fit-root"], ["convert"], ["give", *LEG], ["switch", "--to", "FK"]),
    *(["chains"], ["align", *LEG], ["nudge", "--frame", "4", "--offset", "0,0,0.1"]),
]


EVIL_LETTERS = set("\x1b\x07\r\x9b\x7f\u202e")


def harmless(text):
    return all(letter == "\n" or letter.isprintable() for letter in text)


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such names")
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_names_from_a_file_reach_the_terminal_escaped(registered_addon, tmp_path, capfd, words):
    """Of the file, objects, bones, actions, chains: in sentences, refusals and tables."""
    from twobone_addon.command_line.command import main

    rig, target = make_shot()
    bpy.context.view_layer.objects.active = rig
    store_chain(rig, target, name=f"leg{EVIL}")
    rig.keyframe_insert('pose.bones["upper"].rotation_quaternion', frame=1)
    rig.animation_data.action.name = f"a{EVIL}"
    names = {"Rig": f"Rig{EVIL}", "Target": f"Target{EVIL}", "upper": f"upper{EVIL}", "lower": f"lower{EVIL}"}
    for thing in (rig, target, *rig.data.bones):
        thing.name = names[thing.name]
    shot = tmp_path / f"shot{EVIL.replace('/', '')}.blend"
    save(shot)
    for given in (words, [names.get(word, word) for word in words], [*words, "--actions", f"none{EVIL}"]):
        capfd.readouterr()
        main([given[0], "--file", str(shot), *given[1:]])
        printed = capfd.readouterr()
        # Blender itself prints the names of files that it reads as they are.
        said = re.sub(r'[^\n]*Read blend: ".*?\.blend"\n', "", printed.out, flags=re.DOTALL)
        own = "".join(line for line in printed.err.split("\n") if line.startswith("twobone: "))
        assert harmless(said), repr(said)
        assert harmless(own), repr(own)
        assert not EVIL_LETTERS.intersection(printed.err), repr(printed.err)


def test_a_picture_with_such_names_is_well_formed(twobone, walk):
    bpy.ops.wm.open_mainfile(filepath=str(walk))
    armature = bpy.data.objects["Walker"]
    armature.animation_data.action.name = f"a<b>&{EVIL}"
    for chain in armature.twobone.chains:
        chain.name += EVIL
    save(walk)
    assert twobone("audit", "--file", walk, "--picture", walk.with_name("walk.svg")).code == 0
    assert ET.parse(walk.with_name("walk.svg")).getroot().tag.endswith("svg")  # noqa: S314 - our own
