"""The overlay's colours: those of the user's theme, as far from its background as it takes to be seen."""

from typing import Any

import numpy as np

from ...settings import LETTERS
from .lines import Color, Palette

CONTRAST = 2.5
"""Least ratio of brightness between a line and the background, as the rules for readable web pages reckon it; they ask 3 of
what is large, and lines also stand out by their colour."""

SHARES = np.linspace(0.0, 1.0, 21)
"""Parts of black or white that are tried."""

BRIGHTNESS = np.array([0.2126, 0.7152, 0.0722])
"""Of red, green and blue light (Rec. 709)."""


def theme_palette(theme: Any, plane: str) -> Palette:
    """The overlay's colours; the axes of a letter plane in the colours of their letters, those of an object in X's and Y's.

    A plane that turns with the limb has no axes that anybody knows: they are as quiet as its grid.
    """
    interface, view = theme.user_interface, theme.view_3d
    background = view.space.gradients.high_gradient

    def seen(color: Any, opacity: float) -> Color:
        return readable(color, background, opacity)

    grid = (*view.grid[:3], 0.5)
    axes = {"X": interface.axis_x, "Y": interface.axis_y, "Z": interface.axis_z}
    letters = plane if plane in LETTERS else "XY" if plane == "OBJECT" else ""
    u, v = (seen(axes[letter], 0.9) for letter in letters) if letters else (grid, grid)
    return Palette(
        axis_u=u,
        axis_v=v,
        plane=grid,
        reach=seen(view.bone_pose_active, 0.6),
        chosen=seen(view.bone_pose, 1.0),
        reached=seen(interface.axis_y, 1.0),
        soft=seen(interface.gizmo_hi, 1.0),
        too_far=seen(interface.axis_x, 1.0),
        too_near=seen(interface.axis_z, 1.0),
        tip=seen(view.object_active, 0.9),
    )


def readable(color: Any, background: Any, opacity: float) -> Color:
    """A colour that stands out: with as much black or white in it, whichever is farther away, as that takes."""
    own, behind = np.array(color[:3], dtype=float), np.array(background[:3], dtype=float)
    light = _brightness(behind)
    far = np.zeros(3) if (light + 0.05) ** 2 > 0.05 * 1.05 else np.ones(3)
    mixed = own + SHARES[:, None] * (far - own)
    ratios = (_brightness(mixed) + 0.05) / (light + 0.05)
    enough = np.maximum(ratios, 1.0 / ratios) >= CONTRAST
    red, green, blue = mixed[int(np.argmax(enough))] if enough.any() else far
    return float(red), float(green), float(blue), opacity


def _brightness(colors: Any) -> Any:
    """Of sRGB colours `(..., 3)`, from 0 to 1."""
    linear = np.where(colors <= 0.04045, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4)  # noqa: PLR2004 - sRGB's curve
    return linear @ BRIGHTNESS
