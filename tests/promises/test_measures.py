"""Each word for what is measured has one definition, and the numbers that are said are those of the report."""

import re
from typing import get_args

import bpy
import pytest

import twobone_addon
from tests.promises.promises import Bench
from tests.promises.tasks_under_test import TASKS
from tools import make_docs
from tools.make_docs import records_in
from twobone_addon.desk.measures import MEASURES
from twobone_addon.desk.shapes import kinds
from twobone_addon.pipeline.report.form import told_types
from twobone_addon.pipeline.report.units import digits, units_of

# Numbers with a fraction that no task measures: when, where from, and what was asked for.
NOT_MEASURED = {
    "frame", "frame_start", "frame_end", "first", "last", "worst_frame", "ranges", "out_of_reach", "out_of_reach_before", "left",
    "values", "offset", "before", "after", "height", "ground_height", "ground_velocity", "floor", "ankle_height", "length",
    "lengths", "confidence", "seconds",
}  # fmt: skip
OF_ANOTHER = {
    "foot_skate_from_height",
    "foot_skate_from_contacts",
    "foot_skate_max_speed",
    "foot_skate_ratio",
    "foot_contact_consistency",
}
"""Measures by others' definitions, which the page about audits names."""


def is_fraction(hint):
    return hint is float or any(is_fraction(part) for part in get_args(hint))


def measured_in(record, owner=""):
    """Names of the fields with fractions in a record and in those inside, each with the field that it is in."""
    for name, hint in told_types(record).items():
        if is_fraction(hint) and name not in NOT_MEASURED | OF_ANOTHER and not name.endswith("_frame"):
            yield f"{owner}.{name}"
        for inner in records_in(hint):
            yield from measured_in(inner, name)


def words_of(kind, field):
    """The words whose definition is of a field, a name with its owner before one without."""
    owned = [measure.word for measure in MEASURES if kind in measure.kinds and field in measure.fields]
    name = field.rpartition(".")[2]
    return owned or [measure.word for measure in MEASURES if kind in measure.kinds and name in measure.fields]


@pytest.mark.parametrize("kind", [kind for kind in kinds() if kind != "dry_run"])
def test_every_measured_field_has_one_word(kind):
    fields = set(measured_in(kinds()[kind]))
    assert {field: words for field in fields if len(words := words_of(kind, field)) != 1} == {}


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: f"{measure.word} at {measure.frames}")
def test_a_word_has_its_fields_in_every_report_that_it_names(measure):
    fields = [
        {name for field in measured_in(kinds()[kind]) for name in (field, field.rpartition(".")[2])} for kind in measure.kinds
    ]
    assert set(measure.fields) <= set().union(*fields)
    assert all(names & set(measure.fields) for names in fields)


def test_a_word_means_one_thing():
    """One formula and one unit where it stands for one kind of report; what differs has a name of its own."""
    assert len({(measure.word, kind, measure.frames) for measure in MEASURES for kind in measure.kinds}) == sum(
        len(measure.kinds) for measure in MEASURES
    )
    assert {"slide", "slide a contact"} == {
        measure.word for measure in MEASURES if any("slide" in name for name in measure.fields)
    }


def test_the_glossary_is_made_from_the_present_measures():
    assert make_docs.glossary_page() == make_docs.GLOSSARY.read_text(encoding="utf-8"), "run: python tools/make_docs.py"


def numbers_of(document, name=""):
    """All numbers of a report, and those in its texts but for sentences and notes."""
    if isinstance(document, bool) or document is None:
        return
    if isinstance(document, dict):
        for key, value in document.items():
            if key not in {"sentence", "notes", "reasons", "seconds", "version"}:
                yield from numbers_of(value, key)
    elif isinstance(document, list):
        yield len(document)
        for value in document:
            yield from numbers_of(value, name)
    elif isinstance(document, str):
        yield from map(float, re.findall(r"\d+(?:\.\d+)?", document))
    else:
        yield float(document)


def said_forms(number, units):
    """How a number of a report is written in a sentence."""
    in_percent, in_degrees = 100.0 * abs(number), abs(number) * 57.29577951308232
    texts = [f"{abs(number):.7g}", f"{number:.2f}", digits(abs(number)), units.text(abs(number)).split()[0]]
    texts += [
        f"{in_percent:.0f}",
        f"{in_percent:.1f}",
        digits(in_percent),
        f"{in_percent - 100.0:.2g}",
        f"{in_degrees:.0f}",
        f"{abs(number):.0f}",
    ]
    return texts


def in_the_scenes_units(document):
    """Measures of limbs in limb lengths times the length of a limb."""
    names = {name for measure in MEASURES if "limb lengths" in measure.unit for name in measure.fields}
    limbs = [limb for limb in of_list(document.get("chains")) if "length" in limb]
    for record in [document, *limbs]:
        for name in names & record.keys():
            yield from (record[name] * limb["length"] for limb in limbs if record[name] is not None)


def of_list(value):
    return value if isinstance(value, list) else []


@pytest.fixture(scope="module")
def bench(registered_addon, tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("measures"))


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_numbers_of_a_sentence_are_those_of_its_report(bench, task):
    """But for names, and for the limit below which nothing is seen, which is said as `< 0.1 mm`."""
    bench.open(task)
    bpy.context.scene.unit_settings.system = "METRIC"
    usual = {"scope": "SCENE"} if task.name == "bake_all" else {}
    report = getattr(twobone_addon, task.name)(**{**usual, **task.call})
    units = units_of(bpy.context.scene)
    document = report.to_dict()
    numbers = [*numbers_of(document), *in_the_scenes_units(document)]
    known = {text for number in numbers for text in said_forms(number, units)}
    text = re.sub(r"< \d+(\.\d+)? \w+", "", "\n".join(report.lines()))
    said = re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w])", text)
    assert [number for number in said if number not in known] == []
