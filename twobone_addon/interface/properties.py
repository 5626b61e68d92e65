"""What the add-on stores: chains on the armature object, the last report on the window manager."""

import bpy

from ..settings import OPTIONS, BakeSettings, Kind
from .option_properties import stored_properties, with_properties


@with_properties(stored_properties())
class TwoBoneChain(bpy.types.PropertyGroup):
    """A chain kept on its armature, with every setting of its bake."""

    name: bpy.props.StringProperty(name="Name", description="Name of the chain in the list")
    enabled: bpy.props.BoolProperty(name="Enabled", description="Bake this chain with Bake All", default=True)


class TwoBoneArmature(bpy.types.PropertyGroup):
    """All that the add-on keeps on an armature object."""

    chains: bpy.props.CollectionProperty(type=TwoBoneChain)
    active_index: bpy.props.IntProperty(name="Active Chain", default=0)


def active_chain(armature: bpy.types.Object | None) -> TwoBoneChain | None:
    """The chain that is active in the list of this armature."""
    if armature is None or armature.type != "ARMATURE":
        return None
    stored = armature.twobone
    return stored.chains[stored.active_index] if 0 <= stored.active_index < len(stored.chains) else None


def stored_values(armature: bpy.types.Object, chain: TwoBoneChain) -> dict[str, object]:
    """What a stored chain holds, as operators and `BakeSettings` take it: objects by name."""
    values: dict[str, object] = {"armature": armature.name}
    for option in OPTIONS:
        if option.name == "armature":
            continue
        value = getattr(chain, option.name)
        if option.kind is Kind.OBJECT:
            value = value.name if value else ""
        values[option.name] = value
    return values


def stored_settings(armature: bpy.types.Object, chain: TwoBoneChain) -> BakeSettings:
    """The settings of a stored chain; raises `SettingError`."""
    return BakeSettings(**stored_values(armature, chain))


CLASSES = (TwoBoneChain, TwoBoneArmature)


def register() -> None:
    """Add the properties to Blender's types."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Object.twobone = bpy.props.PointerProperty(type=TwoBoneArmature)
    bpy.types.WindowManager.twobone_report = bpy.props.StringProperty(
        name="Two-Bone IK Report", description="Report of the last bake, as JSON", options={"SKIP_SAVE"}
    )


def unregister() -> None:
    """Take them away again; what is stored in files stays in them."""
    del bpy.types.WindowManager.twobone_report
    del bpy.types.Object.twobone
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
