"""The gate: who poses a limb that a task is about to key? Every task asks here, before it samples anything.

IK on the limb's own bones overrides their keys. Visible bones that follow other bones show none of them. Whoever is refused is
told what to press first; what else acts on top of the keys, such as limits, is noted by the plan and measured by the proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..core.array_types import Array
from ..errors import DependencyError
from ..said import Sentence
from ..scene.blender_types import Constraint, Object, Property, Scene
from ..scene.bones import ChainNames
from ..scene.graph.rig_graph import Stillness, turning
from ..scene.rig.constraints import is_acting
from ..scene.sampling.evaluate import at_frame, values_over
from ..scene.visible.skin import Skins
from ..scene.visible.switches import influences_change, same_values, switch_frames, switch_values
from ..scene.visible.visible_bone import Hindrance, Shown, bone_carrying, shown_bone, shows_others

ON_IK = "ON_IK"
"""Kind of the refusal of a limb that IK poses, for buttons and scripts: Switch to FK helps."""


@dataclass(frozen=True, slots=True)
class Poser:
    """What poses a limb in place of its keys."""

    bone: str
    """Bone of the limb that it poses."""
    constraint: str = ""
    """Name of the constraint; empty where the visible bone follows other bones."""
    shown: str = ""
    """Visible bone that follows other bones."""
    is_ik: bool = True
    """Whether the constraint is IK."""
    frame: float | None = None
    """A frame at which it does; `None` if at all of them."""
    part: float = 0.0
    """Part of the motion of keys that is seen all the same, 0..1, where an influence is between off and on."""

    @property
    def can_be_switched(self) -> bool:
        """Whether Switch to FK helps."""
        return self.is_ik or bool(self.shown)


FK_FIRST = Sentence("Use Switch All Limbs to FK first.")
CONVERT_FIRST = Sentence("Use Switch All Limbs to FK, or Convert IK to FK Keys, first.")


def who_poses(
    scene: Scene, armature: Object, names: ChainNames, within: tuple[float, float], *, skins: Skins | None = None
) -> Poser | None:
    """What poses a limb at any frame of a range in place of the keys on its bones; `None` if these do.

    Visible bones whose influences change within the range are left to the proof, which measures them.
    """
    ik = ik_of(scene, armature, (names.upper, names.lower), within)
    return ik or _shows_instead(scene, armature, names, within, skins or Skins(), also_own=True)


def _shows_instead(
    scene: Scene, armature: Object, names: ChainNames, within: tuple[float, float], skins: Skins, *, also_own: bool
) -> Poser | None:
    """What keeps the visible bone of a limb from following at every frame of a range; `None` if it follows at some.

    also_own : whether constraints of the limb's own bones count
    """
    shown = _shown_within(scene, armature, names, within, skins)
    if shown is None or shown.follows:
        return None
    if shows_others(armature, names, shown):
        return Poser(names.lower, shown.hindrances[0].constraint if shown.hindrances else "", shown=shown.bone, part=shown.share)
    if not also_own:
        return None
    return Poser(shown.hindrances[0].bone, shown.hindrances[0].constraint, is_ik=False, part=shown.share)


def _shown_within(scene: Scene, armature: Object, names: ChainNames, within: tuple[float, float], skins: Skins) -> Shown | None:
    """The visible bone of a limb as it follows at all frames of a range; `None` if there is none, or what it follows changes."""
    shown = shown_bone(armature, names, skins)
    if shown is None:
        return None
    present, values = _switches_over(scene, armature, shown, within)
    if not same_values(values, values[:, :1]):
        return None
    if same_values(values[:, :1], present):
        return shown
    # What decides is the same over the range, but not at the frame that is shown.
    with at_frame(scene, within[0]):
        return shown_bone(armature, names, skins)


def is_unseen(scene: Scene, armature: Object, names: ChainNames, shown: Shown, within: tuple[float, float]) -> bool:
    """Whether a visible bone, as it is now and at all frames of a range, shows the motion of other bones than the chain's."""
    if shown.follows or not shows_others(armature, names, shown):
        return False
    present, values = _switches_over(scene, armature, shown, within)
    return same_values(values, present)


def _switches_over(scene: Scene, armature: Object, shown: Shown, within: tuple[float, float]) -> tuple[Array, Array]:
    """What decides what a visible bone follows: its values now, `(P, 1)`, and where they may change in a range, `(P, F)`."""
    if not influences_change(armature, shown.deciding):
        return np.zeros((0, 1)), np.zeros((0, 1))
    frames = np.unique([within[0], *switch_frames(scene, armature, shown.deciding, within), within[1]])
    return switch_values(scene, armature, shown.deciding, frames)


def ik_of(scene: Scene, armature: Object, bones: Sequence[str], within: tuple[float, float]) -> Poser | None:
    """The IK, wherever on the limb it is, that poses any of its bones at any frame of a range; `None` if there is none."""
    for name in bones:
        for constraint in turning(armature.pose.bones[name]):
            frames = _frames_to_look_at(scene, armature, constraint, within)
            weights = _weights_at(scene, armature, constraint, frames)
            if constraint.target is not None and weights.any():
                frame = None if weights.all() else float(frames[np.argmax(weights > 0.0)])
                return Poser(name, constraint.name, frame=frame, part=1.0 - float(weights.max()))
    return None


def _frames_to_look_at(scene: Scene, armature: Object, constraint: Constraint, within: tuple[float, float]) -> Array:
    """Frames of a range at which a constraint may begin or cease to act, see `switch_frames`; none if it never changes."""
    path, stillness = constraint.path_from_id(), Stillness()
    if all(stillness.keeps(armature, f"{path}.{name}") for name in ("influence", "mute")):
        return np.zeros(0)
    keyed = switch_frames(scene, armature, [Hindrance(bone_carrying(constraint), constraint.name, acts=True)], within)
    # What has no keys of its own, such as a strip, is looked at in the middle as well.
    return np.unique([within[0], 0.5 * (within[0] + within[1]), within[1], *keyed])


def _weights_at(scene: Scene, armature: Object, constraint: Constraint, frames: Array) -> Array:
    """Influence of a constraint at some frames, 0 where it is muted; without frames as it is."""
    if not len(frames):
        return np.array([constraint.influence if is_acting(constraint) else 0.0])
    path = constraint.path_from_id()
    influences, mutes = values_over(scene, [Property(armature, f"{path}.influence"), Property(armature, f"{path}.mute")], frames)
    return np.where(mutes == 0.0, influences, 0.0)


def refuse_unseen(scene: Scene, armature: Object, limbs: Iterable[ChainNames], within: tuple[float, float]) -> None:
    """Raise `DependencyError` where a limb is seen by other bones than its own, whose motion nobody sees, at all frames."""
    skins = Skins()
    for names in limbs:
        poser = _shows_instead(scene, armature, names, within, skins, also_own=False)
        if poser is not None:
            raise _refusal(poser, "so its motion is not what is seen")


def refuse_posed(poser: Poser | None) -> None:
    """Raise `DependencyError` where keys on a limb would not be what poses it."""
    if poser is not None:
        raise _refusal(poser, f"so keys on it would be {'seen in part' if poser.part > UNSEEN else 'invisible'}")


UNSEEN = 0.01
"""Part of a motion below which nobody sees it."""


def _refusal(poser: Poser, so: str) -> DependencyError:
    is_partly = poser.part > UNSEEN
    values = {"bone": poser.bone, "constraint": poser.constraint, "shown": poser.shown, "part": poser.part, "so": Sentence(so)}
    if not poser.can_be_switched:
        return DependencyError(
            'Constraint "{constraint}" poses bone "{bone}", {so}. Mute it, or bake it with Blender\'s Bake Action and Visual '
            "Keying, first.",
            **values,
        )
    if poser.shown:
        text = 'The visible limb ("{shown}") does not follow bone "{bone}", {so}. {remedy}'
        if is_partly:
            text = 'The visible limb ("{shown}") follows bone "{bone}" by {part:.0%} only ("{constraint}"), {so}. {remedy}'
        return DependencyError(Sentence(text, values | {"remedy": FK_FIRST}, kind=ON_IK))
    when = "" if poser.frame is None else Sentence(" at frame {frame:g}", {"frame": poser.frame})
    by = Sentence(" by {part:.0%}", {"part": 1.0 - poser.part}) if is_partly else ""
    text = 'IK ("{constraint}") poses bone "{bone}"{by}{when}, {so}. {remedy}'
    return DependencyError(Sentence(text, values | {"by": by, "when": when, "remedy": CONVERT_FIRST}, kind=ON_IK))
