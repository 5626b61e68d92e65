"""Every button of the sidebar is pressed once on a walk, and undone once: the file is as it was before. F1 opens its help.

Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import re
import sys
import webbrowser
from pathlib import Path
from urllib.parse import unquote, urlparse

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.gui.noticing import differences, state
from tests.gui.walking import prepare_walk

PATIENCE = 1000
"""Steps for a button's work."""

UNTIL_TOLD = ("bpy.ops.twobone.drag", "bpy.ops.twobone.nudge")
"""These go on until they are told to stop."""


def prepare():
    prepare_walk(48)
    bpy.context.scene.frame_set(7)
    bpy.ops.ed.undo_push(message="Made")


HELP_OF = {
    "bake(": "4. Bake",
    "plant(": "Plant the feet",
    "clear_baked(": "What is written",
    "live(": "3. Animate the target",
    "nudge(": "Nudge",
}
"""What F1 over a button is to show: the heading, by how the button's call begins."""


def headings_opened(user, buttons):
    """The heading on the installed page that F1 opens, by button."""
    opened = []
    webbrowser.open = lambda address, *_: opened.append(address)
    for name in HELP_OF:
        command = next(each for each in buttons if each.startswith(f"bpy.ops.twobone.{name}"))
        yield from user.find_button(command, buttons[command])
        yield from user.press("F1")
        yield from user.wait(10)
    pages = {unquote(urlparse(address).path) for address in opened}
    assert len(pages) == 1, opened
    text = Path(pages.pop()).read_text(encoding="utf-8")
    headings = dict(re.findall(r'<h\d id="([^"]+)">([^<]+)<', text))
    return {name: headings[urlparse(address).fragment] for name, address in zip(HELP_OF, opened, strict=True)}


def is_busy(user):
    return any("TWOBONE" in operator.bl_idname for operator in user.window.modal_operators)


def scenario(user):
    yield from user.look_from("RIGHT")
    yield from user.open_sidebar("Two-Bone IK")
    yield from user.wait(20)
    buttons = yield from user.buttons()
    opened = yield from headings_opened(user, buttons)
    assert opened == HELP_OF, opened
    changing, wrong = set(), []
    for command, part in buttons.items():
        before = state()
        yield from user.click(*(yield from user.find_button(command, part)))
        yield from user.wait(10)
        for _ in range(PATIENCE):
            if not is_busy(user) or command.startswith(UNTIL_TOLD):
                break
            yield
        if is_busy(user) or not differences(before):
            yield from user.press("ESC")  # a dialog, or what goes on until it is told to stop
            yield from user.wait(10)
        if differences(before):
            changing.add(command.partition("(")[0].rpartition(".")[2])
            yield from user.hover("WINDOW")
            yield from user.press("Z", ctrl=True)
            yield from user.wait(15)
        left = differences(before)
        if left:
            wrong.append((command, left[:3]))
    assert not wrong, wrong
    missing = {"add_pole", "bake", "bake_all", "chain_move", "chain_remove", "clear_baked", "flip", "plant"} - changing
    assert not missing, f"{missing} changed nothing; the buttons are {buttons}"


install_zip()
prepare()
play(scenario)
