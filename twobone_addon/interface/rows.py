"""Which settings have a say, and their rows in panels and in the redo panel."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import bpy
from bpy.app.translations import pgettext_iface

from ..said import Sentence
from ..scene.lookup import NOTHING_CHOSEN
from ..settings import OPTION, OPTIONS
from ..settings.options import Group, Kind, Option
from .stored.option_properties import CONTEXT, LISTED
from .stored.selecting import NOT_LISTED

Settings = Any
"""A stored chain or an operator: what has the settings as attributes."""


JOINED = {"frame_end", "upper_max", "lower_max", "softness_near", "stretch_max"}
"""Settings that stand close below the one before them, as the two ends of one thing do."""

SHORT_LABELS = {
    "stretch_max": "Maximum",
    "compress_min": "Compress",
    "min_distance": "Min Distance",
    "max_distance": "Max Distance",
    "target_root_bone": "Target Root",
    "upper_min": "Upper Min",
    "upper_max": "Max",
    "lower_min": "Lower Min",
    "lower_max": "Max",
}
"""What stands before a row where the setting's own label is wider than a sidebar, said by the row above."""

AUTOMATIC = "(0 ="
"""In the tooltip of a setting whose 0 means that its value is found, which its label says as long as it is 0."""

LABEL_PART = 0.4
"""Part of a row's width that Blender gives the label."""

NARROW = 220
"""Width in pixels, at resolution scale 1, from which a choice fits beside its label."""

BONES_OF = {"target_bone": "target", "target_root_bone": "target", "pole_bone": "pole"}
"""Settings that name a bone of another object than the chain's armature."""


def is_relevant(chain: Settings, name: str) -> bool:
    """Whether a setting makes a difference, with the others as they are."""
    if name == "target_scale":  # without a root bone nothing but 1 can be baked, which has to be seen to be mended
        return bool(chain.target_root_bone) or chain.target_scale != 1.0
    needs = OPTION[name].needs
    return needs is None or needs.is_met(chain)


def names_armature(chain: Settings) -> bool:
    """Whether it is an operator, which names its armature; a stored chain is on its own."""
    return hasattr(chain, "armature")


def draw_options(
    layout: bpy.types.UILayout,
    chain: Settings,
    group: Group,
    *,
    without: AbstractSet[str] = frozenset(),
    only: AbstractSet[str] = frozenset(),
) -> None:
    """A row for each setting of a group that makes a difference, but for those in `without`, or for those in `only` alone."""
    column = layout.column()
    for option in OPTIONS:
        is_meant = option.name in only if only else option.name not in without
        if option.group is not group or not is_meant or not is_relevant(chain, option.name):
            continue
        if option.name not in JOINED:
            column = layout.column(align=True)
        if option.kind is Kind.BONE:
            _draw_bone(column, chain, option.name)
        elif names_armature(chain):
            _draw_in_redo_panel(column, chain, option)
        else:
            column.prop(chain, option.name, text=SHORT_LABELS.get(option.name), text_ctxt=CONTEXT)


def draw_own_options(
    layout: bpy.types.UILayout, operator: bpy.types.Operator, options: Sequence[Option], armature: bpy.types.Object | None
) -> None:
    """A row in the redo panel for each setting of an operator about one armature that makes a difference, but for its name."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    column = layout.column()
    for option in options:
        if option.name == "armature" or not option.is_drawn or (option.needs and not option.needs.is_met(operator)):
            continue
        if option.kind is not Kind.BONE:
            _draw_in_redo_panel(column, operator, option)
        elif armature is not None and armature.type == "ARMATURE":
            column.prop_search(operator, option.name, armature.data, "bones")


def draw_switch(layout: bpy.types.UILayout, chain: Settings, name: str, *, on: bool) -> None:
    """A setting that is off or has a value: a box to tick, and beside it the value while it is on."""
    split = layout.split(factor=LABEL_PART)
    left = split.row()
    left.alignment = "RIGHT"
    left.label(text=SHORT_LABELS.get(name, OPTION[name].label), text_ctxt=CONTEXT)
    row = split.row(align=True)
    box = "CHECKBOX_HLT" if on else "CHECKBOX_DEHLT"
    row.operator("twobone.switch_setting", text="", icon=box, emboss=False).setting = name
    if on and OPTION[name].kind is Kind.NUMBER:
        row.prop(chain, name, text="")


def _draw_in_redo_panel(column: bpy.types.UILayout, operator: bpy.types.Operator, option: Option) -> None:
    """The same for an operator, whose panel may be so narrow that a choice does not fit beside its label."""
    label = SHORT_LABELS.get(option.name, option.label)
    if AUTOMATIC in option.text and getattr(operator, option.name) == 0.0:
        label = f"{pgettext_iface(label, CONTEXT)} ({pgettext_iface('Automatic')})"
    context = bpy.context
    if context.region is not None and context.region.width < NARROW * context.preferences.system.ui_scale:
        column.use_property_split = False
        if option.kind in {Kind.CHOICE, Kind.OBJECT, Kind.ACTIONS}:
            column.label(text=label, text_ctxt=CONTEXT)
            label = ""
    if option.kind is Kind.OBJECT and not option.object_types:
        column.prop_search(operator, option.name, bpy.data, "objects", text=label, text_ctxt=CONTEXT)
    else:
        column.prop(operator, LISTED.get(option.name, option.name), text=label, text_ctxt=CONTEXT)


def _draw_bone(layout: bpy.types.UILayout, chain: Settings, name: str) -> None:
    """A bone to choose from those there are; no row where its object has no bones."""
    if names_armature(chain):
        owner = bpy.data.objects.get(getattr(chain, BONES_OF.get(name, "armature")))
    else:
        owner = getattr(chain, BONES_OF[name]) if name in BONES_OF else chain.id_data
    if owner is not None and owner.type == "ARMATURE":
        label = SHORT_LABELS.get(name, OPTION[name].label)
        layout.prop_search(chain, name, owner.data, "bones", text=label, text_ctxt=CONTEXT)


def draw_sentence(
    layout: bpy.types.UILayout, sentence: Sentence, context: bpy.types.Context, *, icon: str = "INFO", width: float = 0.0
) -> None:
    """A sentence, broken into lines that fit the sidebar, or so many pixels."""
    characters = max(int((width or context.region.width) / (7 * context.preferences.system.ui_scale)) - 6, 16)
    column = layout.column(align=True)
    column.scale_y = 0.8
    for number, line in enumerate(wrapped(sentence.text(pgettext_iface), characters)):
        column.label(text=line, translate=False, icon=icon if number == 0 else "BLANK1")


def draw_remedy(layout: bpy.types.UILayout, sentence: Sentence, stored: str = "") -> bool:
    """The button that puts right what a sentence says, where one does; tells whether it is there.

    stored : name of the chain that it is about; empty for the one that is selected
    """
    found = sentence.values.get("reason", sentence)
    lacks = isinstance(found, Sentence) and found.template in {NOTHING_CHOSEN, NO_TARGETS, NOT_LISTED}
    if not lacks or found.values.get("role", TARGET) != TARGET:
        return False
    layout.operator("twobone.add_target", icon="EMPTY_AXIS").stored = stored or str(sentence.values.get("chain", ""))
    return True


TARGET = Sentence("target")
NO_TARGETS = "None of the enabled chains has a target. Add a target to each limb to bake."


TOGETHER = re.compile(r"\(?(?:< )?\d[\d.]* (?:km|m|cm|mm|mi|ft|in|frames?|degrees)\b\S*|\S+")
"""What stays on one line: a number with its unit, or a word."""


def wrapped(text: str, characters: int) -> list[str]:
    """The words of a text in lines of at most this many characters, longer words alone."""
    lines: list[str] = []
    for word in TOGETHER.findall(text):
        if lines and len(lines[-1]) + 1 + len(word) <= characters:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines
