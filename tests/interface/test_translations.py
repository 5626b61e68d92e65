"""Every text that people see is there in every language, and nothing else is."""

import re

import pytest

from tests.interface.shown_texts import shown_texts
from twobone_addon.interface import translating

LANGUAGES = {"de_DE", "es", "fr_FR", "ja_JP", "zh_HANS"}
PLACE = re.compile(r"\{\w+\}")


def test_all_languages_are_there():
    assert set(translating.translations()) == LANGUAGES


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_a_language_has_exactly_what_is_shown(empty_file, language):
    translated = {english for _, english in translating.translations()[language]}
    assert shown_texts() - translated == set(), "these are shown but not translated"
    assert translated - shown_texts() == set(), "these are translated but not shown any more"


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_a_translation_keeps_the_places_for_numbers_and_ends_as_the_original(language):
    for (_, english), text in translating.translations()[language].items():
        assert text.strip()
        assert PLACE.findall(text) == PLACE.findall(english)
        assert text.endswith((".", "。")) == english.endswith("."), english
