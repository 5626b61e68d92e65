"""A sentence before it is put into words: what it says, with which values, and how much it matters.

Errors raise one, reports hold some. They become text only where someone reads them: in Blender's language in the interface, in
English on the command line and in JSON. So nothing has to recognise a text again to translate it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, Union

Translate: TypeAlias = Callable[[str], str]
"""From an English text, with `{names}` where values go, to the same in another language."""

Value: TypeAlias = Union[str, float, "Sentence"]
"""What a sentence can insert. A `str` is a name or a formatted number and stays; what has to be translated is a `Sentence`."""

INFO, WARN, REFUSED = "INFO", "WARN", "REFUSED"
"""How much a sentence matters: it counts or explains; a person should look at it; nothing was done."""


def in_english(text: str) -> str:
    """Leave a text as it is."""
    return text


@dataclass(frozen=True, slots=True)
class Sentence:
    """Something to say. Two with the same parts are equal, so that repeated ones can be said once."""

    template: str
    """In English, with `{names}` where values go, formatted if need be: `{frame:g}`. Its translations have the same names."""
    values: Mapping[str, Value] = field(default_factory=dict)
    """By name. Without values the template is said as it is, braces included."""
    frames: tuple[tuple[float, float], ...] = ()
    """`(first, last)` ranges of scene frames that it is about; empty if it is about all."""
    level: str = REFUSED
    """`INFO`, `WARN` or `REFUSED`."""
    kind: str = ""
    """A code by which scripts recognise it in a report; empty if they have no need to."""

    def __hash__(self) -> int:
        return hash((self.template, *sorted(self.values)))

    def text(self, translate: Translate = in_english) -> str:
        """In words. Values that are sentences are translated as well."""
        template = translate(self.template) if self.template else ""
        return template.format(**_in_words(self.values, translate)) if self.values else template

    def to_dict(self) -> dict[str, object]:
        """What JSON keeps of it, enough to say it in any language later; see `from_dict`."""
        values = {name: value.to_dict() if isinstance(value, Sentence) else value for name, value in self.values.items()}
        return {"template": self.template, "values": values}

    @classmethod
    def from_dict(cls, data: Mapping) -> Sentence:
        """A sentence out of what `to_dict` gives; frames, level and kind are not in it."""
        values = {name: cls.from_dict(value) if isinstance(value, Mapping) else value for name, value in data["values"].items()}
        return cls(data["template"], values)


SENTENCE_FIELDS = {"template", "values", "frames", "level", "kind"}


def _in_words(values: Mapping[str, Value], translate: Translate) -> dict[str, str | float]:
    return {name: value.text(translate) if isinstance(value, Sentence) else value for name, value in values.items()}


def as_json(fields: list[tuple[str, Any]]) -> Any:
    """For `asdict(record, dict_factory=as_json)`: sentences as JSON has them, in English, or as kind and values."""
    data = dict(fields)
    if data.keys() != SENTENCE_FIELDS:
        return data
    if data["kind"]:
        return {"kind": data["kind"], "values": data["values"], "ranges": [list(part) for part in data["frames"]]}
    return Sentence(data["template"], data["values"]).text()


def note(template: str, /, **values: Value) -> Sentence:
    """A sentence of a report that a person should read."""
    return Sentence(template, values, level=WARN)


def joined(sentences: Iterable[Sentence], between: str = " ") -> Sentence:
    """One sentence out of several."""
    parts = {f"part_{number}": sentence for number, sentence in enumerate(sentences)}
    return Sentence(between.join(f"{{{name}}}" for name in parts), parts)
