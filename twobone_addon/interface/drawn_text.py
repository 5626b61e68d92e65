"""Texts as they are drawn: how wide, and wrapped into lines that fit a panel or a dialog."""

import re
from collections.abc import Callable

import blf
import bpy

BESIDE_TEXT, LEAST_ROOM = 92.0, 72.0
"""Pixels that icon, margins and tabs take beside a line of text, and those that a line gets anyway, at resolution scale 1."""

OPENING, CLOSING = (
    "\u300c\u300e\uff08\u3008\u300a\u3010\u201c",
    "\u3001\u3002\uff0c\uff0e\uff09\u300d\u300f\u3011\u3009\u300b\u201d\uff01\uff1f\uff1a\uff1b\u30fc\u2026",
)
"""Signs of Japanese and Chinese that do not end a line, and that do not begin one."""

WIDE = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
"""Characters of languages without spaces between words, as a range of a regular expression; a line may end after any."""

TOGETHER = re.compile(
    r"\(?(?:< )?\d[\d.]* (?:km|m|cm|mm|mi|ft|in|frames?|degrees)\b[^\s" + WIDE + r"]*[" + CLOSING + "]*"
    rf"|[{OPENING}]*[{WIDE}][{CLOSING}]*|[{OPENING}]*[^\s{WIDE}]+[{CLOSING}]*"
)
"""A unit of text that is not wrapped: a number with its unit, a character of a language without spaces, or a word."""


def wrapped(text: str, room: float, measure: Callable[[str], float]) -> list[str]:
    """Wrap a text into lines no wider than this; a longer word is broken.

    measure : returns the width of a text
    """
    lines, end = [""], 0
    for match in TOGETHER.finditer(text):
        between, word = " " if end and match.start() > end else "", match[0]
        end = match.end()
        if measure(lines[-1] + between + word) <= room or not lines[-1]:
            lines[-1] += between + word
        else:
            lines.append(word)
        while measure(lines[-1]) > room and len(lines[-1]) > 1:
            fits = max(sum(measure(lines[-1][:count]) <= room for count in range(1, len(lines[-1]))), 1)
            lines[-1:] = [lines[-1][:fits], lines[-1][fits:]]
    return lines


def lines_of(text: str, context: bpy.types.Context, width: float = 0.0) -> list[str]:
    """Wrap a text into lines that fit the region, or a dialog of this width in pixels."""
    scale = context.preferences.system.ui_scale or 1.0  # Blender in the background says 0.
    blf.size(0, bpy.context.preferences.ui_styles[0].widget.points * scale)
    room = max((width or context.region.width) - BESIDE_TEXT * scale, LEAST_ROOM * scale)
    return wrapped(text, room, lambda part: blf.dimensions(0, part)[0])
