"""Sentences with values, such as why a bake is refused, in the language that is spoken.

They are made in English, far from any interface. Here one is recognised by its template in `translations/sentences/`, and put
together again from the template's translation and its values.
"""

import json
import re
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path

from bpy.app.translations import pgettext_rpt

FOLDER = Path(__file__).with_name("translations") / "sentences"
"""One file per language: template, with `{0}` and so on for its values, to its translation."""

GAP = re.compile(r"\{(\d)\}")

MANY_SENTENCES = 512
"""So many are remembered with their templates, for panels draw the same ones again and again."""


def in_language(sentence: str, translate: Callable[[str], str] = pgettext_rpt) -> str:
    """The sentence in the language of the interface; as it is where nobody has translated it.

    What stands in quotes in it is a name, and stays.
    """
    found = _recognised(sentence)
    if found is None:
        return translate(sentence) if sentence else ""
    template, values = found
    translated = translate(template)
    if translated == template:
        return sentence
    said = [value if f'"{{{number}' in template else in_language(value, translate) for number, value in enumerate(values)]
    return translated.format(*said)


@lru_cache(MANY_SENTENCES)
def _recognised(sentence: str) -> tuple[str, tuple[str, ...]] | None:
    """The template of a sentence, and what stands in its gaps; of several the one that says most itself."""
    matches = ((template, pattern.fullmatch(sentence)) for template, pattern in _patterns())
    return next(((template, match.groups()) for template, match in matches if match), None)


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """All templates with what their sentences look like, those with most text of their own first."""
    templates = json.loads(next(FOLDER.glob("*.json")).read_text(encoding="utf-8"))
    ordered = sorted(templates, key=lambda template: -len(GAP.sub("", template)))
    return [(template, re.compile("(.*?)".join(map(re.escape, GAP.split(template)[::2])), re.DOTALL)) for template in ordered]
