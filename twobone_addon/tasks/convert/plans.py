"""Find the limbs to convert from IK to FK: IK constraints over two links, or limbs of a Rigify rig."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...core.array_types import Array, SampledFrames
from ...core.curves.frames import NEAR_FRAME, merge_frames
from ...errors import ChainError, TwoBoneError
from ...pipeline.gate import refuse_live
from ...pipeline.plan.planning import ChainPlan, plan_chain, refuse_unwritable_chain, with_keyed
from ...pipeline.played import shown_frames
from ...records import replace
from ...said import INFO, Sentence, note
from ...scene.actions import strip_frames
from ...scene.blender_types import Object, Scene
from ...scene.bones import TwoBoneIk, read_rest_bone, rotation_path
from ...scene.graph.motion_span import motion_span
from ...scene.graph.rig_graph import RigGraph, Stillness
from ...scene.keys.guarding import refuse_unwritable, unwritable
from ...scene.keys.reading import is_animated, is_posed_without_keys
from ...scene.lookup import find_armature
from ...scene.rig.constraints import (
    Carried,
    acting_ik,
    grouped_ik,
    has_other_constraints,
    overridden_constraints,
    read_ik,
    turned_bones,
)
from ...scene.rig.rest_reading import bone_path
from ...scene.rig.rigify_reading import RigifyLimb, is_rigify, rigify_limbs
from ...settings import BakeSettings
from ...settings.options import ACTIVE
from ...settings.tasks import ConvertSettings
from .solve import FurtherBone, IkEnd, LimbPlan

ON_TOP = 'Constraints of bone "{bone}" act on top of the keys.'


@dataclass(frozen=True, slots=True)
class Conversion:
    """The request for a conversion."""

    settings: BakeSettings
    """The armature, the frames and how they are keyed; the rest is ignored."""
    bone: str = ""
    """Bone that carries the IK constraint, or any control of a Rigify limb; empty for all."""
    switch_off: str = "MUTE"
    """`MUTE` or `INFLUENCE`, as `ConvertSettings` has it."""
    rigify: bool = False
    """Convert a Rigify rig's limbs by their FK controls and IK/FK switch; always so for an armature that Rigify generated."""
    bones: frozenset[str] = frozenset()
    """Bones that select limbs; all limbs if none of these belongs to one."""
    actions: str = ACTIVE
    """`ACTIVE`, `ALL`, or names of actions, see `chosen_actions`."""
    goes_on: tuple[bool, bool] = (True, True)
    """Whether there is animation before and after the range that must be preserved."""

    @classmethod
    def of(cls, settings: ConvertSettings) -> Conversion:
        """The request that the settings make."""
        return cls(settings.bake(), settings.bone, settings.switch_off, settings.rigify, settings.bones, settings.actions)


def plan_limbs(scene: Scene, conversion: Conversion, active: Object | None) -> tuple[list[LimbPlan], list[TwoBoneError]]:
    """Plans of the limbs to convert, and the errors of those that cannot be.

    Raises a `TwoBoneError` where no limb can be converted, or where the bone chosen by name cannot be.
    """
    armature = find_armature(conversion.settings.armature, active)
    if conversion.bone and conversion.bone not in armature.pose.bones:
        raise ChainError(
            'Bone "{bone}" is not in armature "{armature}". Choose one of its bones.',
            bone=conversion.bone,
            armature=armature.name,
        )
    conversion = replace(conversion, rigify=conversion.rigify or is_rigify(armature))
    limbs: list[LimbPlan] = []
    refused: list[TwoBoneError] = []
    for make in (
        _rigify_plans(scene, armature, conversion) if conversion.rigify else _constraint_plans(scene, armature, conversion)
    ):
        try:
            limbs.append(make())
        except TwoBoneError as error:
            if conversion.bone:
                raise
            refused.append(error)
    if not limbs:
        refuse_live(armature, [conversion.bone] if conversion.bone else armature.pose.bones.keys())
        raise refused[0] if refused else _nothing_found(armature, conversion)
    return limbs, refused


def is_converted(name: str, active: Object | None) -> bool:
    """Whether the named or active armature has IK constraints, but none that acts: the state after a conversion."""
    armature = find_armature(name, active)
    has_ik = any(constraint.type == "IK" for bone in armature.pose.bones for constraint in bone.constraints)
    return has_ik and not acting_ik(armature)


def _nothing_found(armature: Object, conversion: Conversion) -> ChainError:
    owner = (
        Sentence('Bone "{bone}"', {"bone": conversion.bone})
        if conversion.bone
        else Sentence('Armature "{armature}"', {"armature": armature.name})
    )
    if conversion.rigify:
        return ChainError(
            "{owner} has no Rigify limb with IK and FK. Generate the rig with Rigify, or turn the option off.", owner=owner
        )
    return ChainError("{owner} has no IK constraint that acts. Choose the bone that carries one, or unmute it.", owner=owner)


def _constraint_plans(scene: Scene, armature: Object, conversion: Conversion) -> Iterator[Callable[[], LimbPlan]]:
    carried = acting_ik(armature, conversion.bone)
    selected = [
        pair for pair in carried if conversion.bones & {pair[0].name, *(bone.name for bone in turned_bones(pair[1], pair[0]))}
    ]
    for limb in grouped_ik(armature, selected or carried):
        yield partial(_constraint_plan, scene, armature, conversion, limb)


def _constraint_plan(scene: Scene, armature: Object, conversion: Conversion, constraints: list[Carried]) -> LimbPlan:
    """Plan of the limb whose two bones all of `constraints` rotate; the first one makes the pose."""
    ik = read_ik(*constraints[0])
    others = [read_ik(*pair) for pair in constraints[1:] if pair[1].target is not None]
    names = ik.names
    settings = replace(
        _settings(armature, conversion, names.upper, names.lower, names.tip),
        tip_end="TAIL" if names.tip_at_tail else "HEAD",
        target=ik.target,
        target_bone=ik.target_bone,
    )
    plan = plan_chain(scene, settings, None)
    if conversion.switch_off == "MUTE" and _goes_on_outside(scene, plan):
        keyed = _constraint_plan(scene, armature, replace(conversion, switch_off="INFLUENCE"), constraints)
        text = (
            'IK constraint "{constraint}" of bone "{bone}" also poses the limb outside frames {first:g} to {last:g}, so its '
            "influence is keyed instead of muting it."
        )
        values = {"constraint": ik.constraint, "bone": ik.bone, "first": plan.within[0], "last": plan.within[1]}
        notes = (*keyed.chain.notes, Sentence(text, values, level=INFO))
        return replace(keyed, chain=replace(keyed.chain, notes=notes))
    refuse_unwritable_chain(scene, plan)
    ends = tuple(_influence_end(armature, constraint) for constraint in (ik, *others))
    is_off = not any(end.present or is_animated(armature, end.path) for end in ends)
    if is_off and conversion.actions != ACTIVE:
        raise ChainError(
            'IK constraint "{constraint}" of bone "{bone}" is off (influence 0), and no key of the action turns it on. Set its '
            "influence to what the actions need, and convert again.",
            constraint=ik.constraint,
            bone=ik.bone,
        )
    keyed_off = conversion.switch_off == "INFLUENCE"
    if keyed_off:
        refuse_unwritable(armature, [end.path for end in ends], conversion.settings.destination)
    noted = _noted(plan, armature)
    if is_off:
        noted = replace(
            noted,
            notes=(
                *noted.notes,
                note(
                    'IK constraint "{constraint}" of bone "{bone}" is off (influence 0), so the bones were keyed as they are '
                    "without it.",
                    constraint=ik.constraint,
                    bone=ik.bone,
                ),
            ),
        )
    noted = replace(noted, notes=(*noted.notes, *map(_note_on_other_ik, others)))
    shown = (names.upper, names.lower, names.tip)
    overridden = tuple(_influence_end(armature, constraint) for constraint in overridden_constraints(armature, names))
    limb = limb_plan(armature, noted, shown, ik=ik, ends=ends, keyed_off=keyed_off, overridden=overridden)
    return replace(limb, goes_on=conversion.goes_on, was_off=is_off)


def _goes_on_outside(scene: Scene, plan: ChainPlan) -> bool:
    """Whether the limb moves outside the frames that are converted, in the scene's range or beyond it."""
    graph, node = RigGraph(), (plan.names.armature, plan.names.lower)
    if Stillness(graph).holds(graph.above([node]).nodes):
        return False
    first, last = motion_span([node], graph) or shown_frames(scene, [])
    return first < plan.within[0] - NEAR_FRAME or last > plan.within[1] + NEAR_FRAME


def _note_on_other_ik(ik: TwoBoneIk) -> Sentence:
    return note(
        'IK constraint "{constraint}" of bone "{bone}" rotates the same bones, and is switched off with the other.',
        constraint=ik.constraint,
        bone=ik.bone,
    )


def _note_on_unkeyed_pose(bone: str) -> Sentence:
    return note(
        'Bone "{bone}" has a pose without keys, which was converted with it. If it is left over from another action, undo, '
        "clear it and convert again.",
        bone=bone,
    )


def without_overridden(limb: LimbPlan) -> LimbPlan:
    """The limb with the constraints that its IK overrides switched off together with it."""
    off = {end.group for end in limb.overridden}
    notes = [remark for remark in limb.chain.notes if not (remark.template == ON_TOP and remark.values["bone"] in off)]
    notes += [
        note(
            'Constraint "{constraint}" of bone "{bone}" is switched off with the IK, which had overridden it.',
            constraint=end.ik.constraint,
            bone=end.group,
        )
        for end in limb.overridden
        if end.ik is not None
    ]
    rest = range(len(limb.chain.rest.bones))
    return replace(
        limb,
        chain=replace(limb.chain, notes=tuple(notes)),
        ends=(*limb.ends, *limb.overridden),
        free_location=tuple(index for index in rest if limb.chain.rest.bones[index].name in off or index in limb.free_location),
    )


def _influence_end(armature: Object, ik: TwoBoneIk) -> IkEnd:
    path = f"{ik.path}.influence"
    return IkEnd(path, 0.0, float(armature.path_resolve(path)), ik.bone, ik)


def limb_plan(
    armature: Object,
    plan: ChainPlan,
    shown: tuple[str, ...],
    *,
    ik: TwoBoneIk | None,
    ends: tuple[IkEnd, ...],
    keyed_off: bool,
    further: tuple[FurtherBone, ...] = (),
    from_shown: tuple[Array, ...] = (),
    overridden: tuple[IkEnd, ...] = (),
) -> LimbPlan:
    """Plan of a limb, with everything read from the rig that sampling and solving need."""
    bones = armature.pose.bones
    limb = LimbPlan(
        chain=plan,
        shown=shown,
        ik=ik,
        ends=ends,
        keyed_off=keyed_off,
        further=further,
        free_location=tuple(i for i, bone in enumerate(plan.rest.bones) if not has_other_constraints(bones[bone.name])),
        scales_refused=None,
        goes_on=(True, True),
        influence_refused=None,
        from_shown=from_shown,
        overridden=overridden,
        strip_frames=strip_frames(armature, *plan.within),
    )
    switches = [end.path for end in (*ends, *overridden)]
    # Keyed stretch is visible and is kept; keyed settings of a chain, such as its bend, only matter for targets.
    # The limb is posed as it is seen, so feet beside it stay where they are.
    plan = replace(plan, stretched_before={}, animated_settings={}, along=())
    if len(limb.strip_frames):
        frames = SampledFrames(merge_frames(plan.frames, limb.strip_frames))
        plan = replace(plan, frames=frames, report_rows=np.searchsorted(frames, plan.report_frames))
    paths = [*limb.scale_paths(), *(rotation_path(bone.path[-1]) for bone in further), *switches]
    return replace(
        limb,
        chain=with_keyed(plan, armature, paths),
        scales_refused=unwritable(armature, limb.scale_paths(), plan.settings.destination),
        influence_refused=unwritable(armature, switches, plan.settings.destination) if ik else None,
    )


def _noted(plan: ChainPlan, armature: Object) -> ChainPlan:
    """The plan with notes on other constraints of its bones, which keep acting, and on poses that may be left over."""
    names = [plan.rest.bones[index].name for index in plan.rest.turning]
    constrained = [name for name in names if has_other_constraints(armature.pose.bones[name])]
    notes = [note(ON_TOP, bone=name) for name in constrained]
    posed = [name for name in names if is_posed_without_keys(armature, name)]
    return replace(plan, notes=(*notes, *map(_note_on_unkeyed_pose, posed)))


def _rigify_plans(scene: Scene, armature: Object, conversion: Conversion) -> Iterator[Callable[[], LimbPlan]]:
    limbs = [
        limb
        for limb in rigify_limbs(armature)
        if not conversion.bone or conversion.bone in {limb.switch_bone, *limb.shown, *limb.controls}
    ]
    selected = [limb for limb in limbs if conversion.bones & {limb.switch_bone, *limb.shown, *limb.controls}]
    for limb in selected or limbs:
        yield partial(_rigify_plan, scene, armature, conversion, limb)


def _rigify_plan(scene: Scene, armature: Object, conversion: Conversion, limb: RigifyLimb) -> LimbPlan:
    upper, lower, end = limb.controls[:3]
    settings = replace(
        _settings(armature, conversion, upper, lower, end),
        tip_end="HEAD",
        end_rotation="KEEP",
    )
    plan = plan_chain(scene, settings, None)
    refuse_unwritable_chain(scene, plan)
    bones = armature.pose.bones
    pairs = zip(limb.controls[2:], limb.controls[3:], strict=False)
    further = tuple(
        FurtherBone(tuple(read_rest_bone(bone) for bone in bone_path(bones[above], bones[below])), number)
        for number, (above, below) in enumerate(pairs, start=2)
    )
    paths = [limb.switch_path, *(rotation_path(bone.path[-1]) for bone in further)]
    refuse_unwritable(armature, paths, conversion.settings.destination)
    present = float(armature.path_resolve(limb.switch_path))
    ends = (IkEnd(limb.switch_path, 1.0, present, limb.switch_bone, None),)
    converted = limb_plan(armature, plan, limb.shown, ik=None, ends=ends, keyed_off=True, further=further)
    return replace(converted, goes_on=conversion.goes_on)


def _settings(armature: Object, conversion: Conversion, upper: str, lower: str, tip: str) -> BakeSettings:
    settings = conversion.settings
    if conversion.rigify or conversion.switch_off == "INFLUENCE":
        # IK stays on outside the range, where its result depends on the pose that it starts from, so that must be keyed.
        before, after = conversion.goes_on
        settings = replace(settings, key_before=settings.key_before or before, key_after=settings.key_after or after)
    return replace(
        settings,
        armature=armature.name,
        upper=upper,
        lower=lower,
        tip=tip,
        plane="REST",
        reference="POSE",
        bend="POSITIVE",
    )
