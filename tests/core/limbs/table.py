"""Reads the characters of table.txt."""

from pathlib import Path

from tests.core.limbs.builder import Builder

INDENT = 2


def read_table():
    """By name: the skeleton, and its limbs as `{(kind, side, upper, lower, tip)}`."""
    characters = {}
    text = (Path(__file__).parent / "table.txt").read_text(encoding="utf-8")
    for block in text.split("\n== ")[1:]:
        title, *lines = block.rstrip().split("\n")
        _, *marks = lines[0].split()
        cut = lines.index("limbs")
        bones = _bones(lines[1:cut], marks)
        characters[title.partition(":")[0]] = bones, set(_limbs(lines[cut + 1 :], marks))
    return characters


def _bones(lines, marks):
    builder, above = Builder(), []
    for line in lines:
        depth = (len(line) - len(line.lstrip())) // INDENT
        head, _, tail = line.partition(">")
        name, *place = head.split()
        head, tail = tuple(map(float, place)), tuple(map(float, tail.split()))
        del above[depth:]
        for mark, sign in zip(marks, (1.0, -1.0), strict=True) if "*" in name else (("", 1.0),):
            parent = above[-1].replace("*", mark) if above else ""
            own_tail = (sign * tail[0], *tail[1:]) if tail else None
            builder.bone(name.replace("*", mark), parent, (sign * head[0], *head[1:]), own_tail)
        above.append(name)
    return builder.skeleton()


def _limbs(lines, marks):
    for kind, *words in (line.split() for line in lines):
        sides = [(words.pop(0), "")] if words[0] in {"LEFT", "RIGHT"} else zip(("LEFT", "RIGHT"), marks, strict=True)
        upper, lower, tip = words
        for side, mark in sides:
            names = [name.replace("*", mark) for name in (upper, lower, lower if tip == "tail" else tip)]
            yield (kind, side, *names)
