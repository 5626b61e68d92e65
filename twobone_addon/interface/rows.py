"""Rows for settings in panels and in the redo panel, only for settings that have an effect."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import bpy
from bpy.app.translations import pgettext_iface

from ..said import Sentence
from ..scene.lookup import LOST, MISSING_BONE, NOTHING_CHOSEN
from ..settings import OPTION, OPTIONS
from ..settings.options import Group, Option, OptionKind
from .stored.option_properties import CONTEXT, LISTED
from .stored.selecting import NOT_LISTED

Settings = Any
"""A stored chain or an operator: both have the settings as attributes."""


JOINED = {"frame_end", "upper_max", "lower_max", "softness_near", "stretch_max"}
"""Settings drawn without a gap below the previous one, such as the end of a range below its start."""

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
"""Shorter labels for settings whose own label is too wide for a sidebar; the row above gives the context."""

AUTOMATIC = "(0 ="
"""Text in the tooltip of a setting for which 0 means automatic; its label says so while the value is 0."""

LABEL_PART = 0.4
"""Fraction of a row's width that Blender gives the label."""

NARROW = 220
"""Region width in pixels, at resolution scale 1, below which a choice does not fit beside its label."""

BONES_OF = {"target_bone": "target", "target_root_bone": "target", "pole_bone": "pole"}
"""Settings that name a bone of another object than the chain's armature, and the setting of that object."""


def is_relevant(chain: Settings, name: str) -> bool:
    """Whether a setting has an effect, given the values of the others."""
    if name == "target_scale":  # Without a root bone only 1 can be baked, so any other value must be shown to be corrected.
        return bool(chain.target_root_bone) or chain.target_scale != 1.0
    needs = OPTION[name].needs
    return needs is None or needs.is_met(chain)


def names_armature(chain: Settings) -> bool:
    """Whether `chain` is an operator, which names its armature; a stored chain belongs to one."""
    return hasattr(chain, "armature")


def draw_options(
    layout: bpy.types.UILayout,
    chain: Settings,
    group: Group,
    *,
    without: AbstractSet[str] = frozenset(),
    only: AbstractSet[str] = frozenset(),
) -> None:
    """Draw a row for each setting of a group that has an effect, except those in `without`, or only those in `only`."""
    column = layout.column()
    for option in OPTIONS:
        is_included = option.name in only if only else option.name not in without
        if option.group is not group or not is_included or not is_relevant(chain, option.name):
            continue
        if option.name not in JOINED:
            column = layout.column(align=True)
        if option.kind is OptionKind.BONE:
            _draw_bone(column, chain, option.name)
        elif names_armature(chain):
            _draw_in_redo_panel(column, chain, option)
        else:
            column.prop(chain, option.name, text=SHORT_LABELS.get(option.name), text_ctxt=CONTEXT)


def draw_own_options(
    layout: bpy.types.UILayout, operator: bpy.types.Operator, options: Sequence[Option], armature: bpy.types.Object | None
) -> None:
    """Draw a row in the redo panel for each setting of an operator that has an effect, except the armature's name.

    armature : owner of the bones to choose from; without one, settings that name bones have no row
    """
    layout.use_property_split = True
    layout.use_property_decorate = False
    column = layout.column()
    for option in options:
        if option.name == "armature" or not option.is_drawn or (option.needs and not option.needs.is_met(operator)):
            continue
        if option.kind is not OptionKind.BONE:
            _draw_in_redo_panel(column, operator, option)
        elif armature is not None and armature.type == "ARMATURE":
            column.prop_search(operator, option.name, armature.data, "bones")


def draw_on_or_off(layout: bpy.types.UILayout, chain: Settings, name: str, *, on: bool) -> None:
    """Draw a setting that can be off: a checkbox, and beside it the value while it is on."""
    split = layout.split(factor=LABEL_PART)
    label = split.row()
    label.alignment = "RIGHT"
    label.label(text=SHORT_LABELS.get(name, OPTION[name].label), text_ctxt=CONTEXT)
    row = split.row(align=True)
    box = "CHECKBOX_HLT" if on else "CHECKBOX_DEHLT"
    row.operator("twobone.switch_setting", text="", icon=box, emboss=False).setting = name
    if on and OPTION[name].kind is OptionKind.NUMBER:
        row.prop(chain, name, text="")


def _draw_in_redo_panel(column: bpy.types.UILayout, operator: bpy.types.Operator, option: Option) -> None:
    """Draw a setting of an operator; in a narrow panel, the label of a choice goes above it."""
    label = SHORT_LABELS.get(option.name, option.label)
    if AUTOMATIC in option.text and getattr(operator, option.name) == 0.0:
        label = f"{pgettext_iface(label, CONTEXT)} ({pgettext_iface('Automatic')})"
    context = bpy.context
    if context.region is not None and context.region.width < NARROW * context.preferences.system.ui_scale:
        column.use_property_split = False
        if option.kind in {OptionKind.CHOICE, OptionKind.OBJECT, OptionKind.ACTIONS}:
            column.label(text=label, text_ctxt=CONTEXT)
            label = ""
    if option.kind is OptionKind.OBJECT and not option.object_types:
        column.prop_search(operator, option.name, bpy.data, "objects", text=label, text_ctxt=CONTEXT)
    else:
        column.prop(operator, LISTED.get(option.name, option.name), text=label, text_ctxt=CONTEXT)


def _draw_bone(layout: bpy.types.UILayout, chain: Settings, name: str) -> None:
    """Draw a search field for a bone; nothing if its object is no armature."""
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
    """Draw a sentence, wrapped to the width of the region, or to `width` in pixels."""
    from .drawn_text import lines_of

    column = layout.column(align=True)
    column.scale_y = 0.8
    for number, line in enumerate(lines_of(sentence.text(pgettext_iface), context, width)):
        column.label(text=line, translate=False, icon=icon if number == 0 else "BLANK1")


def draw_span(layout: bpy.types.UILayout, name: str, first: float, last: float) -> None:
    """Draw a button that goes to the first of these frames, behind the name of the limb that they are about."""
    frames = f"{first:g}" if first == last else f"{first:g} \u2013 {last:g}"
    text = f"{name}  {frames}" if name else frames
    layout.operator("twobone.jump_to_frame", text=text, translate=False).frame = first


def draw_remedy(layout: bpy.types.UILayout, sentence: Sentence, stored: str = "") -> bool:
    """Draw the button or settings that help, such as Add Target for a missing target; return whether there are any.

    stored : name of the chain that the button is for; empty for the selected one
    """
    reason = reason_of(sentence)
    if reason.kind == ON_IK:
        draw_switch_all(layout, "FK")
        draw_show_keys(layout)
        return True
    if reason.kind == ON_LIVE:
        layout.operator("twobone.bake", text="Bake", icon="ACTION").stored = stored or str(sentence.values.get("chain", ""))
        return True
    if reason.kind == OVERRIDDEN:
        return _draw_mute(layout, reason)
    if reason.kind in BESIDE_KEYS:
        for chain in filter(lambda chain: chain.enabled, _active_chains()):
            column = layout.column(align=True)
            column.label(text=chain.name, translate=False, icon="BONE_DATA")
            for name in BESIDE_KEYS[reason.kind]:
                column.prop(chain, name)
        return True
    if not _lacks_target(reason):
        return False
    layout.operator("twobone.add_target", icon="EMPTY_AXIS").stored = stored or str(sentence.values.get("chain", ""))
    return True


def _draw_mute(layout: bpy.types.UILayout, reason: Sentence) -> bool:
    """Draw the button that mutes the constraint of a refusal, if nothing animates that; return whether it is there."""
    from ..scene.graph.rig_graph import Stillness

    constraint = _overriding(reason)
    if constraint is None or not Stillness().keeps(constraint.id_data, f"{constraint.path_from_id()}.mute"):
        return False
    text = pgettext_iface('Mute "{constraint}"').format(constraint=constraint.name)
    layout.prop(constraint, "mute", text=text, translate=False, toggle=True)
    return True


def _overriding(reason: Sentence) -> Any:
    """The constraint by which a limb is posed in a refusal; `None` where it is gone."""
    owner = bpy.data.objects.get(str(reason.values["armature"]))
    bone = None if owner is None or owner.pose is None else owner.pose.bones.get(str(reason.values["bone"]))
    return None if bone is None else bone.constraints.get(str(reason.values["constraint"]))


def reason_of(sentence: Sentence) -> Sentence:
    """Return what is wrong with a chain, without the name of the chain before it."""
    reason = sentence.values.get("reason", sentence)
    return reason if isinstance(reason, Sentence) else sentence


def draw_missing_bones(layout: bpy.types.UILayout, sentence: Sentence) -> bool:
    """Draw the bones of the stored chains that a refusal names a missing bone of; return whether it is about one."""
    reason = reason_of(sentence)
    if reason.template != MISSING_BONE:
        return False
    for chain in _chains_with(reason):
        column = layout.column(align=True)
        column.use_property_split = True
        column.use_property_decorate = False
        column.label(text=chain.name, translate=False, icon="BONE_DATA")
        for name in ("upper", "lower", "tip"):
            _draw_bone(column, chain, name)
    return True


def _chains_with(reason: Sentence) -> list[Settings]:
    armature = bpy.data.objects.get(str(reason.values["armature"]))
    chains = armature.twobone.chains if armature is not None else ()
    return [chain for chain in chains if reason.values["bone"] in {chain.upper, chain.lower, chain.tip}]


def is_mended(sentence: Sentence, stored: str = "") -> bool:
    """Whether the remedy of a refusal was taken since: its bone is there, it has a target, or its constraint is muted.

    stored : name of the chain that the refusal is about; empty for the one that it names
    """
    reason = reason_of(sentence)
    if reason.template == MISSING_BONE:
        return not _chains_with(reason)
    if reason.kind == OVERRIDDEN:
        constraint = _overriding(reason)
        return constraint is None or constraint.mute
    if not _lacks_target(reason):
        return False
    chains, name = _active_chains(), stored or str(sentence.values.get("chain", ""))
    meant = [chain for chain in chains if chain.name == name] or chains
    return any(chain.target is not None for chain in meant)


def _active_chains() -> list[Settings]:
    armature = bpy.context.view_layer.objects.active
    return list(armature.twobone.chains) if armature is not None and armature.type == "ARMATURE" else []


def _lacks_target(reason: Sentence) -> bool:
    # A role is named as it stands in its sentence: in the middle of it, or at its beginning.
    is_role = reason.values.get("role", TARGET) in {TARGET, Sentence("Target")}
    return is_role and reason.template in {NOTHING_CHOSEN, LOST, NO_TARGETS, NOT_LISTED}


def draw_set_up(layout: bpy.types.UILayout) -> None:
    """Draw the button that finds the limbs and gives each a target with its motion."""
    layout.operator("twobone.set_up_limbs", icon="ARMATURE_DATA")


def draw_switch_all(layout: bpy.types.UILayout, to: str) -> None:
    """Draw the button that switches every limb of the active armature to FK or IK."""
    text = SWITCH_ALL_TO_FK if to == "FK" else "Switch All Limbs to IK"
    button = layout.operator("twobone.switch", text=text, icon="CON_KINEMATIC")
    button.to, button.scope = to, "ACTIVE"


def draw_show_keys(layout: bpy.types.UILayout) -> None:
    """Draw the button that puts all limbs on FK and keeps the keys there, if one on IK has some, such as those of a retarget."""
    from ..scene.keys.reading import is_rotation_animated
    from .remembering import visible_limb

    on_ik = [chain for chain in _active_chains() if visible_limb(chain).is_on_ik]
    bones = [chain.id_data.pose.bones.get(chain.upper) for chain in on_ik]
    if any(bone is not None and is_rotation_animated(bone) for bone in bones):
        button = layout.operator("twobone.switch", text=SHOW_FK_KEYS, icon="HIDE_OFF")
        button.to, button.scope, button.motion = "FK", "ACTIVE", "KEEP"


SHOW_FK_KEYS = "Show Keys of FK"
"""Label of the button that switches limbs to FK without their motion."""

SWITCH_ALL_TO_FK = "Switch All Limbs to FK"
"""Label of the button, by which sentences name it."""

ON_LIVE = "ON_LIVE"
"""Kind of the refusals of limbs that are live."""

ON_IK = "ON_IK"
"""Kind of the refusals of limbs that IK poses."""

OVERRIDDEN = "OVERRIDDEN"
"""Kind of the refusals of limbs that other constraints pose."""

IN_STRIP, WHOLE_CYCLE, EACH_REPEAT = "IN_STRIP", "WHOLE_CYCLE", "EACH_REPEAT"
"""Kinds of the refusals because of what is played beside keys: a strip of their own helps, keys on a whole cycle, or a nudge
that repeats."""

BESIDE_KEYS = {IN_STRIP: ("destination",), WHOLE_CYCLE: ("frame_range", "frame_start", "frame_end")}
"""Settings of stored chains that help against them."""

TARGET = Sentence("target")
NO_TARGETS = "None of the enabled chains has a target. Add a target to each limb to bake."
