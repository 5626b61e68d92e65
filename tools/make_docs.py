"""Write the parts of the documentation that are made from the source: options, reports, messages and JSON Schemas.

A test fails if they are out of date.

python tools/make_docs.py
"""

import argparse
import ast
import inspect
import itertools
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.make_help import HELP, help_page  # noqa: E402, the checkout is on the path only now
from tools.make_stub import STUB, stub  # noqa: E402
from tools.message_notes import HEADINGS, NOTES  # noqa: E402, the checkout is on the path only now
from tools.messages import messages  # noqa: E402
from twobone_addon.pipeline.report.form import told_types  # noqa: E402
from twobone_addon.pipeline.report.reports import ClipReport, ClipsReport, Report  # noqa: E402
from twobone_addon.said import Sentence  # noqa: E402
from twobone_addon.settings import OPTIONS  # noqa: E402
from twobone_addon.settings.bake_options import KeySettings  # noqa: E402
from twobone_addon.settings.feet import (  # noqa: E402
    ContactFileSettings,
    ContactSettings,
    PlantSettings,
)
from twobone_addon.settings.options import Group, Option, OptionKind, options_of  # noqa: E402

OPTIONS_PAGE = ROOT / "docs" / "options.md"
SCHEMAS = ROOT / "docs" / "schemas"
MESSAGES_PAGE = ROOT / "docs" / "messages.md"
FLAGS_PAGE = ROOT / "docs" / "flags.md"
REPORT_PAGE = ROOT / "docs" / "report.md"
MARK = "<!-- From here on the page is made by tools/make_docs.py. -->"

HEADING = """# Options

Every setting of a bake, in the order of the panel. In scripts it is a property of `bpy.ops.twobone.bake` and of a stored
chain, under the name in the first column; on the command line it is a flag, `--frame-start` for `frame_start`, with the
values of a list in small letters; in a job file it is a key. A value outside the range is refused with a sentence, never
changed silently. Angles are degrees in the panel and radians in scripts, job files and flags.

This page is made from the table in `twobone_addon/settings/` by `python tools/make_docs.py`.
"""

INTRODUCTIONS = {
    Group.CHAIN: "Which bones follow what. In scripts objects and bones are given by name; a stored chain points to its objects.",
    Group.PLANE: (
        "In which plane the chain bends, and to which side: [Planes and signs](planes_and_signs.md). "
        "Where neither `plane` nor `bend` is given, both are those of the current pose, in a flat rig of the bend at rest.\n\n"
        "![The three letter planes with the chain bent to both sides](images/planes.svg)"
    ),
    Group.REACH: (
        "What happens where the target cannot be reached, or nearly so: [Reach](reach.md).\n\n"
        "![Softness: distance of the tip and bend of the knee for a target that moves away](images/softness.svg)"
    ),
    Group.KEYS: (
        "Which frames are keyed, how and where: [Keys](keys.md).\n\n"
        "![Reduce: a key at every frame, and the keys that a tolerance leaves](images/reduction.svg)"
    ),
    Group.ADVANCED: "What most chains leave as it is.",
}

OF_TASKS = {
    "bake": "Of `bpy.ops.twobone.bake_all` and `twobone bake`, which bake several chains together.",
    "convert": (
        "See [Converting](converting.md). It also has the settings of [Keys](#keys), with `verify` and `evaluation` of "
        "[Advanced](#advanced)."
    ),
    "give": "See [Scripting](scripting.md). It also has all settings of a bake.",
    "switch": "See [Converting](converting.md). Of the settings of a bake those count that say which chain and where keys go.",
    "clear": "See [Scripting](scripting.md). Of the settings of a bake those count that say which chain and which frames.",
    "align": "See [Scripting](scripting.md). Of the settings of a bake those count that say which chain and which plane.",
    "find_limbs": "See [Limbs](limbs.md).",
    "find_contacts": (
        "See [Contacts](contacts.md). They have no part in a bake. `ground_velocity` is three numbers, world units per second "
        "along the world's axes."
    ),
    "import_contacts": "See [Contacts](contacts.md#from-elsewhere).",
    "export_contacts": "See [Contacts](contacts.md#from-elsewhere). It also has those of [Import Contacts](#import-contacts).",
    "nudge": "See [Nudge](nudge.md).",
    "audit": "See [Audit](audit.md). It also has the settings of [Find Contacts](#find-contacts).",
    "plant": (
        "See [Plant the feet](plant_the_feet.md). To find contacts, Plant Feet also has the settings of "
        "[Find Contacts](#find-contacts)."
    ),
    "fit_root": ("See [Plant the feet](plant_the_feet.md#fit-root-alone). It also has, as [Plant Feet](#plant-feet): {shared}."),
}
"""Introductions to the settings of each task; a task without one gets its tooltip."""

REPORTS = {
    "bake": "Bake. The whole bake, and each entry of `chains`:",
    "inspect": "`twobone report`: as `bake`, measured on the animation that is there.",
    "dry_run": "`twobone bake --dry-run`.",
    "convert": "Convert IK to FK Keys. As `bake`, and of all limbs and of each:",
    "give": "Bake Target from Chain. As `bake`, and of all targets and of each:",
    "switch": "Switch to FK, Switch to IK. All limbs together, and each entry of `chains`:",
    "import_contacts": "Import Contacts. As `find_contacts`.",
    "export_contacts": "Export Contacts. As `find_contacts`.",
    "chains": "`twobone chains`: `kind`, `version`, name of the `scene`, and of each of its `chains` the settings.",
}
"""Introductions to kinds of reports; one without gets the label of its task."""

AS_ANOTHER = {"inspect", "import_contacts", "export_contacts"}
"""Kinds with the fields of another, as their introduction says."""

UNITS = {
    "NONE": "",
    "ANGLE": "radians",
    "LENGTH": "world units",
    "FACTOR": "",
    "FRAMES": "frames",
}


def main() -> None:
    """Write the pages and the schemas, and print their paths."""
    SCHEMAS.mkdir(exist_ok=True)
    pages = {OPTIONS_PAGE: options_page(), MESSAGES_PAGE: messages_page(), REPORT_PAGE: report_page(), FLAGS_PAGE: flags_page()}
    pages |= {GLOSSARY: glossary_page()}
    for path, page in (*pages.items(), (HELP, help_page()), (STUB, stub()), *schema_files()):
        path.write_text(page, encoding="utf-8")
        print(path)


def schema_files() -> Iterator[tuple[Path, str]]:
    """Path and contents of each JSON Schema."""
    from twobone_addon.command_line.schemas import FILES, schema  # noqa: PLC0415 - messages are collected without Blender, too

    for name in FILES:
        yield SCHEMAS / f"{name}.schema.json", json.dumps(schema(name), indent=2) + "\n"


FLAGS_HEADING = """# Flags

Commands of `blender SHOT.blend --command twobone`, and their flags beside the [settings](options.md). How to use them:
[Command line](command_line.md).
`--help` after a command lists its flags and settings.

This page is made from the command line itself by `python tools/make_docs.py`.
"""


def flags_page() -> str:
    """The page with every command, and every flag that is no setting; a flag of all commands but a few says which it lacks."""
    from twobone_addon.command_line.command import command_parser  # noqa: PLC0415
    from twobone_addon.command_line.job import OF_COMMAND  # noqa: PLC0415

    # Argparse has no public list of what a parser takes.
    choice: Any
    (choice,) = [action for action in command_parser()._actions if action.dest == "command"]  # noqa: SLF001
    names = {command: f"`{table.operator}` | `{table.task}`" for command, table in OF_COMMAND.items()}
    names["report"] = " | `inspect`"
    commands = "\n".join(
        f"| `{action.dest}` | {names.get(action.dest, ' | ')} | {action.help} |"
        for action in choice._choices_actions  # noqa: SLF001
    )
    rows: dict[tuple[str, str], list[str]] = {}
    for command, parser in choice.choices.items():
        for action in parser._actions:  # noqa: SLF001
            if action.help != argparse.SUPPRESS and not hasattr(action, "option") and "-h" not in action.option_strings:
                metavar = "NAME" if action.dest == "name" else str(action.metavar or "").replace("|", " or ")
                flag = " ".join(part for part in (*action.option_strings, metavar) if part)
                rows.setdefault((flag, str(action.help).replace("%%", "%")), []).append(command)
    everyone = list(choice.choices)
    told = "\n".join(f"| `{flag}` | {of_whom(who, everyone)} | {text} |" for (flag, text), who in rows.items())
    return (
        f"{FLAGS_HEADING}\n## Commands\n\n"
        f"| command | operator | `kind` of report | what it does |\n|---|---|---|---|\n{commands}\n\n"
        f"## Flags\n\n| flag | of | meaning |\n|---|---|---|\n{told}\n"
    )


def of_whom(commands: list[str], everyone: list[str]) -> str:
    """Names of commands, or of those that are left out if these are fewer."""
    others = [name for name in everyone if name not in commands]
    if len(others) >= len(commands):
        return ", ".join(commands)
    return f"all but {', '.join(others)}" if others else "all"


MESSAGES_HEADING = """# Messages

Every sentence with which something is refused, for looking it up. "…" stands for inserted names and numbers. To find a translated
one, switch to English under Edit > Preferences > Interface. What needs more than a sentence is in
[Troubleshooting](troubleshooting.md).

This page is made from the source by `python tools/make_docs.py`.
"""


def messages_page() -> str:
    """The page with every message."""
    return "\n".join([MESSAGES_HEADING, *(messages_section(kind) for kind in HEADINGS)])


def messages_section(kind: str) -> str:
    """The messages of one kind, each with its note."""
    heading, introduction = HEADINGS[kind]
    told = [f"- `{message.text}`{note(message.text)}" for message in messages() if message.kind == kind]
    return f"## {heading}\n\n{introduction}\n\n" + "\n".join(told) + "\n"


def note(text: str) -> str:
    """The note added to a message, on a new line; empty without one."""
    return f"\\\n  {NOTES[text]}" if text in NOTES else ""


GLOSSARY = ROOT / "docs" / "glossary.md"


def glossary_page() -> str:
    """The glossary: the hand-written part down to the mark, then what is measured."""
    from twobone_addon.desk.measures import MEASURES  # noqa: PLC0415

    by_hand = GLOSSARY.read_text(encoding="utf-8").split(MARK)[0]
    rows = [
        f"| {measure.word} | {measure.formula} | {measure.frames} | {measure.unit} | "
        f"{', '.join(measure.kinds)}: {', '.join(f'`{name}`' for name in measure.fields)} |"
        for measure in MEASURES
    ]
    head = "## What is measured\n\nOf several values the largest, where nothing else is said."
    table = "| word | what | at | unit | in reports of |\n|---|---|---|---|---|\n" + "\n".join(rows)
    return f"{by_hand}{MARK}\n\n{head}\n\n{table}\n"


def report_page() -> str:
    """The page about reports: the hand-written part down to the mark, then every field of every kind."""
    from twobone_addon.desk.shapes import OfCommand, kinds  # noqa: PLC0415 - messages are collected without Blender, too

    by_hand = REPORT_PAGE.read_text(encoding="utf-8").split(MARK)[0]
    of_actions = ", ".join(f"`{kind}`" for kind, record in kinds().items() if issubclass(record, ClipReport))
    shared = {
        Report: "Every report",
        ClipReport: f"Reports of {of_actions} also",
        ClipsReport: "Reports of these over several actions of an armature, beside what every report has",
        OfCommand: "Reports of the command line also",
    }
    told: set[type] = set()
    heads = "\n\n".join(f"{head}:\n\n{tables_of(record, told)}" for record, head in shared.items())
    sections = [report_section(kind, record, told) for kind, record in kinds().items()]
    chains = f"### chains\n\n{REPORTS['chains']}\n"
    return "\n".join([f"{by_hand}{MARK}\n\n{heads}\n", *sections, chains])


def report_section(kind: str, record: type, told: set[type]) -> str:
    """The fields of one kind, and of the records in it that are not `told` yet."""
    from twobone_addon.tasks.all_tasks import all_tasks  # noqa: PLC0415

    labels = {task.table.task: f"{task.table.label}." for task in all_tasks()}
    introduction = REPORTS.get(kind) or labels[kind]
    tables = [] if kind in AS_ANOTHER else [tables_of(record, told)]
    return "\n\n".join([f"### {kind}", introduction, *tables]) + "\n"


def tables_of(record: type, told: set[type]) -> str:
    """A table of the fields of a record, and one for each record in them that is not `told` yet, headed by its field."""
    told.add(record)
    types = told_types(record)
    inherited = {name for base in record.__mro__[1:] if base in told for name in told_types(base)}
    shown = {name: hint for name, hint in types.items() if name not in inherited}
    meanings = attribute_docs(record)
    rows = "\n".join(f"| `{name}` | {in_words(shown[name])} | {meanings[name]} |" for name in shown if name in meanings)
    others = ", ".join(f"`{name}`" for name in shown if name not in meanings)
    parts = [f"| field | type | meaning |\n|---|---|---|\n{rows}"] if rows else []
    parts += [f"{'And ' if rows else ''}{others}."] if others else []
    for name, hint in shown.items():
        for inner in records_in(hint):
            # The whole has the fields of its chains, which are told already.
            if inner not in told and not issubclass(record, inner):
                head = f"Each entry of `{name}`" if in_words(hint) == "list" else f"`{name}`"
                parts.append(f"{head}:\n\n{tables_of(inner, told)}")
    return "\n\n".join(parts)


def records_in(hint: Any) -> Iterator[type]:
    """The records in a type, but for those whose parts have a word of their own."""
    from twobone_addon.desk.shapes import SettingsUsed  # noqa: PLC0415

    if is_dataclass(hint) and hint not in {Sentence, SettingsUsed}:
        yield hint  # type: ignore[misc]
    for part in get_args(hint):
        yield from records_in(part)


def attribute_docs(record: type) -> dict[str, str]:
    """Meaning of what a record tells, by name: the docstrings below its fields and in its properties, its own first."""
    found: dict[str, str] = {}
    for each in record.__mro__:
        body = ast.parse(inspect.getsource(each)).body[0].body if each.__module__.startswith("twobone_addon") else []  # type: ignore[attr-defined]
        for entry, after in itertools.pairwise(body):
            if isinstance(entry, ast.AnnAssign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                found.setdefault(ast.unparse(entry.target), str(after.value.value))
        for entry in body:
            if isinstance(entry, ast.FunctionDef) and ast.get_docstring(entry):
                found.setdefault(entry.name, str(ast.get_docstring(entry)))
    return {name: " ".join(text.split()).replace("`None`", "`null`") for name, text in found.items()}


WORDS = {str: "text", Sentence: "text", int: "number", float: "number", bool: "true, false", NoneType: "null"}


def in_words(hint: Any) -> str:
    """A type in words."""
    if isinstance(hint, UnionType):
        return " or ".join(map(in_words, get_args(hint)))
    if hint in WORDS:
        return WORDS[hint]
    return {dict: "table", Mapping: "table", list: "list", tuple: "list", Sequence: "list"}.get(get_origin(hint), "record")


def options_page() -> str:
    """The options page."""
    from twobone_addon.settings.tasks import TABLES  # noqa: PLC0415

    parts = [section(group.value, INTRODUCTIONS[group], [each for each in OPTIONS if each.group is group]) for group in Group]
    told = {
        "convert": names_of(KeySettings),
        "plant": names_of(ContactSettings),
        "audit": names_of(ContactSettings),
        "export_contacts": names_of(ContactFileSettings),
        "fit_root": names_of(PlantSettings),
    }
    for table in TABLES.values():
        own = [option for option in table.own if option.name not in told.get(table.task, ())]
        shared = ", ".join(f"`{option.name}`" for option in table.own if option not in own)
        about = OF_TASKS.get(table.task, f"{table.text}.").replace("{shared}", shared)
        if table.task == "bake":
            parts.append(section("Bake All", about, own))
        else:
            where = f"Settings of `bpy.ops.twobone.{table.operator}` and `twobone {table.command}`. "
            parts.append(section(table.label, where + about, own))
    return "\n".join([HEADING, *parts, other_operators()])


def other_operators() -> str:
    """The operators that make no task: a line for each, with its tooltip and properties."""
    from twobone_addon.registration import MODULES  # noqa: PLC0415
    from twobone_addon.settings.tasks import TABLES  # noqa: PLC0415

    tasks = {f"twobone.{table.operator}" for table in TABLES.values()} | {"twobone.bake", "twobone.bake_all"}
    classes = {each for module in MODULES for each in vars(module).values() if isinstance(each, type)}
    operators = {each.bl_idname: each for each in classes if getattr(each, "bl_idname", "").startswith("twobone.")}
    lines = []
    for name, operator in sorted(operators.items()):
        if name not in tasks:
            declared = {key: kind for base in operator.__mro__ for key, kind in vars(base).get("__annotations__", {}).items()}
            properties = ", ".join(f"`{key}`" for key, kind in declared.items() if type(kind).__name__ == "_PropertyDeferred")
            told = getattr(operator, "bl_description", "") or operator.__doc__
            lines.append(f"- `{name}`: {told}" + (f" ({properties})" if properties else ""))
    return "## Other operators\n\nOf `bpy.ops`, with their properties.\n\n" + "\n".join(lines) + "\n"


def names_of(settings: type) -> set[str]:
    """Names of the options of a settings class."""
    return {option.name for option in options_of(settings)}


def section(heading: str, introduction: str, options: Sequence[Option]) -> str:
    """A section: a table of settings, then their lists of values."""
    rows = "\n".join(row(option) for option in options)
    lists = "\n".join(choices(option) for option in options if option.choices)
    return (
        f"## {heading}\n\n{introduction}\n\n"
        f"| name | in the panel | value | default | what it does |\n|---|---|---|---|---|\n{rows}\n\n{lists}"
    )


def row(option: Option) -> str:
    """One setting in its group's table."""
    cells = (f"`{option.name}`", option.label, value(option), default(option), f"{option.text}.")
    return f"| {' | '.join(cells)} |"


def value(option: Option) -> str:
    """The values that a setting accepts."""
    if option.kind is OptionKind.CHOICE:
        return ", ".join(f"`{choice.value}`" for choice in option.choices)
    if option.kind is not OptionKind.NUMBER:
        return option.kind.value
    return ", ".join(part for part in ("number", allowed(option), UNITS[option.unit]) if part)


def allowed(option: Option) -> str:
    """The range of a number in words; empty if it has none."""
    low = f"{'above' if option.above else 'at least'} {option.minimum:g}" if option.minimum > -math.inf else ""
    high = f"at most {option.maximum:g}" if option.maximum < math.inf else ""
    return " and ".join(part for part in (low, high) if part)


def default(option: Option) -> str:
    """The default as written in a script."""
    if option.kind is OptionKind.NUMBER and option.unit == "ANGLE" and option.default:
        return f"{option.default:.4f} ({math.degrees(option.default):g}°)"
    return f"`{option.default!r}`" if option.default not in {"", None} else "empty"


def choices(option: Option) -> str:
    """The meaning of each value of a choice."""
    return "\n".join(lines(option))


def lines(option: Option) -> Iterator[str]:
    """Heading, then one line for each value."""
    yield f"`{option.name}`:\n"
    for choice in option.choices:
        yield f"- `{choice.value}` ({choice.label}): {choice.text}."
    yield ""


if __name__ == "__main__":
    main()
