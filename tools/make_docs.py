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
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.make_help import HELP, help_page  # noqa: E402, the checkout is on the path only now
from tools.make_stub import STUB, stub  # noqa: E402
from tools.message_notes import HEADINGS, NOTES  # noqa: E402, the checkout is on the path only now
from tools.messages import messages  # noqa: E402
from twobone_addon.pipeline.report.reports import ChainReport, Fingerprint, Report, Visible  # noqa: E402
from twobone_addon.settings import OPTIONS  # noqa: E402
from twobone_addon.settings.bake_options import KeySettings  # noqa: E402
from twobone_addon.settings.feet import (  # noqa: E402
    ContactFileSettings,
    ContactSettings,
    PlantSettings,
)
from twobone_addon.settings.options import Group, Option, OptionKind, options_of  # noqa: E402
from twobone_addon.tasks import find_limbs as limbs  # noqa: E402
from twobone_addon.tasks.convert.task import ConvertedReport  # noqa: E402
from twobone_addon.tasks.find_contacts import task as contacts  # noqa: E402
from twobone_addon.tasks.give.baking import TargetReport  # noqa: E402
from twobone_addon.tasks.plant.report import reports as planting  # noqa: E402
from twobone_addon.tasks.switch.reports import SwitchReport  # noqa: E402

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

REPORTS: dict[str, tuple[str, tuple[type, ...]]] = {
    "bake": ("Bake. Each entry of `chains`, and beside it the same for the whole bake:", (ChainReport, Visible, Fingerprint)),
    "convert": ("Convert IK to FK Keys. As `bake`, and for each limb:", (ConvertedReport,)),
    "give": ("Bake Target from Chain. As `bake`, and for each target:", (TargetReport,)),
    "inspect": ("`twobone report`: as `bake`, measured on the animation that is there.", ()),
    "dry_run": (
        "`twobone bake --dry-run`. Each of `chains` has settings and counts as `bake`, `lengths` and the `curves` to write.",
        (),
    ),
    "chains": ("`twobone chains`: name of the `scene`, and of each of its `chains` the settings.", ()),
    "switch": ("Switch to FK, Switch to IK. Each entry of `chains`; a single one stands beside it as well:", (SwitchReport,)),
    "find_limbs": ("Find Limbs.", (limbs.LimbsReport, limbs.LimbReport, limbs.LeftOutLimb)),
    "find_contacts": (
        "Find Contacts. `contacts` of a chain are `[first, last, point]`, the point `HEEL`, `BALL` or `BOTH`.",
        (contacts.ContactReport, contacts.ChainContacts),
    ),
    "import_contacts": ("Import Contacts. As `find_contacts`.", ()),
    "export_contacts": ("Export Contacts. As `find_contacts`.", ()),
    "plant": (
        "Plant Feet.",
        (planting.PlantReport, planting.LegReport, planting.PlantedContact, planting.RootReport),
    ),
    "fit_root": ("Fit Root. `root` is that of Plant Feet.", (planting.RootFitReport, planting.ReachReport)),
}
"""Kinds of reports that are described from records: introduction, and the records, outer ones first."""

TITLES = {
    Visible: "`visible`",
    Fingerprint: "`fingerprint`",
    limbs.LimbReport: "Each entry of `limbs`",
    limbs.LeftOutLimb: "Each entry of `left_out`",
    contacts.ChainContacts: "Each entry of `chains`",
    planting.LegReport: "Each entry of `chains`",
    planting.PlantedContact: "Each entry of `contacts`",
    planting.RootReport: "`root`",
    planting.ReachReport: "Each entry of `chains`",
}

NOT_TOLD = {"units", "lengths", "seconds", "evaluation", "notes", "statements"}
"""Fields that are left out: those that are not in the JSON, and those that every report has."""

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

    # Argparse has no public list of what a parser takes.
    choice: Any
    (choice,) = [action for action in command_parser()._actions if action.dest == "command"]  # noqa: SLF001
    commands = "\n".join(f"| `{action.dest}` | {action.help} |" for action in choice._choices_actions)  # noqa: SLF001
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
        f"{FLAGS_HEADING}\n## Commands\n\n| command | what it does |\n|---|---|\n{commands}\n\n"
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


def report_page() -> str:
    """The page about reports: the hand-written part down to the mark, then every field of every kind."""
    from twobone_addon.command_line.schemas import KINDS  # noqa: PLC0415

    by_hand = REPORT_PAGE.read_text(encoding="utf-8").split(MARK)[0]
    return "\n".join([f"{by_hand}{MARK}\n", *(report_section(kind) for kind in KINDS)])


def report_section(kind: str) -> str:
    """The fields of one kind: of its task's records or those in `REPORTS`, otherwise the keys of its schema."""
    from twobone_addon.command_line.schemas import schema  # noqa: PLC0415
    from twobone_addon.tasks.all_tasks import all_tasks  # noqa: PLC0415

    whole = {each.table.task: (f"{each.table.label}.", (each.record,)) for each in all_tasks()}
    reports = whole | REPORTS
    if kind not in reports:
        made = schema(kind)
        forms = made.get("anyOf", [made])
        names = ", ".join(f"`{name}`" for name in dict.fromkeys(name for form in forms for name in form["properties"]))
        return f"### {kind}\n\n{names}.\n"
    introduction, records = reports[kind]
    return "\n\n".join([f"### {kind}", introduction, *map(fields_table, records)]) + "\n"


def fields_table(record: type) -> str:
    """A record's fields, each with its type and docstring; then those without a docstring."""
    told = attribute_docs(record)
    skipped = NOT_TOLD | ({"kind"} if issubclass(record, Report) else set())
    skipped |= {entry.name for base in record.__bases__ if issubclass(base, ChainReport) for entry in fields(base)}
    types = {entry.name: str(entry.type) for entry in fields(record) if entry.name not in skipped}
    head = f"{TITLES[record]}:\n\n" if record in TITLES else ""
    rows = "\n".join(f"| `{name}` | {in_json(types[name])} | {told[name]} |" for name in types if name in told)
    others = ", ".join(f"`{name}`" for name in types if name not in told)
    return f"{head}| field | type | meaning |\n|---|---|---|\n{rows}" + (f"\n\nAnd {others}." if others else "")


def attribute_docs(record: type) -> dict[str, str]:
    """The docstrings below the fields of a record, by name."""
    found = {}
    body = ast.parse(inspect.getsource(record)).body[0].body  # type: ignore[attr-defined]
    for entry, after in itertools.pairwise(body):
        if isinstance(entry, ast.AnnAssign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            found[ast.unparse(entry.target)] = " ".join(str(after.value.value).split()).replace("`None`", "`null`")
    return found


JSON_TYPES = {"str": "text", "Sentence": "text", "int": "number", "float": "number", "bool": "true, false", "None": "null"}


def in_json(kind: str) -> str:
    """A type annotation in words."""
    parts = [part.strip() for part in kind.split(" | ")] if not kind.endswith("]") else [kind]
    return " or ".join(JSON_TYPES.get(part, "list" if part.endswith("]") and "dict" not in part else "record") for part in parts)


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
