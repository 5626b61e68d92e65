"""Operators played without Blender's own instances of them."""

from types import SimpleNamespace

import bpy

from tests.interface.recording import Acting


def playing(operator, **given):
    """An operator as Blender makes it, with the defaults of its properties and what is given."""
    known = getattr(bpy.ops.twobone, operator.bl_idname.partition(".")[2] or operator.bl_idname.partition("_OT_")[2])
    properties = known.get_rna_type().properties
    defaults = {each.identifier: default_of(each) for each in properties if each.identifier != "rna_type"}
    said = []
    bl_rna = SimpleNamespace(properties=properties)
    return Acting(
        operator,
        **{**defaults, **given},
        bl_rna=bl_rna,
        said=said,
        report=lambda kinds, text: said.append((kinds, text)),
        properties=SimpleNamespace(is_property_set=lambda name: name in given, bl_rna=bl_rna),
    )


def default_of(each):
    return [] if each.type == "COLLECTION" else each.default
