"""Bakes taken back in several actions, each over its own range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...errors import TwoBoneError
from ...scene.actions.playing import staged
from ...scene.blender_types import Object, Scene
from ...scene.lookup import find_armature
from ...settings import BakeSettings
from ..clearing import TakenBack, clear_baked, count_baked
from ..report.records import Refused
from .choosing import ACTIVE, chosen_of_all, own_span, refuse_strips
from .passes import in_words, with_range


@dataclass(frozen=True, slots=True)
class Cleared:
    """What became of baked keys."""

    removed: int
    left: int
    """Baked keys that are still there, outside the range."""
    refused: list[Refused]
    """Actions in which they could not be removed."""
    actions: int = 1
    """How many were gone through."""
    undone: tuple[str, ...] = ()
    """Chains and roots that were planted together, and have their own keys back."""
    put_back: tuple[str, ...] = ()
    """Roots that were fitted, and move as before again."""
    held: dict[str, list[str]] = field(default_factory=dict)
    """Roots that stay where they were fitted, to the chains that are still baked on them."""

    def notes(self) -> list[str]:
        """What could not be done, in sentences."""
        return in_words(self.refused, self.actions)

    def said_undone(self) -> list[str]:
        """What else came back, or stays though one might not expect it, in sentences."""
        said = []
        if self.undone:
            said.append(f"Planting is undone as a whole: {', '.join(self.undone)} have the keys back that were there before.")
        if self.put_back:
            said.append(f"Fit Root is undone: {', '.join(self.put_back)} is where it was before.")
        for root, chains in self.held.items():
            said.append(f"Fit Root stays on {root}, because other chains are baked on it: {', '.join(chains)}.")
        return said


def clear_actions(
    scene: Scene, wanted: Sequence[BakeSettings], active: Object | None, actions: str, *, all_frames: bool = False
) -> Cleared:
    """Remove the baked keys of one or more chains in the actions that are meant, see `clearing.clear_baked`.

    An action that cannot be edited stays as it is. Raises a `TwoBoneError` where that is all of them.
    """
    if actions == ACTIVE:
        taken = clear_baked(scene, wanted, active, all_frames=all_frames)
        return _cleared([taken], count_baked(scene, wanted, active), [], 1)
    by_armature: dict[Object, list[BakeSettings]] = {}
    for settings in wanted:
        refuse_strips(actions, settings.destination)
        by_armature.setdefault(find_armature(settings.armature, active), []).append(settings)
    chosen = chosen_of_all(list(by_armature), actions)
    left = 0
    taken, refused, errors = [], [], []
    for armature, settings in by_armature.items():
        own_actions = [own for owner, own in chosen if owner == armature]
        with staged(scene, armature, own_actions) as stage:
            for own in own_actions:
                stage.play(own.action, own.slot)
                try:
                    span = own_span(own)
                    ranged = [with_range(each, span) for each in settings]
                    taken.append(clear_baked(scene, ranged, active, all_frames=all_frames, in_strips=False))
                    left += count_baked(scene, ranged, active)
                except TwoBoneError as error:
                    errors.append(error)
                    refused.append(Refused(armature.name, own.name, str(error)))
    if len(errors) == len(chosen):
        raise errors[0]
    return _cleared(taken, left, refused, len(chosen))


def _cleared(taken: Sequence[TakenBack], left: int, refused: list[Refused], actions: int) -> Cleared:
    """All that became of them, of one action after the other."""
    undone = dict.fromkeys(name for each in taken for name in each.undone)
    put_back = dict.fromkeys(name for each in taken for name in each.put_back)
    held = {root: chains for each in taken for root, chains in each.held.items()}
    return Cleared(sum(each.keys for each in taken), left, refused, actions, tuple(undone), tuple(put_back), held)
