"""Where in a range a limb has to be switched: what is on the wanted side already stays as it is, keys and all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.curves.frames import frame_grid, ranges
from ...errors import ChainError
from ...pipeline.report.statements import statement
from ...said import Sentence, note
from ...scene.blender_types import Scene
from ...scene.bones import ChainNames
from ...scene.sampling.evaluate import values_over
from ...scene.visible.switches import SAME, Setting
from .records import in_words


@dataclass(frozen=True, slots=True)
class SwitchRanges:
    """Parts of a range, each as its first and last frame."""

    switched: list[tuple[float, float]]
    """Where to switch the limb, with its motion; empty where it is on the wanted side all along."""
    between: list[tuple[float, float]]
    """Where it is blended between the sides, in poses that neither side may have."""

    @property
    def notes(self) -> list[Sentence]:
        """What to say about frames that are left between the sides."""
        if not self.between:
            return []
        return [note("Skipped frames {frames}: the limb is blended between FK and IK there.", frames=in_words(self.between))]

    @property
    def remarks(self) -> list[Sentence]:
        """The same for the status bar."""
        return [statement("HALFWAY", {"frames": in_words(self.between)}, self.between)] if self.between else []


def ranges_to_switch(
    scene: Scene, names: ChainNames, wanted: Sequence[Setting], within: tuple[float, float], *, apart: bool
) -> SwitchRanges:
    """The parts of a range that are not as the settings want it, frame by frame.

    apart : FK and IK are bones of their own, and the visible limb is a mix of both while a switch is halfway

    Raises `ChainError` where it is halfway at all frames.
    """
    frames = frame_grid(*within)
    values = values_over(scene, [(setting.owner, setting.path) for setting in wanted], frames)
    goals = np.array([[setting.value] for setting in wanted])
    to_switch = (np.abs(values - goals) > SAME).any(axis=0)
    halfway = ((np.abs(values) > SAME) & (np.abs(values - 1.0) > SAME)).any(axis=0) & apart
    found = [[(first, last) for first, last in ranges(frames, mask)] for mask in (to_switch & ~halfway, to_switch & halfway)]
    if found[1] and not found[0]:
        raise ChainError(
            'The limb from "{upper}" to "{lower}" is blended between FK and IK at frames {frames}. Key {path} to 0 or 1 there '
            "first.",
            upper=names.upper,
            lower=names.lower,
            frames=in_words(found[1]),
            path=wanted[0].path,
        )
    return SwitchRanges(*found)
