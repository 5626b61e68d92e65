"""Every text that the add-on shows in Blender, gathered from the table of settings, the classes and the drawing code."""

import ast
import inspect
import re
from pathlib import Path

import bpy

from tools.messages import HINDRANCE, returned_texts
from twobone_addon.settings import OPTIONS
from twobone_addon.settings.tasks import TABLES

PACKAGE = Path(__file__).resolve().parents[2] / "twobone_addon"
SHOWN_BY = {"label": "text", "operator": "text", "prop": "text", "column": "heading", "menu": "text", "prop_menu_enum": "text"}
"""Calls in drawing code that show the text given by this keyword."""

SAID_BY = {"pgettext_rpt", "pgettext_iface", "translate"}
"""Calls that show their first argument."""

LISTED_IN = {"SHORT_LABELS", "HELP", "FIGURES", "STATEMENTS", "AT_ONE_FRAME", "VERIFYING"}
"""Constants that hold shown texts."""


def shown_texts():
    return _of_settings() | _of_classes() | _of_code()


def _of_settings():
    texts = set()
    for option in OPTIONS:
        texts |= {option.label, option.text, option.group.value}
        texts |= {text for choice in option.choices for text in (choice.label, choice.text)}
    return texts | {table.progress for table in TABLES.values()}


def _of_classes():
    texts = set()
    for cls in (*(getattr(bpy.types, name) for name in dir(bpy.types) if _is_of_ours(name)), *_groups()):
        texts |= {getattr(cls, "bl_label", ""), (cls.__doc__ or "").strip() if "_OT_" in cls.__name__ else ""}
        for prop in own_properties(cls):
            if not prop.is_hidden:
                texts |= {prop.name, prop.description}
                if prop.type == "ENUM":
                    texts |= {text for item in prop.enum_items for text in (item.name, item.description)}
    return texts - {""}


def _is_of_ours(name):
    """Also those that Live makes on the way are classes of ours, but they bear the names of Blender's own moves."""
    return name.startswith("TWOBONE_") and not name.startswith("TWOBONE_OT_live_keys_")


def own_properties(cls):
    """The properties that an operator or a property group declares itself."""
    names = {name for base in cls.__mro__ if _is_ours(base) for name in inspect.get_annotations(base)}
    if issubclass(cls, bpy.types.Operator):
        properties = getattr(bpy.ops.twobone, cls.bl_idname.partition(".")[2]).get_rna_type().properties
    else:
        properties = cls.bl_rna.properties if issubclass(cls, bpy.types.PropertyGroup) else ()
    # A property group has two called "name": Blender's own comes first.
    return list({prop.identifier: prop for prop in properties if prop.identifier in names}.values())


def _groups():
    return [group for group in bpy.types.PropertyGroup.__subclasses__() if _is_ours(group)]


def _is_ours(cls):
    return cls.__module__.startswith("twobone_addon.")


def _of_code():
    texts = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        if "command_line" in path.parts:  # Which is in English only.
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                texts |= _of_call(node)
            if isinstance(node, ast.FunctionDef) and node.name == HINDRANCE:
                texts |= set(returned_texts(node))
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in LISTED_IN:
                values = getattr(node.value, "values", None) or getattr(node.value, "elts", [node.value])
                texts |= {value.value for value in values}
    return {text for text in texts if re.search(r"[A-Za-z]{2}", text)}


def _of_call(node):
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    values = [keyword.value for keyword in node.keywords if keyword.arg == SHOWN_BY.get(name)]
    if name in SAID_BY:
        values += node.args[:1]
    found = set()
    for value in values:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            found.add(value.value)
    return found
