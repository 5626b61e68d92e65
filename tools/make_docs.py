"""Write the parts of the documentation that the source tells: the options, every message, and the JSON Schemas.

A test tells when it was forgotten.

python tools/make_docs.py
"""

import json
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.message_notes import HEADINGS, NOTES  # noqa: E402, the checkout is on the path only now
from tools.messages import messages  # noqa: E402
from twobone_addon.command_line.schemas import NAMES, schema  # noqa: E402
from twobone_addon.options import Group, Kind, Option  # noqa: E402
from twobone_addon.settings import OPTIONS  # noqa: E402
from twobone_addon.settings.contacts import CONTACT_OPTIONS  # noqa: E402
from twobone_addon.settings.planting import PLANT_OPTIONS, ROOT_OPTIONS  # noqa: E402

OPTIONS_PAGE = ROOT / "docs" / "options.md"
SCHEMAS = ROOT / "docs" / "schemas"
MESSAGES_PAGE = ROOT / "docs" / "troubleshooting.md"
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

PLANT_FEET = (
    "Settings of `bpy.ops.twobone.plant` and `twobone plant`: [Plant the feet](plant_the_feet.md). "
    "To find contacts, Plant Feet also has the settings of [Find Contacts](#find-contacts)."
)

FIT_ROOT = (
    "Settings of `bpy.ops.twobone.fit_root` and `twobone fit-root`: [Plant the feet](plant_the_feet.md#fit-root-alone). "
    "It also has Armature, the frame range and Evaluation, and from [Plant Feet](#plant-feet) those from Root to Verify."
)

FIND_CONTACTS = (
    "Settings of `bpy.ops.twobone.find_contacts` and of `twobone contacts`, which have no part in a bake: "
    "[Contacts](contacts.md). `ground_velocity` is three numbers, world units per second along the world's axes."
)

UNITS = {
    "NONE": "",
    "ANGLE": "radians",
    "LENGTH": "world units",
    "FACTOR": "",
    "FRAMES": "frames",
}


def main() -> None:
    """Write the pages and the schemas, and say where they are."""
    SCHEMAS.mkdir(exist_ok=True)
    for path, page in ((OPTIONS_PAGE, options_page()), (MESSAGES_PAGE, messages_page()), *schema_files()):
        path.write_text(page, encoding="utf-8")
        print(path)


def schema_files() -> Iterator[tuple[Path, str]]:
    """Path and contents of each JSON Schema."""
    for name in NAMES:
        yield SCHEMAS / f"{name}.schema.json", json.dumps(schema(name), indent=2) + "\n"


def messages_page() -> str:
    """The troubleshooting page: what was written by hand down to the mark, then every message."""
    by_hand = MESSAGES_PAGE.read_text(encoding="utf-8").split(MARK)[0]
    return "\n".join([f"{by_hand}{MARK}\n", *(messages_section(kind) for kind in HEADINGS)])


def messages_section(kind: str) -> str:
    """One kind's messages, each with what it cannot say itself."""
    heading, introduction = HEADINGS[kind]
    told = [f"- `{message.text}`{note(message.text)}" for message in messages() if message.kind == kind]
    return f"### {heading}\n\n{introduction}\n\n" + "\n".join(told) + "\n"


def note(text: str) -> str:
    """What is added to a message, on a line of its own."""
    return f"\\\n  {NOTES[text]}" if text in NOTES else ""


def options_page() -> str:
    """The options page."""
    parts = [section(group.value, INTRODUCTIONS[group], [each for each in OPTIONS if each.group is group]) for group in Group]
    of_contacts, of_plant = ({option.name for option in options} for options in (CONTACT_OPTIONS, PLANT_OPTIONS))
    plant = [option for option in PLANT_OPTIONS if option.name not in of_contacts]
    fit_root = [option for option in ROOT_OPTIONS if option.name not in of_plant]
    parts += [
        section("Find Contacts", FIND_CONTACTS, CONTACT_OPTIONS),
        section("Plant Feet", PLANT_FEET, plant),
        section("Fit Root", FIT_ROOT, fit_root),
    ]
    return "\n".join([HEADING, *parts])


def section(heading: str, introduction: str, options: Sequence[Option]) -> str:
    """A table of settings, then their lists of values."""
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
    """What may be given."""
    if option.kind is Kind.CHOICE:
        return ", ".join(f"`{choice.value}`" for choice in option.choices)
    if option.kind is not Kind.NUMBER:
        return option.kind.value
    return ", ".join(part for part in ("number", allowed(option), UNITS[option.unit]) if part)


def allowed(option: Option) -> str:
    """The range of a number in words; nothing where there is none."""
    low = f"{'above' if option.above else 'at least'} {option.minimum:g}" if option.minimum > -math.inf else ""
    high = f"at most {option.maximum:g}" if option.maximum < math.inf else ""
    return " and ".join(part for part in (low, high) if part)


def default(option: Option) -> str:
    """The default as it is written in a script."""
    if option.kind is Kind.NUMBER and option.unit == "ANGLE" and option.default:
        return f"{option.default:.4f} ({math.degrees(option.default):g}°)"
    return f"`{option.default!r}`" if option.default != "" else "empty"


def choices(option: Option) -> str:
    """What each value of a list means."""
    return "\n".join(lines(option))


def lines(option: Option) -> Iterator[str]:
    """Heading and one line for each value."""
    yield f"`{option.name}`:\n"
    for choice in option.choices:
        yield f"- `{choice.value}` ({choice.label}): {choice.text}."
    yield ""


if __name__ == "__main__":
    main()
