"""Make the pictures of the documentation: run every example, shrink what it renders, take over what the window tests saw.

    nox -s pictures

Needs the bpy module and Pillow. With `--window build/pictures` the pictures of Blender's window that `nox -s window_tests` has
left there are taken over; without, those in `docs/images` stay.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
RENDERED = ROOT / "build" / "rendered"
EXAMPLES = ("demo", "quickstart_leg", "excavator", "cutout_character", "crowd", "convert_ik_rig")
WINDOW = {
    "empty_list": "first_bake_start",
    "target_added": "first_bake_target",
    "two_clicks": "first_bake_end",
    "overlay": "overlay",
}
"""Names of the window tests' pictures, and what they are called in the documentation."""
QUALITY = 86
WINDOW_COLOURS = 128
FILM_COLOURS, FILM_FRAME_MILLISECONDS = 64, 120


def main() -> None:
    """Make those asked for, or all."""
    parser = argparse.ArgumentParser(description="Make the pictures of the documentation.")
    parser.add_argument("examples", nargs="*", metavar="EXAMPLE", help="only these; default: all there are")
    parser.add_argument("--window", type=Path, help="folder of the window tests' pictures")
    options = parser.parse_args()
    RENDERED.mkdir(parents=True, exist_ok=True)
    for name in options.examples or EXAMPLES:
        script = ROOT / "examples" / f"{name}.py"
        if script.is_file():
            subprocess.run([sys.executable, str(script), "--output", str(RENDERED), "--film"], check=True)
    for path in sorted(RENDERED.glob("*.png")):
        if not path.stem[-3:].isdigit():
            shrink(path, IMAGES / f"{path.stem}.jpg")
    join_film("quickstart_leg")
    for name, called in WINDOW.items() if options.window else ():
        Image.open(options.window / f"{name}.png").convert("P", palette=Image.Palette.ADAPTIVE, colors=WINDOW_COLOURS).save(
            IMAGES / f"{called}.png", optimize=True
        )


def shrink(source: Path, goal: Path) -> None:
    """A rendered picture as a small JPEG."""
    Image.open(source).convert("RGB").save(goal, quality=QUALITY, optimize=True, progressive=True)
    print(goal)


def join_film(name: str) -> None:
    """Numbered pictures as one GIF that plays for ever."""
    frames = [Image.open(path).convert("RGB") for path in sorted(RENDERED.glob(f"{name}_[0-9][0-9][0-9].png"))]
    if frames:
        palette = frames[0].quantize(FILM_COLOURS)
        first, *rest = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
        goal = IMAGES / f"{name}.gif"
        first.save(goal, save_all=True, append_images=rest, duration=FILM_FRAME_MILLISECONDS, loop=0, optimize=True)
        print(goal)


if __name__ == "__main__":
    main()
