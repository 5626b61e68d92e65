"""A limb switched between FK and IK without being seen to move: its motion baked onto the other side, and the switch keyed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from ...array_types import Array
from ...arrays import magnitude
from ...errors import ChainError
from ...scene.blender_types import Object, Scene
from ...scene.evaluated import as_evaluated
from ...scene.keys.reading import is_animated
from ...scene.keys.writing import ChannelKeys
from ...scene.lookup import find_armature, objects_by_name
from ...scene.moves.dependencies import dependencies
from ...scene.moves.stillness import Stillness
from ...scene.rig.chain_finding import ChainNames
from ...scene.rig.rigify_reading import rigify_limbs
from ...scene.sight.rig_ik import RigIk, RigReader
from ...scene.sight.switches import Setting
from ...scene.walk.evaluate import Quantity
from ...scene.walk.stepping import at_once
from ...settings import BakeSettings
from ...settings.keys import KeySettings
from ..actions.passes import Span, with_range
from ..controls.baking import bake_plans, solved_controls, steered_keys
from ..controls.plans import plan_controls
from ..fk_to_target.records import TargetReport
from ..ik_to_fk.converting import convert, refuse_conversion
from ..ik_to_fk.plans import Conversion, limb_plan
from ..ik_to_fk.reports import SEEN_TO_MOVE, ConvertedReport
from ..ik_to_fk.solving import SolvedLimb, solve_limb
from ..keys.writing import write_chains
from ..motion.sampling import sample_steps
from ..plan.finding import chain_names, end_bone_of, find_chain, with_end
from ..plan.frame_choice import frame_range
from ..plan.planning import plan_chain, refuse_unwritable_chain
from ..report.statements import Statement
from ..report.units import units_of
from ..stages import evaluation_of
from .fk_keys import fk_settings_over, is_still, switch_keys, switch_report, switch_to_fk, write_switch
from .ranges import SwitchRanges, ranges_to_switch
from .records import SwitchReport
from .toes import key_toes, seen_toes


def switch_limb(
    scene: Scene, settings: BakeSettings, active: Object | None, *, to: str, motion: str, just_baked: bool
) -> SwitchReport:
    """Switch a limb to FK or to IK over the range; raises a `TwoBoneError` before anything is changed.

    just_baked : the chain's own keys are what somebody wants to see now
    """
    if to == "IK":
        return _to_ik(scene, settings, active)
    armature = find_armature(settings.armature, active)
    names = chain_names(armature, settings)
    if motion == "KEEP" or (motion == "AUTO" and just_baked):
        return switch_to_fk(scene, settings, active)
    if motion == "AUTO" and not _is_moved_by_ik(scene, settings, armature, names):
        report = switch_to_fk(scene, settings, active)
        return replace(report, remarks=[Statement("OWN_KEYS", {})] if report.keys else [])
    return _to_fk(scene, settings, armature, names)


def _is_moved_by_ik(scene: Scene, settings: BakeSettings, armature: Object, names: ChainNames) -> bool:
    """Whether the limb shows motion that its own FK bones do not have."""
    if is_still(armature) or not fk_settings_over(scene, armature, names, frame_range(scene, settings)):
        return False
    ik = RigReader(armature, names).steered_by(None)
    followed = [ik.target, *([ik.pole] if ik.pole else [])] if ik else []
    if followed and not Stillness().holds(dependencies(objects_by_name(), followed).nodes):
        return True
    bones = (armature.pose.bones[name] for name in (names.upper, names.lower))
    paths = [bone.path_from_id(channel) for bone in bones for channel in ("rotation_quaternion", "rotation_euler")]
    return not any(is_animated(armature, path) for path in paths)


def _to_fk(scene: Scene, settings: BakeSettings, armature: Object, names: ChainNames) -> SwitchReport:
    settings = _for_chain(settings, armature, names)
    within = frame_range(scene, settings)
    wanted = fk_settings_over(scene, armature, names, within)
    is_rigify = any(names.upper in limb.controls for limb in rigify_limbs(armature))
    apart = is_rigify or _shown(armature, names) != (names.upper, names.lower, names.tip)
    parts = ranges_to_switch(scene, names, wanted, within, apart=apart) if wanted else SwitchRanges([within], [])

    def prepare(part: Span) -> None:
        if is_rigify:
            refuse_conversion(scene, _by_rigify(settings, names, part), armature)
        else:
            _solved_fk(scene, with_range(settings, part), armature, names)

    def switch(part: Span) -> SwitchReport:
        if is_rigify:
            return _rigify_to_fk(scene, _by_rigify(settings, names, part), armature, names, wanted)
        return _own_to_fk(scene, with_range(settings, part), armature, names, wanted)

    return _with_moves(scene, armature, _over_parts(parts, prepare, switch))


def _over_parts(parts: SwitchRanges, prepare: Callable[[Span], None], switch: Callable[[Span], SwitchReport]) -> SwitchReport:
    """Switch each part of a range; raises a `TwoBoneError` before anything is changed.

    Each is planned after the one before was written, because that has left keys beside it. So all are tried first.
    """
    if len(parts.switched) > 1:
        for part in parts.switched:
            prepare(part)
    reports = [switch(part) for part in parts.switched]
    moved = [report.max_moved for report in reports if report.max_moved is not None]
    notes = dict.fromkeys(note for report in reports for note in report.notes)
    return replace(
        reports[0],
        keys=sum(report.keys for report in reports),
        frame_end=reports[-1].frame_end,
        ranges=parts.switched,
        max_moved=max(moved, default=None),
        notes=[*notes, *parts.notes],
        remarks=parts.remarks,
    )


def _with_moves(scene: Scene, armature: Object, report: SwitchReport) -> SwitchReport:
    """The report, with a remark where the limb does not stay where it was to the eye."""
    bones, moved = armature.data.bones, report.max_moved or 0.0
    length = (bones[report.upper].length + bones[report.lower].length) * armature.matrix_world.median_scale
    if moved <= SEEN_TO_MOVE * length:
        return report
    return replace(report, remarks=[*report.remarks, Statement("SEEN_TO_MOVE", {"distance": units_of(scene).text(moved)})])


def _by_rigify(settings: BakeSettings, names: ChainNames, part: Span) -> Conversion:
    return Conversion(with_range(settings, part), bone=names.upper, rigify=True)


def _rigify_to_fk(
    scene: Scene, wanted: Conversion, armature: Object, names: ChainNames, switched: Sequence[Setting]
) -> SwitchReport:
    report = convert(scene, wanted, armature)
    (chain,), (entry,) = report.chains, report.entries
    made = switch_report(armature, names, switched, [], frame_range(scene, wanted.settings))
    moved = entry.max_moved if isinstance(entry, ConvertedReport) else None
    return replace(made, keys=chain.keys, baked=True, max_moved=moved, notes=chain.notes)


def _solved_fk(scene: Scene, settings: BakeSettings, armature: Object, names: ChainNames) -> SolvedLimb:
    plan = plan_chain(scene, settings, armature)
    refuse_unwritable_chain(scene, plan)
    limb = limb_plan(armature, plan, _shown(armature, names), ik=None, ends=(), keyed_off=False)
    return solve_limb(limb, at_once(sample_steps(scene, limb.quantities(), plan.frames, evaluation=evaluation_of([plan]))))


def _own_to_fk(
    scene: Scene, settings: BakeSettings, armature: Object, names: ChainNames, wanted: Sequence[Setting]
) -> SwitchReport:
    within = frame_range(scene, settings)
    keyed = switch_keys(settings, wanted, within)
    solved = _solved_fk(scene, settings, armature, names)
    shown, frames = solved.plan.shown, solved.plan.chain.report_frames
    before = _joints(scene, armature, shown, frames)
    write_chains(scene, [solved.keyed])
    _write_switch_after(scene, settings, armature, keyed, within)
    moved = float(magnitude(_joints(scene, armature, shown, frames) - before).max())
    made = switch_report(armature, names, wanted, [*solved.keyed.keys, *_all(keyed)], within)
    return replace(made, baked=True, max_moved=moved)


def _write_switch_after(
    scene: Scene, settings: BakeSettings, armature: Object, keyed: dict[Object, list[ChannelKeys]], within: tuple[float, float]
) -> None:
    """Key the switch once the new keys have posed the limb, or the pose from before would count as edits to be kept."""
    as_evaluated(armature)
    write_switch(scene, settings, keyed, within)


def _to_ik(scene: Scene, settings: BakeSettings, active: Object | None) -> SwitchReport:
    armature = find_armature(settings.armature, active)
    names = with_end(armature, chain_names(armature, settings))
    reader = RigReader(armature, names)
    ik = reader.steered_by(None)
    control = reader.main_control(ik) if ik else ""
    if ik is None or not control:
        what = "that follows a control bone" if ik else "over its two bones"
        raise ChainError(
            f'The limb from "{names.upper}" to "{names.lower}" has no IK constraint {what}. Choose a limb that has one.'
        )
    settings = _for_control(_for_chain(settings, armature, names), armature, ik, control)
    plan = plan_controls(scene, settings, armature)
    within = frame_range(scene, settings)
    if not plan.settings:
        return switch_report(armature, names, [], [], within, to="IK")
    apart = plan.shown[:2] != (names.upper, names.lower)
    parts = ranges_to_switch(scene, names, plan.settings, within, apart=apart)
    if not parts.switched:
        return switch_report(armature, names, [], [], within, to="IK")

    def prepare(part: Span) -> None:
        own = plan_controls(scene, with_range(settings, part), armature)
        at_once(steered_keys(scene, at_once(solved_controls(scene, [own]))[0]))

    def switch(part: Span) -> SwitchReport:
        return _part_to_ik(scene, with_range(settings, part), armature, names)

    return _with_moves(scene, armature, _over_parts(parts, prepare, switch))


def _part_to_ik(scene: Scene, settings: BakeSettings, armature: Object, names: ChainNames) -> SwitchReport:
    within = frame_range(scene, settings)
    plan = plan_controls(scene, settings, armature)
    keyed = switch_keys(settings, plan.settings, within)
    toes = seen_toes(scene, armature, plan.plan)
    report = at_once(bake_plans(scene, [plan]))
    toe_keys = key_toes(scene, plan.plan, toes)
    _write_switch_after(scene, settings, armature, keyed, within)
    (chain,), (entry,) = report.chains, report.entries
    moved = entry.max_round_trip if isinstance(entry, TargetReport) else None
    made = switch_report(armature, names, plan.settings, [*_all(keyed), *toe_keys], within, to="IK")
    kept = [f'Bone "{toe.control.name}" was keyed as well, because it poses the toes on IK.' for toe in toes]
    return replace(made, keys=made.keys + chain.keys, baked=True, max_moved=moved, notes=[*chain.notes, *kept])


def _for_chain(settings: BakeSettings, armature: Object, names: ChainNames) -> BakeSettings:
    """The settings of a bake that keeps the chain as it is, with the channels held outside the range.

    Of those that are given only what says where keys go counts: reach, limits and the like are for a chain that follows.
    """
    keys: dict[str, Any] = {entry.name: getattr(settings, entry.name) for entry in fields(KeySettings)}
    keys["frame_range"] = "SCENE" if settings.frame_range == "AUTO" else settings.frame_range
    # The frames that a target or the chain has keys on would not show what is seen between them.
    keys["keys"] = "REDUCE" if settings.keys == "REDUCE" else "FRAMES"
    keys["keep_keys"] = "EXTREMES" if settings.keep_keys == "EXTREMES" else "NONE"
    keys["key_before"] = keys["key_after"] = True
    settings = BakeSettings(
        **keys,
        armature=armature.name,
        upper=names.upper,
        lower=names.lower,
        tip=names.tip,
        tip_end="TAIL" if names.tip_at_tail else "HEAD",
        plane="REST",
        reference="POSE",
        stored=settings.stored,
        asked=settings.asked & keys.keys(),
    )
    turned = replace(settings, end_rotation="KEEP")
    try:
        end_bone_of(find_chain(turned, armature), turned)
    except ChainError:
        return settings
    return turned


def _for_control(settings: BakeSettings, armature: Object, ik: RigIk, control: str) -> BakeSettings:
    """The settings of a bake onto the controls of an IK."""
    turned = "TARGET" if settings.end_rotation == "KEEP" else "NONE"
    pole = ik.pole is not None and ik.pole[1] != "" and ik.pole[0] == armature.name
    guided = {"plane": "POLE", "pole": ik.pole[0], "pole_bone": ik.pole[1]} if pole and ik.pole else {"plane": "POSE"}
    return replace(settings, target=armature.name, target_bone=control, end_rotation=turned, reference="REST", **guided)


def _shown(armature: Object, names: ChainNames) -> tuple[str, ...]:
    """The bones that are seen where upper and lower bone and the tip's bone are."""
    reader = RigReader(armature, names)
    ik = reader.steered_by(None)
    chain = (names.upper, names.lower, names.tip)
    return tuple(reader.shown(bone, ik.target) or bone for bone in chain) if ik else chain


def _joints(scene: Scene, armature: Object, shown: tuple[str, ...], frames: Array) -> Array:
    """Where the heads of bones are seen, world space, `(F, B, 3)`."""
    quantities = [Quantity("WORLD", armature.name, bone) for bone in shown]
    samples = at_once(sample_steps(scene, quantities, frames, evaluation="PROBES"))
    return np.stack([samples.every(each)[:, :3, 3] for each in quantities], axis=1)


def _all(keyed: dict[Object, list[ChannelKeys]]) -> list[ChannelKeys]:
    return [key for keys in keyed.values() for key in keys]
