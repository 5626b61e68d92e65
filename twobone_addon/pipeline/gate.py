"""The gate: who poses a limb that a task is about to key or read? Tasks ask here, before they sample anything.

Switch and Convert do not ask, since they change who does, nor does Clear, which gives keys back.

IK on the limb's own bones overrides their keys. Visible bones that follow other bones show none of them. Whoever is refused is
told what to press first; what else acts on top of the keys, such as limits, is noted by the plan and measured by the proof.
Nothing is asked about other frames than those that the task changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..core.array_types import Array
from ..errors import ChainError, DependencyError
from ..records import replace
from ..said import Sentence, note
from ..scene.blender_types import Constraint, Object, PoseBone, Property, Scene
from ..scene.bones import ChainNames
from ..scene.graph.rig_graph import Node, RigGraph, Stillness, turning
from ..scene.lookup import object_named
from ..scene.rig.chain_finding import bones_between
from ..scene.rig.constraints import is_acting, is_live, reads_anything
from ..scene.rig.rest_reading import is_carried, stays_behind
from ..scene.sampling.evaluate import at_frame, values_over
from ..scene.visible.feet_beside import cannot_go_along, feet_beside, is_followed
from ..scene.visible.response import override_of
from ..scene.visible.skin import Skins
from ..scene.visible.switches import SAME, influences_change, same_values, switch_frames, switch_values
from ..scene.visible.trials import Turned
from ..scene.visible.visible_bone import FOLLOWS, TRACED, Hindrance, Shown, bone_carrying, shown_bone, shows_others

ON_IK = "ON_IK"
"""Kind of the refusal of a limb that IK poses, for buttons and scripts: Switch to FK helps."""

OVERRIDDEN = "OVERRIDDEN"
"""Kind of the refusal of a limb that another constraint poses, for buttons and scripts: muting that helps."""


@dataclass(frozen=True, slots=True)
class Poser:
    """What poses a limb in place of its keys."""

    bone: str
    """Bone of the limb that it poses."""
    armature: str = ""
    """Armature of that bone, where the constraint is no IK."""
    constraint: str = ""
    """Name of the constraint; empty where the visible bone follows other bones."""
    shown: str = ""
    """Visible bone that follows other bones."""
    is_ik: bool = True
    """Whether the constraint is IK."""
    is_live: bool = False
    """Whether it is Live's: Blender poses the limb as Bake would."""
    frame: float | None = None
    """A frame at which it does; `None` if at all of them."""
    part: float = 0.0
    """Part of the motion of keys that is seen all the same, 0..1, where an influence is between off and on."""

    @property
    def can_be_switched(self) -> bool:
        """Whether Switch to FK helps."""
        return (self.is_ik or bool(self.shown)) and not self.is_live


ON_LIVE = "ON_LIVE"
"""Kind of the refusal of a limb that is live, for buttons and scripts: Bake helps."""

BAKE_FIRST = Sentence("Use Bake, or switch Live off, first.")
FK_FIRST = Sentence("Use Switch All Limbs to FK first.")
CONVERT_FIRST = Sentence("Use Switch All Limbs to FK, or Convert IK to FK Keys, first.")


def who_poses(
    scene: Scene, armature: Object, names: ChainNames, within: tuple[float, float], *, skins: Skins | None = None
) -> Poser | None:
    """What poses a limb, as it is seen, at any frame of a range in place of the keys on its bones; `None` if these do."""
    limb = [bone.name for bone in reversed(bones_between(armature, names.upper, names.lower))]
    ik = ik_of(scene, armature, limb, within) or _override(scene, armature, limb, within)
    return ik or next(_shown_instead(scene, armature, names, within, skins or Skins()), None)


def _override(scene: Scene, armature: Object, limb: Sequence[str], within: tuple[float, float]) -> Poser | None:
    """The constraint of a bone of a limb, other than IK, that keeps it from following its keys; the rig itself is asked.

    Each counts with the largest influence that it has in the range.
    """
    stillness = Stillness()
    weights: dict[tuple[str, str], float] = {}
    first: dict[tuple[str, str], float | None] = {}
    for name in limb:
        for constraint in armature.pose.bones[name].constraints:
            if constraint.type in {"IK", "SPLINE_IK"} or not reads_anything(constraint):
                continue
            frames = _frames_to_look_at(scene, armature, constraint, within, stillness)
            acting = _weights_at(scene, armature, constraint, frames)
            weights[name, constraint.name] = float(acting.max())
            first[name, constraint.name] = None if not acting.any() or acting.all() else float(frames[np.argmax(acting > 0.0)])
    if not any(weights.values()):
        return None
    iks = [(armature.pose.bones[bone_carrying(ik)], ik) for name in limb for ik in turning(armature.pose.bones[name])]
    found = override_of(armature, limb, weights, iks)
    if found is None:
        return None
    frame = first[found.bone, found.constraint]
    return Poser(found.bone, armature.name, found.constraint, is_ik=False, frame=frame, part=found.share)


def _shown_instead(
    scene: Scene, armature: Object, names: ChainNames, within: tuple[float, float], skins: Skins
) -> Iterator[Poser]:
    """What keeps the visible bone of a limb from following it, where it shows the motion of other bones than the limb's own."""
    if skins.moves_by_parents_alone(armature):
        return
    for frame, shown in _shown_over(scene, armature, names, within, skins):
        if not shown.follows and shows_others(armature, names, shown):
            constraint = shown.hindrances[0].constraint if shown.hindrances else ""
            yield Poser(names.lower, constraint=constraint, shown=shown.bone, frame=frame, part=shown.share)
            continue
        poser = _override_of_skin(armature, names, shown) if shown.follows else None
        if poser is not None:
            yield replace(poser, frame=frame)


def _override_of_skin(armature: Object, names: ChainNames, shown: Shown) -> Poser | None:
    """The constraint that keeps a visible bone from following a limb, where only the rig itself can tell; `None` without one."""
    if (shown.armature, shown.bone) == (armature.name, names.lower):
        return None
    constraints = object_named(shown.armature).pose.bones[shown.bone].constraints
    untraced = [entry for entry in constraints if is_acting(entry) and entry.type not in TRACED and reads_anything(entry)]
    if not untraced:
        return None
    share = Turned(armature, {names.lower}).share((shown.armature, shown.bone))
    return None if share >= FOLLOWS else Poser(shown.bone, shown.armature, untraced[-1].name, is_ik=False, part=share)


def _shown_over(
    scene: Scene, armature: Object, names: ChainNames, within: tuple[float, float], skins: Skins
) -> Iterator[tuple[float | None, Shown]]:
    """The visible bone of a limb in each state that it has in a range, with a frame of that; `None` if it has only one."""
    shown = shown_bone(armature, names, skins)
    if shown is None:
        return
    frames, present, values = _switches_over(scene, armature, shown, within)
    if same_values(values, present):
        yield None, shown
        return
    _, rows = np.unique(np.round(values / SAME), axis=1, return_index=True)
    for frame in np.sort(frames[rows]).tolist():
        with at_frame(scene, frame):
            there = shown_bone(armature, names, skins)
        if there is not None:
            yield (None if len(rows) == 1 else frame), there


def is_unseen(scene: Scene, armature: Object, names: ChainNames, shown: Shown, within: tuple[float, float]) -> bool:
    """Whether a visible bone, as it is now and at all frames of a range, shows the motion of other bones than the chain's."""
    if shown.follows or not shows_others(armature, names, shown):
        return False
    _, present, values = _switches_over(scene, armature, shown, within)
    return same_values(values, present)


def _switches_over(scene: Scene, armature: Object, shown: Shown, within: tuple[float, float]) -> tuple[Array, Array, Array]:
    """Frames `(F,)` of a range where what decides what a visible bone follows may change; its values now, `(P, 1)`, and there."""
    if not influences_change(armature, shown.deciding):
        return np.array(within[:1]), np.zeros((0, 1)), np.zeros((0, 1))
    frames = np.unique([within[0], *switch_frames(scene, armature, shown.deciding, within), within[1]])
    return frames, *switch_values(scene, armature, shown.deciding, frames)


def ik_of(scene: Scene, armature: Object, bones: Sequence[str], within: tuple[float, float]) -> Poser | None:
    """The IK, wherever on the limb it is, that poses any of its bones at any frame of a range; `None` if there is none."""
    stillness = Stillness()
    for name in bones:
        bone = armature.pose.bones[name]
        for constraint in (*turning(bone), *filter(is_live, bone.constraints)):
            frames = _frames_to_look_at(scene, armature, constraint, within, stillness)
            weights = _weights_at(scene, armature, constraint, frames)
            if constraint.target is not None and weights.any():
                frame = None if weights.all() else float(frames[np.argmax(weights > 0.0)])
                part = 1.0 - float(weights.max())
                return Poser(name, constraint=constraint.name, frame=frame, part=part, is_live=is_live(constraint))
    return None


def _frames_to_look_at(
    scene: Scene, armature: Object, constraint: Constraint, within: tuple[float, float], stillness: Stillness
) -> Array:
    """Frames of a range at which a constraint may begin or cease to act, see `switch_frames`; none if it never changes."""
    path = constraint.path_from_id()
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
    """Raise `DependencyError` where a limb is seen by other bones than its own, whose motion nobody sees, at all frames.

    Asked by tasks that read a limb's motion: whatever poses the limb's own bones gives it the motion that is seen.
    """
    skins = Skins()
    for names in limbs:
        states = list(_shown_over(scene, armature, names, within, skins))
        posers = list(_shown_instead(scene, armature, names, within, skins))
        if states and len(posers) == len(states):
            raise _refusal(replace(posers[0], frame=None), "so its motion is not what is seen")


def refuse_posed(poser: Poser | None) -> None:
    """Raise `DependencyError` where keys on a limb would not be what poses it."""
    if poser is None:
        return
    if not poser.can_be_switched and not poser.is_live and poser.part >= FOLLOWS:
        raise _refusal(replace(poser, part=0.0), "so it would not be where keys take it")
    raise _refusal(poser, f"so keys on it would {'show only partly' if poser.part > UNSEEN else 'be invisible'}")


def refuse_live(armature: Object, bones: Iterable[str]) -> None:
    """Raise `DependencyError` where Live poses any of the bones: there is neither an FK nor an IK of the rig to change."""
    for bone in bones:
        for constraint in filter(is_live, armature.pose.bones[bone].constraints):
            raise _refusal(Poser(bone, constraint=constraint.name, is_live=True), "so it is on neither FK nor IK of its rig")


UNSEEN = 0.01
"""Part of a motion below which nobody sees it."""


def _refusal(poser: Poser, so: str) -> DependencyError:
    is_partly = poser.part > UNSEEN
    when = "" if poser.frame is None else Sentence(" at frame {frame:g}", {"frame": poser.frame})
    by = Sentence(" by {part:.0%}", {"part": 1.0 - poser.part}) if is_partly else ""
    values = {
        "bone": poser.bone,
        "armature": poser.armature,
        "constraint": poser.constraint,
        "shown": poser.shown,
        "part": poser.part,
        "by": by,
        "when": when,
        "so": Sentence(so),
    }
    if poser.is_live:
        text = 'Live poses bone "{bone}"{by}{when}, {so}. {remedy}'
        return DependencyError(Sentence(text, values | {"remedy": BAKE_FIRST}, kind=ON_LIVE))
    if not poser.can_be_switched:
        text = (
            'Constraint "{constraint}" poses bone "{bone}"{by}{when}, {so}. Mute it, or bake it with Blender\'s Bake Action, '
            "Visual Keying and Clear Constraints, first."
        )
        return DependencyError(Sentence(text, values, kind=OVERRIDDEN))
    if poser.shown:
        text = 'The visible limb ("{shown}") does not follow bone "{bone}"{when}, {so}. {remedy}'
        if is_partly:
            text = 'The visible limb ("{shown}") follows bone "{bone}" by {part:.0%} only ("{constraint}"){when}, {so}. {remedy}'
        return DependencyError(Sentence(text, values | {"remedy": FK_FIRST}, kind=ON_IK))
    text = 'IK ("{constraint}") poses bone "{bone}"{by}{when}, {so}. {remedy}'
    return DependencyError(Sentence(text, values | {"remedy": CONVERT_FIRST}, kind=ON_IK))


def foot_left_behind(armature: Object, names: ChainNames, target: Node | None = None) -> Sentence | None:
    """Why the foot of a limb would stay where it is when the limb moves, with the remedy; `None` where it goes along.

    A foot that the limb only meets goes along by keys of its own, where it can take them; and to one that takes the limb's
    `target` along, the limb goes.

    What IK or a switch poses it by counts, so this is asked of limbs that nothing else poses.
    """
    for foot in feet_beside(armature, names):
        if is_followed(foot, target):
            continue
        is_left, reason = stays_behind(foot, names), cannot_go_along(foot)
        if is_left and reason is None:
            continue
        if is_left or is_carried(foot, names.lower):
            # With the foot on the leg this is a dependency cycle, which Blender breaks at either end, muted or not.
            for bone, constraint in _following(armature, names, foot):
                return note(
                    'Constraint "{constraint}" of bone "{bone}" follows foot "{foot}", even if muted, so the foot would stay '
                    "behind when the leg moves. Delete that constraint, and give the foot a Copy Location constraint to "
                    'the tail of bone "{lower}".',
                    constraint=constraint.name,
                    bone=bone,
                    foot=foot.name,
                    lower=names.lower,
                )
        if is_left and reason is not None:
            return note(
                'Foot "{foot}" is not parented to the leg and does not follow it, and its location cannot be keyed along: '
                '{reason}. Give it a Copy Location constraint to the tail of bone "{lower}".',
                foot=foot.name,
                reason=reason,
                lower=names.lower,
            )
    return None


def _following(armature: Object, names: ChainNames, foot: PoseBone) -> Iterator[tuple[str, Constraint]]:
    """Constraints by which a leg follows a foot, be it by other bones or objects, each with the bone that carries it."""
    lower, graph = armature.pose.bones[names.lower], RigGraph()
    for bone in (lower, *lower.parent_recursive):
        for constraint in (*bone.constraints, *graph.turned(armature).get(bone.name, ())):
            if graph.follows(constraint, (armature.name, foot.name)):
                yield bone_carrying(constraint), constraint


def refuse_left_behind(reason: Sentence | None) -> None:
    """Raise `ChainError` where a foot would not go along with its leg; tasks that are not about feet note it."""
    if reason is not None:
        raise ChainError(reason)
