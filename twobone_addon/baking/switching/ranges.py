"""Where in a range a limb has to be switched: what is on the wanted side already stays as it is, keys and all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...curves.frames import frame_grid, ranges
from ...errors import ChainError
from ...scene.blender_types import Scene
from ...scene.rig.chain_finding import ChainNames
from ...scene.sight.switches import SAME, Setting
from ...scene.walk.settings_over import values_over
from ..report.statements import Statement


@dataclass(frozen=True, slots=True)
class SwitchRanges:
    """Parts of a range, each as its first and last frame."""

    switched: list[tuple[float, float]]
    """Where the limb is to be switched, with its motion; empty where it is on the wanted side all along."""
    between: list[tuple[float, float]]
    """Where it is seen between the sides, in poses that neither side may have."""

    @property
    def notes(self) -> list[str]:
        """What to say about frames that are left between the sides."""
        if not self.between:
            return []
        return [f"At frames {in_words(self.between)} the limb is seen between FK and IK, and was left as it is."]

    @property
    def remarks(self) -> list[Statement]:
        """The same for the status bar."""
        return [Statement("HALFWAY", {"frames": in_words(self.between)}, list(map(list, self.between)))] if self.between else []


def in_words(parts: Sequence[Sequence[float]]) -> str:
    """Ranges as people read them, such as `20-30, 45`."""
    return ", ".join(f"{first:g}" if first == last else f"{first:g}-{last:g}" for first, last in parts)


def ranges_to_switch(
    scene: Scene, names: ChainNames, wanted: Sequence[Setting], within: tuple[float, float], *, apart: bool
) -> SwitchRanges:
    """The parts of a range that are not as the settings want it, frame by frame.

    apart : FK and IK are bones of their own, and what is seen is a mix of both while a switch is halfway

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
            f'The limb from "{names.upper}" to "{names.lower}" is seen between FK and IK at frames '
            f"{in_words(found[1])}, in poses that neither may have. Key {wanted[0].path} to 0 or 1 there first."
        )
    return SwitchRanges(*found)
