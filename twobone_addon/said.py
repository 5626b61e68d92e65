"""Translatable sentences as data: template, values, frames and level.

Errors carry one, reports contain several. They are formatted only where someone reads them: in Blender's language in the
interface, in English on the command line and in JSON. So no text has to be recognised again to be translated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import Any, ClassVar, TypeAlias, Union

Translate: TypeAlias = Callable[[str], str]
"""Function from an English template, with `{names}` for values, to its translation."""

Value: TypeAlias = Union[str, float, "Sentence"]
"""A value of a sentence. A `str` is a name or a formatted number and is not translated; a `Sentence` is."""

INFO, WARN, REFUSED = "INFO", "WARN", "REFUSED"
"""Levels of a sentence: a count or explanation; something a person should check; nothing was done."""


def in_english(text: str) -> str:
    """Return a template unchanged: the translation to English."""
    return text


@dataclass(frozen=True, slots=True)
class Sentence:
    """A translatable sentence. Sentences with equal fields are equal, so that repeated ones can be shown once."""

    template: str
    """English text with `{names}` for values, formatted if needed: `{frame:g}`. Translations use the same names."""
    values: Mapping[str, Value] = field(default_factory=dict)
    """Numbers, names and sentences in it, by name. Without any the template is used verbatim, braces included."""
    frames: tuple[tuple[float, float], ...] = ()
    """`(first, last)` ranges of scene frames that it concerns; empty if it concerns all."""
    level: str = REFUSED
    """`INFO`, `WARN` or `REFUSED`."""
    kind: str = ""
    """Code by which scripts recognise it in a report; empty if not needed."""

    def __post_init__(self) -> None:
        """Give sentences in it its own level: what is read as one sentence is as grave as one."""
        nested = {name: value for name, value in self.values.items() if isinstance(value, Sentence) and value.level != self.level}
        if nested:
            levelled = {
                name: Sentence(value.template, value.values, value.frames, self.level, value.kind)
                for name, value in nested.items()
            }
            object.__setattr__(self, "values", {**self.values, **levelled})

    def __hash__(self) -> int:
        return hash((self.template, *sorted(self.values)))

    def __str__(self) -> str:
        return self.text()

    def __format__(self, spec: str) -> str:
        return format(self.text(), spec)

    def text(self, translate: Translate = in_english) -> str:
        """Translate and format the sentence, including values that are sentences."""
        template = translate(self.template) if self.template else ""
        return _TEMPLATES.vformat(template, (), _formatted_values(self.values, translate)) if self.values else template

    def to_dict(self) -> dict[str, object]:
        """JSON form with template and values, enough to translate it later; see `from_dict`."""
        values = {name: value.to_dict() if isinstance(value, Sentence) else value for name, value in self.values.items()}
        return {"template": self.template, "values": values}

    @classmethod
    def from_dict(cls, data: Mapping) -> Sentence:
        """Rebuild a sentence from `to_dict`, which omits frames, level and kind; one that cannot be filled in is shown as it is.

        Files come from others, and so do the reports stored in them.
        """
        values = {name: cls.from_dict(value) if isinstance(value, Mapping) else value for name, value in data["values"].items()}
        sentence = cls(data["template"], values)
        try:
            sentence.text()
        except (ValueError, LookupError, TypeError, AttributeError):
            return cls(str(data["template"])[:LETTERS])
        return sentence


class Statement(Sentence):
    """A sentence that scripts recognise: in a report it stands as `kind`, `values` and `ranges` rather than as text."""

    __slots__ = ()

    TELLS: ClassVar[tuple[str, ...]] = ("ranges",)
    UNTOLD: ClassVar[frozenset[str]] = frozenset({"template", "frames", "level"})

    @property
    def ranges(self) -> list[list[float]]:
        """`[first, last]` ranges of frames that it is about; empty if it is about all."""
        return [list(span) for span in self.frames]


LETTERS = 1000
"""Maximum number of characters that are shown of a stored sentence that cannot be filled in."""

SPEC = re.compile(r"[<>^]?\d{0,2},?(?:\.\d{1,2})?[a-z%]?")
"""Formats of values: small widths, since a template from a file may ask for gigabytes."""


class _Templates(Formatter):
    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        """Look a value up by its name; its attributes and items are nobody's business."""
        if not field_name.isidentifier():
            raise ValueError(field_name)
        return super().get_field(field_name, args, kwargs)

    def format_field(self, value: Any, format_spec: str) -> str:
        """Write `{frame:g}` without an exponent: frames have up to seven digits, as many as single precision keeps."""
        if not SPEC.fullmatch(format_spec):
            raise ValueError(format_spec)
        return super().format_field(value, ".7g" if format_spec == "g" else format_spec)


_TEMPLATES = _Templates()


def _formatted_values(values: Mapping[str, Value], translate: Translate) -> dict[str, str | float]:
    return {name: value.text(translate) if isinstance(value, Sentence) else value for name, value in values.items()}


def note(template: str, /, **values: Value) -> Sentence:
    """A sentence of level `WARN` for a report."""
    return Sentence(template, values, level=WARN)


def joined(sentences: Iterable[Sentence], between: str = " ") -> Sentence:
    """Join several sentences into one."""
    parts = {f"part_{number}": sentence for number, sentence in enumerate(sentences)}
    return Sentence(between.join(f"{{{name}}}" for name in parts), parts)
