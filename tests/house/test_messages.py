"""Every sentence with which the add-on refuses something is on the page of messages."""

from string import Formatter

import pytest

pytest.importorskip("bpy")

from tools import make_docs
from tools.message_notes import HEADINGS, NOTES
from tools.messages import messages
from twobone_addon.said import Sentence


def test_the_page_has_every_message_and_no_other():
    page = make_docs.MESSAGES_PAGE.read_text(encoding="utf-8")
    lost = [f"{message.path}: {message.text}" for message in messages() if f"`{message.text}`" not in page]
    assert not lost, "run: python tools/make_docs.py"
    assert make_docs.messages_page() == page, "run: python tools/make_docs.py"


def test_every_kind_of_message_has_a_heading():
    assert {message.kind for message in messages()} <= set(HEADINGS)


def test_what_is_added_belongs_to_a_message_that_there_is():
    assert set(NOTES) <= {message.text for message in messages()}


def test_every_message_can_be_filled_in():
    """A sentence refuses formats that could ask for a lot of memory; none of ours may be among them."""
    for message in messages():
        fields = [(name, spec) for _, name, spec, _ in Formatter().parse(message.text) if name and name.isidentifier()]
        specs = {spec for _, spec in fields if spec}
        template = " ".join(f"{{value:{spec}}}" for spec in specs)
        assert Sentence(template, {"value": 1234.5}).text() == " ".join(format(1234.5, spec) for spec in specs), message.text
