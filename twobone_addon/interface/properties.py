"""What the add-on stores: chains and display on the armature object, the last report on the window manager.

No property has a callback in Python: Blender 4.2 as a module crashes at its end where one has.
"""

import math

import bpy

from .option_properties import OVERRIDABLE, stored_properties, with_properties

FREE = {"options": set(), "override": OVERRIDABLE}
"""Stored, overridable, not animatable."""


class TwoBoneLimit(bpy.types.PropertyGroup):
    """Limits of one joint of a chain in which every bone bends"""

    minimum: bpy.props.FloatProperty(
        name="Minimum",
        description="Smallest turn of the first bone from rest; of any other, smallest angle between its link and the one before",
        default=-math.pi,
        subtype="ANGLE",
        **FREE,
    )
    maximum: bpy.props.FloatProperty(
        name="Maximum",
        description="Largest turn of the first bone from rest; of any other, largest angle between its link and the one before",
        default=math.pi,
        subtype="ANGLE",
        **FREE,
    )


@with_properties(stored_properties())
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
    limits: bpy.props.CollectionProperty(
        type=TwoBoneLimit,
        name="Joint Limits",
        description="Limits of each joint where all joints bend; empty for those of upper and lower bone",
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )
    report: bpy.props.StringProperty(
        name="Report", description="Report of this chain's last bake, as JSON", options={"HIDDEN"}, override=OVERRIDABLE
    )


class TwoBoneArmature(bpy.types.PropertyGroup):
    """All that the add-on keeps on an armature object."""

    chains: bpy.props.CollectionProperty(type=TwoBoneChain, name="Chains", override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
    active_index: bpy.props.IntProperty(name="Active Chain", description="Chain shown in the panel", default=0, **FREE)
    show_overlay: bpy.props.BoolProperty(
        name="Overlay", description="Show the active chain's plane and reach in the 3D viewport", default=True, **FREE
    )
    show_plane: bpy.props.BoolProperty(
        name="Plane", description="Show the plane through the root joint, with its axes", default=True, **FREE
    )
    show_reach: bpy.props.BoolProperty(
        name="Reach", description="Show where the tip can be: from the folded to the straight chain", default=True, **FREE
    )
    show_solutions: bpy.props.BoolProperty(
        name="Solutions", description="Show the chain bent to either side, the chosen side stronger", default=True, **FREE
    )
    show_path: bpy.props.BoolProperty(
        name="Paths", description="Show the ways of target and tip over the range, coloured by reach", default=True, **FREE
    )
    show_in_front: bpy.props.BoolProperty(name="In Front", description="Draw through other objects", default=True, **FREE)


CLASSES = (TwoBoneLimit, TwoBoneChain, TwoBoneArmature)


def register() -> None:
    """Add the properties to Blender's types."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Object.twobone = bpy.props.PointerProperty(type=TwoBoneArmature, name="Two-Bone IK", override=OVERRIDABLE)
    bpy.types.WindowManager.twobone_report = bpy.props.StringProperty(
        name="Two-Bone IK Report", description="Report of the last bake, as JSON", options={"SKIP_SAVE"}
    )


def unregister() -> None:
    """Take them away again; what is stored in files stays in them."""
    del bpy.types.WindowManager.twobone_report
    del bpy.types.Object.twobone
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
