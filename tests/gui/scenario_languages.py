"""The sidebar in every language: Blender shows the translations, also of what a bake says.

Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.gui.walking import LANGUAGES, prepare_leg

REASON = "Every frame of the last bake was in reach"
RESULT = "{upper} to {lower}: {keys} keys on {curves} curves"


def refusal():
    """What pressing Make Markers says before there is a bake."""
    try:
        bpy.ops.twobone.make_markers()
    except RuntimeError as error:
        return str(error)
    raise AssertionError("markers were made of nothing")


def scenario(user):
    view = bpy.context.preferences.view
    view.use_translate_interface = view.use_translate_tooltips = view.use_translate_reports = True
    yield from user.open_sidebar("Two-Bone IK")
    for language in LANGUAGES:
        view.language = language
        yield from user.wait(20)
        name = bpy.app.translations.pgettext_iface("Bake Two-Bone IK", "Operator")
        assert name != "Bake Two-Bone IK", f"{language} is not translated"
        assert REASON not in refusal(), f"{language}: a button that cannot be pressed says why in English"
        assert bpy.app.translations.pgettext_rpt(RESULT) != RESULT, f"{language}: results are in English"
        yield from user.picture(f"language_{language}")
    yield from bake_in_german(user)


def bake_in_german(user):
    """The status bar and the panel tell of a bake in German, and no label of the redo panel is too long for its column."""
    bpy.context.preferences.view.language = "de_DE"
    yield from user.wait(10)
    yield from user.click(*(yield from user.find_button("bpy.ops.twobone.bake(")))
    yield from user.wait(10)
    said = (yield from user.told())[-1]
    assert "auf dem Ziel" in said, said
    region = user.region("HUD")
    yield from user.click(region.x + 16, region.y + region.height - 12)
    yield from user.wait(10)
    yield from user.picture("german_bake")
    print("was to be said: auf dem Ziel", flush=True)


install_zip()
prepare_leg()
play(scenario)
