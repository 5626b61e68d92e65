"""Which settings have a say, and their rows in panels and in the redo panel."""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import bpy

from ..options import Group, Kind, Option
from ..settings import OPTIONS
from .option_properties import CONTEXT

Settings = Any
"""A stored chain or an operator: what has the settings as attributes."""

FIXED_PLANES = {"XY", "XZ", "YZ"}
LIMITS = ("upper_min", "upper_max", "lower_min", "lower_max")

RELEVANT: Mapping[str, Callable[[Settings], bool]] = {
    "method": lambda chain: chain.joints == "ALL",
    "plane_space": lambda chain: chain.plane in FIXED_PLANES,
    "plane_object": lambda chain: chain.plane == "OBJECT",
    "pole": lambda chain: chain.plane == "POLE",
    "pole_bone": lambda chain: chain.plane == "POLE",
    "pole_angle": lambda chain: chain.plane == "POLE",
    "depth": lambda chain: chain.plane in FIXED_PLANES | {"OBJECT"},
    "softness": lambda chain: chain.reach != "CLAMP",
    "softness_near": lambda chain: chain.reach != "CLAMP",
    "stretch_start": lambda chain: chain.reach == "STRETCH",
    "stretch_max": lambda chain: chain.reach == "STRETCH",
    "compress_min": lambda chain: chain.reach == "STRETCH",
    **dict.fromkeys(LIMITS, lambda chain: chain.use_limits),
    "frame_start": lambda chain: chain.frame_range == "CUSTOM",
    "frame_end": lambda chain: chain.frame_range == "CUSTOM",
    "step": lambda chain: chain.keys in {"FRAMES", "REDUCE"},
    "tolerance": lambda chain: chain.keys == "REDUCE",
    "interpolation": lambda chain: chain.keys != "REDUCE",
}
"""When a setting that has not always a say has one. All others always have."""

JOINED = {"frame_end", "upper_max", "lower_max", "softness_near", "stretch_max", "max_distance"}
"""Settings that stand close below the one before them, as the two ends of one thing do."""

SHORT_LABELS = {
    "stretch_max": "Maximum",
    "compress_min": "Compress",
    "min_distance": "Distance Min",
    "max_distance": "Max",
    "upper_min": "Upper Min",
    "upper_max": "Max",
    "lower_min": "Lower Min",
    "lower_max": "Max",
}
"""What stands before a row where the setting's own label is wider than a sidebar, said by the row above."""

NARROW = 220
"""Width in pixels, at resolution scale 1, from which a choice fits beside its label."""

BONES_OF = {"target_bone": "target", "pole_bone": "pole"}
"""Settings that name a bone of another object than the chain's armature."""


def is_relevant(chain: Settings, name: str) -> bool:
    """Whether a setting makes a difference, with the others as they are."""
    return name not in RELEVANT or RELEVANT[name](chain)


def draw_options(layout: bpy.types.UILayout, chain: Settings, group: Group, without: AbstractSet[str] = frozenset()) -> None:
    """A row for each setting of a group that makes a difference, but for those in `without`."""
    column = layout.column()
    for option in OPTIONS:
        if option.group is not group or option.name in without or not is_relevant(chain, option.name):
            continue
        if option.name not in JOINED:
            column = layout.column(align=True)
        if option.kind is Kind.BONE:
            _draw_bone(column, chain, option.name)
        elif isinstance(chain, bpy.types.Operator):
            _draw_in_redo_panel(column, chain, option)
        else:
            column.prop(chain, option.name, text=SHORT_LABELS.get(option.name), text_ctxt=CONTEXT)


def _draw_in_redo_panel(column: bpy.types.UILayout, operator: bpy.types.Operator, option: Option) -> None:
    """The same for an operator, whose panel may be so narrow that a choice does not fit beside its label."""
    label = SHORT_LABELS.get(option.name, option.label)
    context = bpy.context
    if context.region.width < NARROW * context.preferences.system.ui_scale:
        column.use_property_split = False
        if option.kind in {Kind.CHOICE, Kind.OBJECT}:
            column.label(text=label, text_ctxt=CONTEXT)
            label = ""
    if option.kind is Kind.OBJECT:
        column.prop_search(operator, option.name, bpy.data, "objects", text=label, text_ctxt=CONTEXT)
    else:
        column.prop(operator, option.name, text=label, text_ctxt=CONTEXT)


def _draw_bone(layout: bpy.types.UILayout, chain: Settings, name: str) -> None:
    """A bone to choose from those there are; no row where its object has no bones."""
    if name not in BONES_OF:
        owner = chain.id_data
    elif isinstance(chain, bpy.types.Operator):
        owner = bpy.data.objects.get(getattr(chain, BONES_OF[name]))
    else:
        owner = getattr(chain, BONES_OF[name])
    if owner is not None and owner.type == "ARMATURE":
        layout.prop_search(chain, name, owner.data, "bones")


def draw_sentence(layout: bpy.types.UILayout, sentence: str, context: bpy.types.Context) -> None:
    """A sentence, broken into lines that fit the sidebar."""
    characters = max(int(context.region.width / (7 * context.preferences.system.ui_scale)) - 6, 16)
    column = layout.column(align=True)
    column.scale_y = 0.8
    for number, line in enumerate(wrapped(sentence, characters)):
        column.label(text=line, translate=False, icon="INFO" if number == 0 else "BLANK1")


def wrapped(text: str, characters: int) -> list[str]:
    """The words of a text in lines of at most this many characters, longer words alone."""
    lines: list[str] = []
    for word in text.split():
        if lines and len(lines[-1]) + 1 + len(word) <= characters:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines
