"""Every sentence with which the add-on refuses something is on the troubleshooting page."""

import json
import re

from tools import make_docs
from tools.message_notes import HEADINGS, NOTES
from tools.messages import GAP, PACKAGE, messages

TRANSLATIONS = PACKAGE / "interface" / "translations"
IN_ENGLISH = ("command_line", "solver", "curves")
"""A terminal and scripts are spoken to in English; solver and curves refuse only what scripts give them directly."""


def test_the_page_has_every_message_and_no_other():
    page = make_docs.MESSAGES_PAGE.read_text(encoding="utf-8")
    lost = [f"{message.path}: {message.text}" for message in messages() if f"`{message.text}`" not in page]
    assert not lost, "run: python tools/make_docs.py"
    assert make_docs.messages_page() == page, "run: python tools/make_docs.py"


def test_every_kind_of_message_has_a_heading():
    assert {message.kind for message in messages()} <= set(HEADINGS)


def test_what_is_added_belongs_to_a_message_that_there_is():
    assert set(NOTES) <= {message.text for message in messages()}


def test_what_the_interface_refuses_is_translated():
    templates = json.loads((TRANSLATIONS / "sentences" / "de_DE.json").read_text(encoding="utf-8"))
    known = {re.sub(rf"(\{{\d\}}|{GAP})+", GAP, template) for template in templates}
    known |= set(json.loads((TRANSLATIONS / "de_DE.json").read_text(encoding="utf-8")))
    shown = [each for each in messages() if each.path.split("/")[1] not in IN_ENGLISH]
    lost = [f"{each.path}: {each.text}" for each in shown if each.text not in known and not _with_role(each.text) & known]
    assert not lost, "add them to interface/translations/sentences"


def _with_role(text):
    """The same sentence of each role that has words of its own."""
    return {text.replace(GAP, role, 1) for role in ("Upper bone", "Target", "Armature")} | {text.replace("Armature", GAP, 1)}
