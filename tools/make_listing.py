"""Make the icon and the featured image of the page on extensions.blender.org.

    python tools/make_listing.py

Needs the bpy module, to render an example, and Pillow. `--rendered FILE` uses an existing picture instead.
"""

import argparse
import math
import subprocess
import sys
from pathlib import Path

from PIL import Image, ImageDraw

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
ICON, FEATURED = IMAGES / "listing_icon.png", IMAGES / "listing_featured.jpg"
ICON_SIZE, FEATURED_SIZE = 256, (1920, 1080)
RENDERED_WIDTH = 1964
"""Width in pixels; the example's pictures are slightly wider than 16:9."""
FINER = 4
"""Factor by which the icon is drawn larger before it is scaled down."""
QUALITY = 84

DARK, SAND, BLUE, ORANGE = (34, 38, 46), (226, 200, 160), (64, 132, 214), (244, 122, 38)
ROOT_JOINT, TARGET, UPPER, LOWER = (92, 44), (150, 206), 100, 92
"""Positions and lengths in the icon, in pixels."""


def main() -> None:
    """Make both images."""
    parser = argparse.ArgumentParser(description="Make the pictures of the listing.")
    parser.add_argument("--rendered", type=Path, help="a picture that examples/rigify_walk.py has rendered")
    options = parser.parse_args()
    draw_icon().save(ICON, optimize=True)
    featured(options.rendered or rendered()).save(FEATURED, quality=QUALITY, optimize=True, progressive=True)
    print(ICON, FEATURED, sep="\n")


def draw_icon() -> Image.Image:
    """A leg whose foot is on its target."""
    icon = Image.new("RGBA", (ICON_SIZE * FINER, ICON_SIZE * FINER), (0, 0, 0, 0))
    draw = ImageDraw.Draw(icon)
    draw.rounded_rectangle([0, 0, *(side - 1 for side in icon.size)], radius=48 * FINER, fill=DARK)
    disc(draw, ROOT_JOINT, UPPER + LOWER - 8, None, outline=BLUE)
    for start, end in ((ROOT_JOINT, knee()), (knee(), TARGET)):
        draw.line([scaled(start), scaled(end)], fill=SAND, width=26 * FINER)
    for place in (ROOT_JOINT, knee()):
        disc(draw, place, 20, SAND)
        disc(draw, place, 9, DARK)
    disc(draw, TARGET, 26, ORANGE)
    return icon.resize((ICON_SIZE, ICON_SIZE), Image.Resampling.LANCZOS)


def knee() -> tuple[float, float]:
    """The intersection of the circles around root and target, to the right of the line from root to target."""
    (x, y), (far_x, far_y) = ROOT_JOINT, TARGET
    distance = math.dist(ROOT_JOINT, TARGET)
    along = (UPPER**2 - LOWER**2 + distance**2) / (2 * distance)
    away = math.sqrt(UPPER**2 - along**2)
    right, down = (far_x - x) / distance, (far_y - y) / distance
    return x + along * right + away * down, y + along * down - away * right


def disc(
    draw: ImageDraw.ImageDraw,
    centre: tuple[float, float],
    radius: float,
    fill: tuple[int, int, int] | None,
    outline: tuple[int, int, int] | None = None,
) -> None:
    """Draw a filled disc, or a ring."""
    (x, y), size = scaled(centre), radius * FINER
    draw.ellipse([x - size, y - size, x + size, y + size], fill=fill, outline=outline, width=5 * FINER)


def scaled(place: tuple[float, float]) -> tuple[float, float]:
    """A position in the large drawing."""
    return place[0] * FINER, place[1] * FINER


def rendered() -> Path:
    """Render the walk again, and return the picture's path."""
    folder = ROOT / "build" / "listing"
    command = [sys.executable, str(ROOT / "examples" / "rigify_walk.py"), "--width", str(RENDERED_WIDTH), "--output", str(folder)]
    subprocess.run(command, check=True)
    return folder / "walk.png"


def featured(source: Path) -> Image.Image:
    """The centre of a picture, cropped to the size of a featured image."""
    picture = Image.open(source).convert("RGB")
    width, height = FEATURED_SIZE
    left, top = (picture.width - width) // 2, (picture.height - height) // 2
    if min(left, top) < 0:
        sys.exit(f"{source} is smaller than {width} x {height}. Render it at least {RENDERED_WIDTH} pixels wide.")
    return picture.crop((left, top, left + width, top + height))


if __name__ == "__main__":
    main()
