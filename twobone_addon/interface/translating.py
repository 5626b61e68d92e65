"""What the interface says in other languages: one file per language in `translations`, English text to its translation."""

import json
from pathlib import Path

import bpy

from .stored.option_properties import CONTEXT

FOLDER = Path(__file__).with_name("translations")

SENTENCES = FOLDER / "sentences"
"""Likewise, of what errors and reports say: template to its translation."""

OF_SENTENCES = f"{__name__}.sentences"

CONTEXTS = ("*", "Operator", CONTEXT)
"""Where Blender looks: tooltips and plain texts, operators' names, and our own words."""


def translations() -> dict[str, dict[tuple[str, str], str]]:
    """By language, what Blender's translation system takes."""
    return {path.stem: _with_contexts(path) for path in sorted(FOLDER.glob("*.json"))}


def sentences() -> dict[str, dict[tuple[str, str], str]]:
    """The same of the templates of sentences"""
    read = ((path.stem, json.loads(path.read_text(encoding="utf-8"))) for path in sorted(SENTENCES.glob("*.json")))
    return {language: {("*", english): text for english, text in texts.items()} for language, texts in read}


def _with_contexts(path: Path) -> dict[tuple[str, str], str]:
    texts = json.loads(path.read_text(encoding="utf-8"))
    return {(context, english): text for english, text in texts.items() for context in CONTEXTS}


def register() -> None:
    """Give Blender all languages; it shows the one that the user has chosen."""
    bpy.app.translations.register(__name__, translations())
    bpy.app.translations.register(OF_SENTENCES, sentences())


def unregister() -> None:
    """Take them away again."""
    bpy.app.translations.unregister(OF_SENTENCES)
    bpy.app.translations.unregister(__name__)
