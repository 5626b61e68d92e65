"""The text and the pictures for the page on the extensions platform: of the right size, and true."""

import re
import struct

import pytest

from tests.house.source import ROOT
from tools.build_zip import read_manifest

PAGE = ROOT / "docs" / "listing.md"
IMAGES = ROOT / "docs" / "images"
ICON, FEATURED = "listing_icon.png", "listing_featured.jpg"
SIZE_MARKERS = range(0xC0, 0xC3)
"""Of a JPEG's baseline, extended and progressive frames, which say how large it is."""


@pytest.fixture(scope="module")
def listing():
    return PAGE.read_text(encoding="utf-8").split("<!-- listing start -->")[1].split("<!-- listing end -->")[0]


def test_the_icon_and_the_featured_image_have_the_platforms_sizes():
    assert png_size((IMAGES / ICON).read_bytes()) == (256, 256)
    assert jpeg_size((IMAGES / FEATURED).read_bytes()) == (1920, 1080)
    page = PAGE.read_text(encoding="utf-8")
    assert f"(images/{ICON})" in page
    assert f"(images/{FEATURED})" in page


def png_size(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", data[16:24])


def jpeg_size(data):
    assert data[:2] == b"\xff\xd8"
    at = 2
    while data[at + 1] not in SIZE_MARKERS:
        at += 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
    height, width = struct.unpack(">HH", data[at + 5 : at + 9])
    return width, height


def test_the_text_names_what_the_permission_is_for(listing):
    assert set(read_manifest()["permissions"]) == {"files"}
    for named in ("permission to use files", "job files", "reports", "summaries", "presets", "processes", "temporary folder"):
        assert named in " ".join(listing.split()), named
    assert "no network access, no clipboard access" in " ".join(listing.split())


def test_the_text_names_the_blenders_that_are_tested(listing):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (tested,) = re.findall(r"tested with ([\d., and]+) on Linux", readme)
    assert f"with Blender {tested}." in " ".join(listing.split())


def test_the_text_stands_alone(listing):
    """Links and pictures of the pages lead nowhere from there."""
    assert not re.search(r"\]\(", listing)
