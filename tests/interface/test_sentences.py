"""Sentences with values are said in one language: what refuses a bake, and what its report notes."""

import json
import re
import string

import pytest

from tests.baking.scenes import LEG, Limb, build_armature, refusal
from twobone_addon.interface import refusing
from twobone_addon.interface.sentences import FOLDER, in_language
from twobone_addon.interface.translating import sentences

GAP = re.compile(r"\{\d\}")
TABLES = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.json")}


def test_all_languages_say_the_same_sentences():
    assert set(TABLES) == {"de_DE", "es", "fr_FR", "ja_JP", "zh_HANS"}
    assert len({tuple(sorted(table)) for table in TABLES.values()}) == 1
    assert sentences().keys() == TABLES.keys()


@pytest.mark.parametrize("language", sorted(TABLES))
def test_a_sentence_inserts_only_what_there_is_and_ends_as_the_original(language):
    for english, text in TABLES[language].items():
        assert text.strip()
        assert set(GAP.findall(text)) <= set(GAP.findall(english)), english
        assert text.endswith((".", "。")) == english.endswith("."), english
        list(string.Formatter().parse(text))  # no stray brace


def in_german(text):
    return {**TABLES["de_DE"], "Softness": "Weichheit", "target": "Ziel"}.get(text, text)


@pytest.mark.parametrize(
    "sentence, german",
    [
        ('Bone "a.L" is not in armature "Rig". Choose one of its bones.',
         "Knochen „a.L“ ist nicht in Armatur „Rig“. Einen ihrer Knochen wählen."),
        ("Softness is 2. Use a number of at most 1.", "Weichheit ist 2. Eine Zahl von höchstens 1 verwenden."),
        # A name is not translated, even if it is a word of ours.
        ('Target "target" is not in this file. Choose an object of this file.',
         "Target „target“ ist nicht in dieser Datei. Ein Objekt dieser Datei wählen."),
        ('Chain "leg" of "Rig": No target is chosen. Choose an object, such as an empty.',
         "Kette „leg“ von „Rig“: Nichts gewählt (Ziel). Ein Objekt wählen, etwa ein Empty."),
        ('Object "Ankle": Curve location[0] is locked. Unlock it in the Graph Editor first.',
         "Objekt „Ankle“: Kurve location[0] ist gesperrt. Sie zuerst im Graph-Editor entsperren."),
        # Braces in names are nobody's gaps.
        ('Curve pose.bones["{0}"].scale is locked. Unlock it in the Graph Editor first.',
         'Kurve pose.bones["{0}"].scale ist gesperrt. Sie zuerst im Graph-Editor entsperren.'),
        ("Something nobody has translated.", "Something nobody has translated."),
        ("", ""),
    ],
)  # fmt: skip
def test_a_sentence_is_put_together_in_the_language_with_its_own_values(sentence, german):
    assert in_language(sentence, in_german) == german


def test_english_sentences_stay_as_they_are():
    for english in TABLES["es"]:
        sentence = GAP.sub("x y", english)
        assert in_language(sentence, lambda text: text) == sentence


def test_a_refused_bake_says_why_in_the_language_of_the_interface(empty_file, monkeypatch):
    monkeypatch.setattr(refusing, "in_language", lambda sentence: in_language(sentence, in_german))
    limb = Limb(build_armature(LEG).name, upper="nobody")
    told = refusal(limb, target="Rig")
    assert told == f"Oberer Knochen „nobody“ ist nicht in Armatur „{limb.armature}“. Einen ihrer Knochen wählen."
