"""Translations of the interface, read from one file per language in `translations` that maps English texts to translated ones."""

import json
from pathlib import Path

import bpy

from .stored.option_properties import CONTEXT

FOLDER = Path(__file__).with_name("translations")

SENTENCES = FOLDER / "sentences"
"""Folder with one file per language for the sentences of errors and reports, mapping templates to translations."""

OF_SENTENCES = f"{__name__}.sentences"

CONTEXTS = ("*", "Operator", CONTEXT)
"""Translation contexts under which Blender looks texts up: tooltips and plain texts, operator names, and our own."""


def translations() -> dict[str, dict[tuple[str, str], str]]:
    """Return the texts of the interface by language, in the form of `bpy.app.translations.register`."""
    return _texts(FOLDER, CONTEXTS)


def sentences() -> dict[str, dict[tuple[str, str], str]]:
    """Return the templates of sentences by language, in the form of `bpy.app.translations.register`."""
    return _texts(SENTENCES, CONTEXTS[:1])


def _texts(folder: Path, contexts: tuple[str, ...]) -> dict[str, dict[tuple[str, str], str]]:
    by_language = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}
    return {
        name: {(context, english): text for english, text in texts.items() for context in contexts}
        for name, texts in by_language.items()
    }


def register() -> None:
    """Register all languages with Blender, which shows the one chosen by the user."""
    bpy.app.translations.register(__name__, translations())
    bpy.app.translations.register(OF_SENTENCES, sentences())


def unregister() -> None:
    """Unregister all languages."""
    bpy.app.translations.unregister(OF_SENTENCES)
    bpy.app.translations.unregister(__name__)
