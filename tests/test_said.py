"""Sentences: values are inserted at the end, in the language of whoever reads, and names stay what they are."""

import copy

import numpy as np
import pytest

from twobone_addon.errors import ChainError, TwoBoneError
from twobone_addon.said import Sentence, joined, note

GERMAN = {
    'Armature "{armature}" has no bone "{bone}".': "Armatur „{armature}“ hat keinen Knochen „{bone}“.",
    "{role} is {value:g}.": "{role} ist {value:g}.",
    "Softness": "Weichheit",
    'Chain "{chain}": {reason}': "Kette „{chain}“: {reason}",
    "before {later}, not after {earlier}": "nicht nach {earlier}, vor {later}",
}


def in_german(text):
    return GERMAN.get(text, text)


def test_values_go_into_the_text():
    said = Sentence('Armature "{armature}" has no bone "{bone}".', {"armature": "Rig", "bone": "a.L"})
    assert said.text() == 'Armature "Rig" has no bone "a.L".'
    assert said.text(in_german) == "Armatur „Rig“ hat keinen Knochen „a.L“."


@pytest.mark.parametrize(
    "frame, text", [(1048574.0, "1048574"), (3e6, "3000000"), (12.5, "12.5"), (float(np.float32(0.1)), "0.1"), (-1, "-1")]
)
def test_frames_are_written_out(frame, text):
    assert note("Frame {frame:g}.", frame=frame).text() == f"Frame {text}."


def test_a_translation_may_change_the_order():
    said = note("before {later}, not after {earlier}", later=20, earlier=1)
    assert said.text(in_german) == "nicht nach 1, vor 20"


def test_a_name_is_never_translated_but_a_sentence_inside_one_is():
    said = Sentence("{role} is {value:g}.", {"role": Sentence("Softness"), "value": 2.0})
    assert said.text(in_german) == "Weichheit ist 2."
    named = Sentence('Armature "{armature}" has no bone "{bone}".', {"armature": "Softness", "bone": "Softness"})
    assert named.text(in_german) == "Armatur „Softness“ hat keinen Knochen „Softness“."


def test_sentences_are_translated_at_any_depth():
    inner = Sentence("{role} is {value:g}.", {"role": Sentence("Softness"), "value": 2})
    outer = Sentence('Chain "{chain}": {reason}', {"chain": "leg", "reason": inner})
    assert outer.text(in_german) == "Kette „leg“: Weichheit ist 2."
    assert joined([inner, inner], "; ").text(in_german) == "Weichheit ist 2.; Weichheit ist 2."


@pytest.mark.parametrize("name", ["{0}", "{bone}", "}", "{{"])
def test_braces_in_names_stay(name):
    said = Sentence('Chain "{chain}": {reason}', {"chain": name, "reason": "x"})
    assert said.text() == f'Chain "{name}": x'
    assert Sentence(name).text() == name


def test_what_is_not_translated_is_said_in_english():
    assert Sentence("Bone {bone}.", {"bone": "a"}).text(in_german) == "Bone a."
    assert Sentence("").text(in_german) == ""


def test_json_keeps_enough_to_translate_later():
    inner = Sentence("{role} is {value:g}.", {"role": Sentence("Softness"), "value": 2})
    outer = Sentence('Chain "{chain}": {reason}', {"chain": "leg", "reason": inner})
    assert Sentence.from_dict(outer.to_dict()).text(in_german) == outer.text(in_german)


def test_the_same_sentence_twice_is_one():
    one, other = note("Bone {bone}.", bone="a"), note("Bone {bone}.", bone="a")
    assert len({one, other, note("Bone {bone}.", bone="b")}) == 2


def test_an_error_holds_a_sentence_and_is_english_as_text():
    error = ChainError('Armature "{armature}" has no bone "{bone}".', armature="Rig", bone="a{0}")
    assert str(error) == 'Armature "Rig" has no bone "a{0}".'
    assert error.sentence.text(in_german) == "Armatur „Rig“ hat keinen Knochen „a{0}“."
    assert str(TwoBoneError("50 % of {nothing}.")) == "50 % of {nothing}."


def test_a_copied_error_says_the_same():
    error = copy.copy(ChainError("Bone {bone}.", bone="a"))
    assert (type(error), str(error)) == (ChainError, "Bone a.")


@pytest.mark.parametrize("template", ["{a:>2000000000}", "{a.__class__}", "{b}", "{a[0]}", "{a!x}", "{", "{a:{a}}"])
def test_a_stored_sentence_that_cannot_be_filled_in_is_shown_as_it_is(template):
    assert Sentence.from_dict({"template": template, "values": {"a": "x"}}).text() == template


def test_a_sentence_in_a_note_is_as_grave_as_the_note():
    reason = Sentence("Bone {bone} is locked.", {"bone": Sentence("upper")})
    said = note("{action}: {reason}", action="Run", reason=reason)
    assert (reason.level, said.level) == ("REFUSED", "WARN")
    assert said.values["reason"].level == "WARN"
    assert said.values["reason"].values["bone"].level == "WARN"
    assert said.text() == "Run: Bone upper is locked."
    assert joined([said]).text() == said.text()
