"""The way from Blender to the documentation, which is installed with the extension."""

import re
from pathlib import Path
from urllib.parse import unquote, urlparse

import bpy
import pytest

from tools import make_help
from twobone_addon.interface.sidebar.menus import DOCUMENTATION, SECTIONS

PAGE = make_help.HELP.read_text(encoding="utf-8")
ANCHORS = set(re.findall(r' id="([^"]+)"', PAGE))


@pytest.mark.parametrize(
    "asked, section",
    [
        ("bpy.ops.twobone.bake", "4. Bake"),
        ("bpy.ops.twobone.plant", "Plant the feet"),
        ("bpy.ops.twobone.nudge", "Nudge"),
        ("bpy.ops.twobone.switch", "Switch between FK and IK"),
        ("bpy.ops.twobone.find_limbs", "Find Limbs"),
        ("bpy.types.twobonechain.bend", "Sides"),
    ],
)
def test_online_manual_on_a_button_or_a_setting_opens_its_section(empty_file, asked, section):
    address = urlparse(bpy.types.WM_OT_doc_view_manual._lookup_rna_url(asked, verbose=False))
    assert address.scheme == "file"
    assert Path(unquote(address.path)).name == make_help.HELP.name
    assert re.search(rf'<h[1-3] id="{address.fragment}">([^<]+)<', PAGE)[1] == section


def test_every_operator_leads_to_the_page(empty_file):
    names = [name for name in dir(bpy.ops.twobone) if not name.startswith("_")]
    assert names
    for name in names:
        address = bpy.types.WM_OT_doc_view_manual._lookup_rna_url(f"bpy.ops.twobone.{name}", verbose=False)
        assert address.startswith(DOCUMENTATION)
        assert urlparse(address).fragment in ANCHORS or name.startswith("live_keys_"), name


def test_every_setting_of_a_chain_leads_to_a_section(empty_file):
    for name in bpy.types.Object.bl_rna.properties["twobone"].fixed_type.properties["chains"].fixed_type.properties.keys():  # noqa: SIM118
        address = bpy.types.WM_OT_doc_view_manual._lookup_rna_url(f"bpy.types.twobonechain.{name}", verbose=False)
        assert urlparse(address).fragment in ANCHORS, name


def test_every_section_and_every_link_inside_the_page_is_there():
    assert not {section for _, section in SECTIONS} - ANCHORS
    assert not set(re.findall(r'href="#([^"]+)"', PAGE)) - ANCHORS
