"""Every sentence with which the add-on refuses something is on the troubleshooting page."""

from tools import make_docs
from tools.message_notes import HEADINGS, NOTES
from tools.messages import messages


def test_the_page_has_every_message_and_no_other():
    page = make_docs.MESSAGES_PAGE.read_text(encoding="utf-8")
    lost = [f"{message.path}: {message.text}" for message in messages() if f"`{message.text}`" not in page]
    assert not lost, "run: python tools/make_docs.py"
    assert make_docs.messages_page() == page, "run: python tools/make_docs.py"


def test_every_kind_of_message_has_a_heading():
    assert {message.kind for message in messages()} <= set(HEADINGS)


def test_what_is_added_belongs_to_a_message_that_there_is():
    assert set(NOTES) <= {message.text for message in messages()}
