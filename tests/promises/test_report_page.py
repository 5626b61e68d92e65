"""What docs/report.md says of a report is in it, by that name and type: on the record and in the JSON, of every task."""

import dataclasses
import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

import twobone_addon
from tests.promises.promises import Bench, add_action
from tests.promises.tasks_under_test import TASKS
from tests.promises.ways import command
from twobone_addon.command_line.command import main
from twobone_addon.pipeline.report.form import together
from twobone_addon.records import replace
from twobone_addon.said import Sentence
from twobone_addon.tasks.all_tasks import all_tasks

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "report.md").read_text(encoding="utf-8")
COMMON, *SECTIONS = re.split(r"^### ", PAGE.split("<!-- From here")[1], flags=re.MULTILINE)
SECTIONS = {text.split("\n")[0]: text for text in SECTIONS}
ANOTHER = re.compile(r"[Aa]s `(\w+)`")

IN_JSON = {
    "text": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "true, false": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "list": lambda value: isinstance(value, list),
    "record": lambda value: isinstance(value, dict),
    "table": lambda value: isinstance(value, dict),
}
ON_RECORD = IN_JSON | {
    "text": lambda value: isinstance(value, str | Sentence),
    "record": dataclasses.is_dataclass,
    "table": lambda value: isinstance(value, Mapping),
}
EVERY = "Every report"
SEVERAL = "Reports of these over several actions of an armature, beside what every report has"
OF_COMMAND = {"provenance", "incomplete", "dry_run"}


def tables_in(text):
    """Rows of each table, `(name, type)` with no type for a name that is only listed, by the heading above the table."""
    head, found = "", {}
    for line in text.splitlines():
        heading = re.fullmatch(r"(?:Each entry of )?`(\w+)`:|((?:Every r|R)eports? ?.*):", line)
        row = re.match(r"\| `(\w+)` \| ([^|]+) \|", line)
        if heading:
            head = heading[1] or heading[2]
        elif row:
            found.setdefault(head, {})[row[1]] = row[2].strip()
        elif re.fullmatch(r"(And )?(`\w+`(, )?)+\.", line):
            found.setdefault(head, {}).update(dict.fromkeys(re.findall(r"`(\w+)`", line), ""))
    return found


def tables_of(kind):
    """The tables about a kind: of what such reports have, of the kind that it is like, and its own."""
    text = SECTIONS[kind]
    whole = {
        name: words
        for head, rows in tables_in(COMMON).items()
        if head == EVERY or f"`{kind}`" in head
        for name, words in rows.items()
    }
    inner = {head: rows for head, rows in tables_in(COMMON).items() if " " not in head}
    for part in (*(SECTIONS[other] for other in ANOTHER.findall(text) if other in SECTIONS), text):
        for head, rows in tables_in(part).items():
            if head:
                inner[head] = rows
            else:
                whole |= rows
    return whole, inner


def of(thing, name):
    return thing.get(name, KeyError) if isinstance(thing, dict) else getattr(thing, name, KeyError)


def faults(thing, rows, types, where):
    for name, words in rows.items():
        value = of(thing, name)
        if value is KeyError:
            yield f"{where} has no {name}"
        elif words and not any(types[word](value) for word in words.split(" or ")):
            yield f"{where}.{name} is no {words} but {value!r}"


def inside(thing, heads, where=""):
    """Every record below a field that has a table of its own, with the name of that field."""
    names = thing if isinstance(thing, dict) else [entry.name for entry in dataclasses.fields(thing)]
    for name in names:
        value = of(thing, name)
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict) or is_record(part):
                if name in heads:
                    yield name, part, f"{where}.{name}"
                yield from inside(part, heads, f"{where}.{name}")


def is_record(thing):
    return dataclasses.is_dataclass(thing) and type(thing) is not Sentence


def apart(record, document, where="report"):
    """Where a record and its JSON say different things."""
    if isinstance(document, dict):
        for name, value in document.items():
            on_record = of(record, name)
            if on_record is KeyError:
                yield f"{where}.{name} is not on the record"
            else:
                yield from apart(on_record, value, f"{where}.{name}")
    elif isinstance(document, list):
        if len(record) != len(document):
            yield f"{where}: {record} and {document}"
        for number, value in enumerate(document):
            yield from apart(record[number], value, f"{where}[{number}]")
    elif (str(record) if isinstance(record, Sentence) else record) != document:
        yield f"{where}: {record!r} and {document!r}"


def faults_of(report, kind, types):
    """What of a report is not as the page says; where `chains` have no table of their own, they have the rows of the whole."""
    whole, inner = tables_of(kind)
    found = list(faults(report, whole, types, kind))
    if "chains" not in inner and isinstance(of(report, "chains"), list):
        common = tables_in(COMMON)[EVERY].keys() - {"sentence", "notes"}
        of_each = {name: words for name, words in whole.items() if name not in {*common, "chains", "skipped"}}
        for number, chain in enumerate(of(report, "chains")):
            found += faults(chain, of_each, types, f"{kind}.chains[{number}]")
    for name, part, where in inside(report, inner.keys() | {"clips"}):
        if name == "clips":
            found += faults_of(part, kind, types)
        else:
            found += faults(part, inner[name], types, where)
    return found


def told_of(document, kind):
    """Names at the top of a document that the page does not have."""
    several = {*tables_in(COMMON)[SEVERAL], *tables_in(COMMON)[EVERY]}
    return sorted(document.keys() - (several if "clips" in document else tables_of(kind)[0].keys()) - OF_COMMAND)


@pytest.fixture(scope="module")
def bench(registered_addon, tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("report page"))


def of_function(task, **given):
    """The record that the task's function returns."""
    usual = {"scope": "SCENE"} if task.name == "bake_all" else {}
    return getattr(twobone_addon, task.name)(**{**usual, **task.call, **given})


each_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)


@each_task
def test_a_report_is_what_the_page_says_on_the_record_and_in_the_json(bench, task):
    bench.open(task)
    record = of_function(task)
    document = json.loads(record.to_json())
    kind = document["kind"]
    assert faults_of(record, kind, ON_RECORD) == []
    assert faults_of(document, kind, IN_JSON) == []
    assert list(apart(record, document)) == []
    assert told_of(document, kind) == []
    assert document["sentence"] == record.sentence == f"{record.sentence:s}"
    assert document["notes"] == [f"{note}" for note in record.notes] == [str(note) for note in record.notes]


@pytest.mark.parametrize("task", [task for task in TASKS if task.command], ids=lambda task: task.name)
def test_so_is_what_the_command_writes(bench, task):
    bench.open(task)
    ended = command(task, {}, bench.folder)
    assert ended.done, ended.said
    assert faults_of(ended.report, ended.report["kind"], IN_JSON) == []
    added = tables_in(COMMON)
    assert list(faults(ended.report["provenance"], added["provenance"], IN_JSON, "provenance")) == []
    assert told_of(ended.report, ended.report["kind"]) == []


@pytest.mark.parametrize("words, kind", [(["bake", "--stored", "--dry-run"], "dry_run"), (["report", "--stored"], "inspect")])
def test_so_is_what_commands_without_a_task_write(bench, words, kind):
    bench.open(next(task for task in TASKS if task.name == "bake"))
    path = bench.folder / "report.json"
    assert main([*words, "--report", str(path)]) == 0
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["kind"] == kind
    assert faults_of(document, kind, IN_JSON) == []
    assert told_of(document, kind) == []


ALL_IN_ONE = [task for task in TASKS if task.name in {found.table.operator for found in all_tasks() if found.has_clips}]


@pytest.mark.parametrize("task", ALL_IN_ONE, ids=lambda task: task.name)
def test_so_are_those_over_several_actions(bench, task):
    bench.open(task)
    add_action()
    record = of_function(task, actions="First;Second")
    document = json.loads(record.to_json())
    rows = tables_in(COMMON)[SEVERAL]
    assert [*faults(record, rows, ON_RECORD, "clips"), *faults(document, rows, IN_JSON, "clips")] == []
    for clip, told in zip(record.clips, document["clips"], strict=True):
        assert faults_of(clip, told["kind"], ON_RECORD) == faults_of(told, told["kind"], IN_JSON) == []
        assert (clip.action, clip.verdict) == (told["action"], told["verdict"])
    assert list(apart(record, document)) == []
    assert told_of(document, document["kind"]) == []


TOGETHER = [task for task in TASKS if task.name in {"bake", "convert_ik", "bake_target", "switch"}]


@pytest.mark.parametrize("task", TOGETHER, ids=lambda task: task.name)
def test_several_chains_together_have_the_names_and_types_of_one(bench, task):
    bench.open(task)
    one = of_function(task)
    names = {name: getattr(one, name) for name in ("kind", "seconds", "refused")}
    record = together(type(one), [one.chains[0], replace(one.chains[0], armature="Other", keys=5)], **names)
    document = json.loads(record.to_json())
    assert faults_of(record, one.kind, ON_RECORD) == faults_of(document, one.kind, IN_JSON) == []
    assert list(apart(record, document)) == []
    assert (record.keys, record.armature, record.upper) == (one.keys + 5, "", one.upper)
    assert (record.frame_start, record.frame_end) == (one.frame_start, one.frame_end)
