"""Properties that the add-on stores: chains and display on the armature object, the last report on the window manager.

Only settings have a Python callback, and not before 5.0, where limbs can be live: Blender 4.2 as a module would crash at exit.
"""

import math

import bpy

from ...scene.live.marks import can_go_live
from .live_limbs import setting_changed
from .option_properties import CONTEXT, OVERRIDABLE, stored_properties, with_properties

FREE = {"options": set(), "override": OVERRIDABLE}
"""Arguments of a property that is overridable but not animatable."""


LIMBS = (
    ("NONE", "None", "Neither leg nor arm, or unknown"),
    ("LEG", "Leg", "A leg that stands on the ground"),
    ("ARM", "Arm", "An arm"),
)

SIDES = (
    ("CENTER", "Center", "On neither side of the body, or unknown"),
    ("LEFT", "Left", "On the character's left side"),
    ("RIGHT", "Right", "On the character's right side"),
)


CONTACTS = (
    ("NONE", "None", "The foot is in the air", 0),
    ("HEEL", "Heel", "The heel is on the ground", 1),
    ("BALL", "Ball", "The ball of the foot is on the ground", 2),
    ("BOTH", "Both", "Heel and ball are on the ground: the foot lies flat", 3),
)
"""Enum items of `contact`; files and F-Curves store the numbers."""


class TwoBoneLimit(bpy.types.PropertyGroup):
    """Limits of one joint of a chain in which every bone bends"""

    minimum: bpy.props.FloatProperty(
        name="Minimum",
        description="Smallest rotation of the first bone from rest. "
        "For other bones, smallest angle between the link and the previous one",
        default=-math.pi,
        subtype="ANGLE",
        **FREE,
    )
    maximum: bpy.props.FloatProperty(
        name="Maximum",
        description="Largest rotation of the first bone from rest. "
        "For other bones, largest angle between the link and the previous one",
        default=math.pi,
        subtype="ANGLE",
        **FREE,
    )


@with_properties(stored_properties(setting_changed if can_go_live() else None))
class TwoBoneChain(bpy.types.PropertyGroup):
    """A chain kept on its armature, with every setting of its bake."""

    name: bpy.props.StringProperty(
        name="Name",
        description="Name of the chain in the list",
        options=set(),
        override=OVERRIDABLE,
    )
    enabled: bpy.props.BoolProperty(
        name="Enabled", description="Bake this chain with Bake All", default=True, options=set(), override=OVERRIDABLE
    )
    lost_target: bpy.props.StringProperty(
        name="Lost Target",
        description="Name of the target that was deleted, while the chain has no other",
        options={"HIDDEN"},
        override=OVERRIDABLE,
    )
    live: bpy.props.BoolProperty(
        name="Live",
        description="Whether the chain followed its target in the add-on's own way, as it did up to version 4",
        options={"HIDDEN"},
    )
    limb: bpy.props.EnumProperty(
        name="Limb",
        description="Which kind of limb the chain is",
        items=LIMBS,
        translation_context=CONTEXT,
        **FREE,
    )
    side: bpy.props.EnumProperty(
        name="Side",
        description="Side of the character that the chain is on",
        items=SIDES,
        translation_context=CONTEXT,
        **FREE,
    )
    toe: bpy.props.StringProperty(
        name="Toe", description="Bone of the toes, or of whatever part of the foot bends on the ground", **FREE
    )
    contact: bpy.props.EnumProperty(
        name="Contact",
        description="Which part of the foot is on the ground at this frame. Key it by hand, or use Find Contacts",
        items=CONTACTS,
        options={"ANIMATABLE"},
        override=OVERRIDABLE,
        translation_context=CONTEXT,
    )
    found_contacts: bpy.props.StringProperty(
        name="Found Contacts",
        description="Contacts as they were found last, as JSON, to tell what was edited since",
        options={"HIDDEN"},
        override=OVERRIDABLE,
    )
    limits: bpy.props.CollectionProperty(
        type=TwoBoneLimit,
        name="Joint Limits",
        description="Per-joint limits, used when Joints is All. If empty, the upper and lower limits apply",
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )
    report: bpy.props.StringProperty(
        name="Report", description="Report of this chain's last bake, as JSON", options={"HIDDEN"}, override=OVERRIDABLE
    )


class TwoBoneArmature(bpy.types.PropertyGroup):
    """All that the add-on keeps on an armature object."""

    chains: bpy.props.CollectionProperty(type=TwoBoneChain, name="Chains", override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
    plantings: bpy.props.StringProperty(
        name="Plantings",
        description="What Plant Feet was to do, as JSON, to begin anew when that is something else",
        options={"HIDDEN"},
        override=OVERRIDABLE,
    )
    planted: bpy.props.StringProperty(
        name="Planted", description="What Plant Feet said last, as JSON", options={"HIDDEN"}, override=OVERRIDABLE
    )
    said: bpy.props.StringProperty(
        name="Last Result",
        description="Sentence of the last task, kept where the status bar is not enough and no other panel shows it",
        options={"HIDDEN"},
        override=OVERRIDABLE,
    )
    active_index: bpy.props.IntProperty(name="Active Chain", description="Chain shown in the panel", default=0, **FREE)
    show_overlay: bpy.props.BoolProperty(
        name="Overlay", description="Show the active chain's plane and reach in the 3D viewport", default=True, **FREE
    )
    show_plane: bpy.props.BoolProperty(
        name="Plane", description="Show the plane through the root joint, with its axes", default=True, **FREE
    )
    show_reach: bpy.props.BoolProperty(name="Reach", description="Show the area the tip can reach", default=True, **FREE)
    show_solutions: bpy.props.BoolProperty(
        name="Solutions", description="Show both bend directions. The chosen one is brighter", default=True, **FREE
    )
    show_path: bpy.props.BoolProperty(
        name="Paths",
        description="Show the motion paths of target and tip, coloured by whether the target is in reach",
        default=True,
        **FREE,
    )
    show_footprints: bpy.props.BoolProperty(
        name="Footprints",
        description="Show where the feet stand, with the frames of each contact",
        default=True,
        **FREE,
    )
    show_in_front: bpy.props.BoolProperty(name="In Front", description="Draw through other objects", default=True, **FREE)

    show_gizmos: bpy.props.BoolProperty(
        name="Gizmos", description="Show handles next to the knee and the tip, to flip and drag the chain", default=True, **FREE
    )


CLASSES = (TwoBoneLimit, TwoBoneChain, TwoBoneArmature)


def register() -> None:
    """Register the property groups, and add the properties to Blender's types."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Object.twobone = bpy.props.PointerProperty(type=TwoBoneArmature, name="Two-Bone IK", override=OVERRIDABLE)
    bpy.types.Action.twobone_replaced = bpy.props.StringProperty(
        name="Replaced Keys", description="Keys that were replaced, packed. Clear Baked Keys puts them back", options={"HIDDEN"}
    )
    bpy.types.Action.twobone_nudges = bpy.props.StringProperty(
        name="Nudges", description="Nudges of limbs, by slot and upper bone, as JSON", options={"HIDDEN"}
    )
    bpy.types.WindowManager.twobone_audit = bpy.props.StringProperty(
        name="Last Audit", description="Report of the last audit, as JSON", options={"SKIP_SAVE"}
    )
    bpy.types.WindowManager.twobone_report = bpy.props.StringProperty(
        name="Two-Bone IK Report", description="Report of the last bake, as JSON", options={"SKIP_SAVE"}
    )


def unregister() -> None:
    """Remove the properties, and unregister the groups; values already saved in files remain there."""
    del bpy.types.WindowManager.twobone_audit
    del bpy.types.WindowManager.twobone_report
    del bpy.types.Action.twobone_nudges
    del bpy.types.Action.twobone_replaced
    del bpy.types.Object.twobone
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
