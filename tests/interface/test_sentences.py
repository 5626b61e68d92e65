"""What errors and reports say, in the language of the interface: templates with their values, and names left alone."""

import json
import string

import pytest

from tests.tasks.scenes import LEG, Limb, build_armature, refusal
from twobone_addon.interface import refusing, translating
from twobone_addon.pipeline.report.reports import statement
from twobone_addon.said import Sentence, note

TABLES = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in translating.SENTENCES.glob("*.json")}
WORDS = json.loads((translating.FOLDER / "de_DE.json").read_text(encoding="utf-8"))


def places(text):
    """Names and formats of what a text inserts."""
    return {(name, form) for _, name, form, _ in string.Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", sorted(TABLES))
def test_a_translation_inserts_what_the_english_inserts_and_ends_like_it(language):
    for english, text in TABLES[language].items():
        assert text.strip()
        assert places(text) <= places(english), english
        assert text.endswith((".", "。")) == english.endswith("."), english


def in_german(text):
    return {**WORDS, **TABLES["de_DE"]}.get(text, text)


@pytest.mark.parametrize(
    "sentence, german",
    [
        (note('Bone "{bone}" is not in armature "{armature}". Choose one of its bones.', bone="a.L", armature="Rig"),
         "Knochen „a.L“ ist nicht in Armatur „Rig“. Einen ihrer Knochen wählen."),
        (note("{option} is {value:g}. Use a number of at most {maximum:g}.", option=Sentence("Softness"), value=2.0, maximum=1.0),
         "Weichheit ist 2. Eine Zahl von höchstens 1 verwenden."),
        # A name is not translated, even if it is a word of ours.
        (note('{role} "{object}" is not in this file. Choose an object of this file.', role=Sentence("Target"), object="target"),
         "Ziel „target“ ist nicht in dieser Datei. Ein Objekt dieser Datei wählen."),
        (note('Chain "{chain}" of "{armature}": {reason}', chain="leg", armature="Rig", reason=note(
            "No {role} is chosen. Choose an object, such as an empty.", role=Sentence("target"))),
         "Kette „leg“ von „Rig“: Nichts gewählt (Ziel). Ein Objekt wählen, etwa ein Empty."),
        (statement("SOME_ON_TARGET", {"part": "foot", "count": 3, "frames": 8}), "foot in 3 von 8 Frames auf dem Ziel"),
        # Braces in names are nobody's places.
        (note("Curve {curve} is locked. Unlock it in the Graph Editor first.", curve='pose.bones["{0}"].scale'),
         'Kurve pose.bones["{0}"].scale ist gesperrt. Sie zuerst im Graph-Editor entsperren.'),
        (Sentence("Something nobody has translated."), "Something nobody has translated."),
        (Sentence(""), ""),
    ],
)  # fmt: skip
def test_a_sentence_is_said_in_german_with_its_own_values(sentence, german):
    assert sentence.text(in_german) == german


def test_a_refused_bake_says_why_in_the_language_of_the_interface(empty_file, monkeypatch):
    monkeypatch.setattr(refusing, "pgettext_rpt", in_german)
    limb = Limb(build_armature(LEG).name, upper="nobody")
    told = refusal(limb, target="Rig")
    assert told == f"Oberer Knochen „nobody“ ist nicht in Armatur „{limb.armature}“. Einen ihrer Knochen wählen."
