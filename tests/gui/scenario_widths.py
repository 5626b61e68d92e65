"""The sidebar narrow, usual and wide, at both interface scales, in every language, with a result: pictures to look at.

Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.gui.walking import LANGUAGES, prepare_leg

TAKES_DRAGS = bpy.app.version >= (5, 0)
"""Older Blenders do not take a simulated drag of a sidebar's edge, so in them it is seen as wide as it opens."""

WIDTHS = (180, 260, 400) if TAKES_DRAGS else (280,)


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
            if TAKES_DRAGS:
                yield from widen(user, int(width * scale))
            yield from user.scroll("UI", "PAGE_DOWN")
            for language in ("en_US", *LANGUAGES):
                view.language = language
                yield from user.open_sidebar(user.region("UI").active_panel_category)
                yield from user.wait(5)
                yield from user.picture(f"width_{width}_at_{scale:g}x_{language}")
            view.language = "en_US"


def widen(user, width):
    """Drag the sidebar's left edge."""
    region = user.region("UI")
    y = region.y + region.height // 3
    yield from user.drag((region.x + 1, y), (region.x + region.width - width, y))
    yield from user.wait(10)
    assert abs(user.region("UI").width - width) < 20, (user.region("UI").width, width)


install_zip()
prepare_leg()
play(scenario)
