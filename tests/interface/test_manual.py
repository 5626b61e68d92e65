"""The way from Blender to the documentation."""

from urllib.parse import urlparse

import bpy
import pytest

from twobone_addon.interface.sidebar.menus import DOCUMENTATION


@pytest.mark.parametrize("asked", ["bpy.ops.twobone.bake", "bpy.ops.twobone.chain_add", "bpy.types.twobonechain.bend"])
def test_online_manual_on_a_button_or_a_setting_opens_our_page(empty_file, asked):
    found = bpy.types.WM_OT_doc_view_manual._lookup_rna_url(asked, verbose=False)
    assert found == DOCUMENTATION


def test_the_address_is_one_that_a_browser_opens():
    parts = urlparse(DOCUMENTATION)
    assert parts.scheme == "https"
    assert "." in parts.netloc
    assert parts.path.endswith("/twobone/")
    assert not parts.query
