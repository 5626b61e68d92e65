"""Data paths are written without Blender as Blender writes them."""

import bpy
from hypothesis import example, given
from hypothesis import strategies as st

from twobone_addon.scene.bones import escaped


@given(name=st.text(alphabet=st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=40))
@example(name='a"b\\c\t\n\r\a\b\f')
@example(name="Schl\u00fcssel.L")
def test_a_name_stands_in_a_path_as_blender_puts_it_there(name):
    assert escaped(name) == bpy.utils.escape_identifier(name)
