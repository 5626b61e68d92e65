"""Make the pictures of the documentation: run every example, shrink its renders, take over pictures of the window tests.

    nox -s pictures

Needs the bpy module and Pillow. `--window build/pictures` takes over the pictures of Blender's window that
`nox -s window_tests` has left there; without it, those in `docs/images` stay.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
RENDERED = ROOT / "build" / "rendered"
EXAMPLES = ("demo", "planted_walk", "rigify_walk", "quickstart_leg", "excavator", "cutout_character", "crowd", "convert_ik_rig")
UNUSED = {"footprints", "moments", "slide", "quickstart_leg", "walk"}
"""Renders that no page shows, most because another example or a film shows the same."""
SCRIPTS = {"recipes": "make_recipe_pictures.py", "stories": "make_story_figures.py"}
"""Pictures that do not come from an example but from a script in this folder."""
FILMS = ("walk", "quickstart_leg")
STACKED = {"planted_walk": (("sliding", "before: the feet slide", "#e8590c"), ("standing", "after Plant Feet", "#1e5fb4"))}
"""Films shown one below the other; for each its name, caption and colour."""
WINDOW = ("first_bake_start", "first_bake_target", "first_bake_end", "first_bake_out_of_reach")
"""Pictures that a window test takes for the documentation."""
QUALITY = 86
COLOURS, FILM_FRAME_MILLISECONDS, STACKED_FRAME_MILLISECONDS = 256, 80, 80
WORDS_SIZE, EDGE = 24, 14


def main() -> None:
    """Make the pictures named on the command line, or all."""
    parser = argparse.ArgumentParser(description="Make the pictures of the documentation.")
    parser.add_argument("examples", nargs="*", metavar="EXAMPLE", help="only these; default: all there are")
    parser.add_argument("--window", type=Path, help="folder of the window tests' pictures")
    options = parser.parse_args()
    RENDERED.mkdir(parents=True, exist_ok=True)
    for name in options.examples or (*EXAMPLES, *SCRIPTS):
        if name in SCRIPTS:
            subprocess.run([sys.executable, str(ROOT / "tools" / SCRIPTS[name])], check=True)
        else:
            run(name, "--output", str(RENDERED), "--film")
    for path in sorted(RENDERED.glob("*.png")):
        if not path.stem[-3:].isdigit() and path.stem not in UNUSED:
            shrink(path, IMAGES / f"{path.stem}.jpg")
    for name in FILMS:
        join(frames_of(name), IMAGES / f"{name}.gif", FILM_FRAME_MILLISECONDS)
    for name, parts in STACKED.items():
        below_one_another = zip(
            *([worded(frame, text, colour) for frame in frames_of(part)] for part, text, colour in parts), strict=True
        )
        join([stack(frames) for frames in below_one_another], IMAGES / f"{name}.gif", STACKED_FRAME_MILLISECONDS)
    for name in WINDOW if options.window else ():
        taken = Image.open(options.window / f"{name}.png").convert("RGB")
        taken.quantize(palette=palette_of([taken]), dither=Image.Dither.NONE).save(IMAGES / f"{name}.png", optimize=True)


def run(example: str, *arguments: str) -> str:
    """Run an example and return its terminal output."""
    command = [sys.executable, str(ROOT / "examples" / f"{example}.py"), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8").stdout


def shrink(source: Path, goal: Path) -> None:
    """Save a rendered picture as a small JPEG."""
    Image.open(source).convert("RGB").save(goal, quality=QUALITY, optimize=True, progressive=True)
    print(goal)


def frames_of(name: str) -> list[Image.Image]:
    """The numbered pictures of a film, in order."""
    return [Image.open(path).convert("RGB") for path in sorted(RENDERED.glob(f"{name}_[0-9][0-9][0-9].png"))]


def worded(frame: Image.Image, text: str, colour: str) -> Image.Image:
    """The frame with text drawn at its top left."""
    ImageDraw.Draw(frame).text((EDGE, EDGE), text, fill=colour, font=ImageFont.load_default(WORDS_SIZE))
    return frame


def stack(frames: Sequence[Image.Image]) -> Image.Image:
    """One picture of several of the same width, one below the other."""
    sheet = Image.new("RGB", (frames[0].width, sum(frame.height for frame in frames)))
    for number, frame in enumerate(frames):
        sheet.paste(frame, (0, number * frame.height))
    return sheet


def join(frames: list[Image.Image], goal: Path, milliseconds: int) -> None:
    """Save pictures as one GIF that loops forever; does nothing if there are none."""
    if frames:
        palette = palette_of(frames)
        first, *rest = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
        first.save(goal, save_all=True, append_images=rest, duration=milliseconds, loop=0, optimize=True)
        print(goal)


def palette_of(frames: list[Image.Image]) -> Image.Image:
    """A common palette for all frames: half the colours for large areas, half for distinct ones such as those of thin lines."""
    strip = stack(frames)
    colours = []
    for method in (Image.Quantize.MEDIANCUT, Image.Quantize.MAXCOVERAGE):
        found = strip.quantize(COLOURS // 2, method=method).getpalette() or []
        colours += found[: 3 * (COLOURS // 2)]
    palette = Image.new("P", (1, 1))
    palette.putpalette(colours)
    return palette


if __name__ == "__main__":
    main()
