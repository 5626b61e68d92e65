"""The sidebar narrow, usual and wide, at both interface scales, in every language, with a result: pictures to look at.

Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import ctypes
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.gui.walking import LANGUAGES, prepare_leg

TAKES_DRAGS = bpy.app.version >= (5, 0)
"""In older Blenders simulated events do not move a sidebar's edge, so its width is set where Blender keeps it."""

WIDTHS = (180, 260, 400)
SHORTS = 1024
"""Numbers looked through for the width: Blender's record of a region is shorter."""
SHOWN, SIDEBAR, AT_RIGHT = 1, 4, 4
"""Blender's numbers, side by side in that record: whether it is visible, its kind, its alignment; then flags and the width."""


def scenario(user):
    bpy.context.view_layer.objects.active = bpy.data.objects["Rig"]
    view = bpy.context.preferences.view
    view.use_translate_interface = True
    yield from user.open_sidebar("Two-Bone IK")
    bpy.ops.twobone.bake_all()
    for scale, widths in ((1.0, WIDTHS), (2.0, WIDTHS[:1])):
        view.ui_scale = scale
        yield from user.wait(15)
        for width in widths:
            yield from widen(user, int(width * scale))
            yield from user.scroll("UI", "PAGE_DOWN")
            for language in ("en_US", *LANGUAGES):
                view.language = language
                yield from user.open_sidebar(user.region("UI").active_panel_category)
                yield from user.wait(5)
                yield from user.picture(f"width_{width}_at_{scale:g}x_{language}")
            view.language = "en_US"


def widen(user, width):
    """Drag the sidebar's left edge, or put it there."""
    region = user.region("UI")
    y = region.y + region.height // 3
    if TAKES_DRAGS:
        yield from user.drag((region.x + 1, y), (region.x + region.width - width, y))
    else:
        yield from put_edge(user, width)
    yield from user.wait(10)
    assert abs(user.region("UI").width - width) < 20, (user.region("UI").width, width)


def put_edge(user, width):
    region, space = user.region("UI"), user.area().spaces.active
    record = (ctypes.c_short * SHORTS).from_address(region.as_pointer())
    places = [n + 4 for n in range(SHORTS - 4) if record[n : n + 3] == [SHOWN, SIDEBAR, AT_RIGHT]]
    record[places[0]] = round(record[places[0]] * width / region.width)
    space.show_region_ui = False
    yield from user.wait(5)
    space.show_region_ui = True


install_zip()
prepare_leg()
play(scenario)
