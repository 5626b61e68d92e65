"""Translations of labels and tooltips. What has none yet is shown in English."""

import re

import pytest

from twobone_addon.interface import translating

LANGUAGES = {"de_DE", "es", "fr_FR", "ja_JP", "zh_HANS"}
PLACE = re.compile(r"\{\w+\}")


def test_all_languages_are_there():
    assert set(translating.translations()) == set(translating.sentences()) == LANGUAGES


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_a_translation_keeps_the_places_for_numbers_and_ends_as_the_original(language):
    for (_, english), text in translating.translations()[language].items():
        assert text.strip()
        assert set(PLACE.findall(text)) == set(PLACE.findall(english)), english
        assert text.endswith((".", "。")) == english.endswith("."), english
