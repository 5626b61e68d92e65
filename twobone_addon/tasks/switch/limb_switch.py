"""A limb switched between FK and IK without being seen to move: its motion baked onto the other side, and the switch keyed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np

from ...core.array_types import Array
from ...core.arrays import magnitude
from ...core.curves.frames import frame_grid
from ...errors import ChainError
from ...pipeline.keys.writing import write_chains
from ...pipeline.motion.sampling import sample_steps
from ...pipeline.plan.finding import chain_names, end_bone_of, find_chain, with_end
from ...pipeline.plan.frame_choice import frame_range
from ...pipeline.plan.planning import plan_chain, refuse_unwritable_chain
from ...pipeline.report.statements import statement
from ...pipeline.report.units import units_of
from ...pipeline.run import run, run_steps
from ...pipeline.stages import evaluation_of
from ...pipeline.task import Span, with_range
from ...said import Sentence, note
from ...scene.blender_types import Object, Scene
from ...scene.bones import ChainNames
from ...scene.graph.rig_graph import dependencies
from ...scene.graph.stillness import Stillness
from ...scene.keys.reading import is_animated
from ...scene.keys.tables import ChannelKeys
from ...scene.lookup import find_armature, objects_by_name
from ...scene.restoring import as_evaluated
from ...scene.rig.rigify_reading import rigify_limbs
from ...scene.sampling.quantities import Quantity
from ...scene.sampling.stepping import Steps, at_once, part_of
from ...scene.visible.rig_ik import RigIk, RigReader
from ...scene.visible.switches import Setting
from ...settings import BakeSettings
from ...settings.keys import KeySettings
from ...settings.tasks import ConvertSettings
from ..convert.plans import limb_plan
from ..convert.reports import SEEN_TO_MOVE, ConvertedReport
from ..convert.solving import SolvedLimb, solve_limb
from ..convert.task import CONVERT
from ..give.controls.baking import bake_plans, looking, solved_controls, steered_keys
from ..give.controls.plans import plan_controls
from ..give.records import TargetReport
from .fk_keys import fk_settings_over, is_still, plan_fk_switch, switch_keys, switch_report, write_switch
from .ranges import SwitchRanges, ranges_to_switch
from .records import SwitchReport
from .toes import key_toes, seen_toes


@dataclass(frozen=True, slots=True)
class LimbSwitch:
    """One limb to switch, found and checked."""

    prepare: Callable[[], Steps[None]]
    """Finds and solves all that `write` will, and changes nothing."""
    write: Callable[[], SwitchReport]
    properties: Sequence[tuple[Object, str]] = ()
    """Owners and data paths of what switches it."""


def plan_switch(
    scene: Scene, settings: BakeSettings, active: Object | None, *, to: str, motion: str, just_baked: bool
) -> LimbSwitch:
    """How a limb is switched to FK or to IK over the range; raises a `TwoBoneError` where it cannot be.

    just_baked : the chain's own keys are what somebody wants to see now
    """
    if to == "IK":
        return _to_ik(scene, settings, active)
    armature = find_armature(settings.armature, active)
    names = chain_names(armature, settings)
    if motion == "KEEP" or (motion == "AUTO" and just_baked):
        return LimbSwitch(_nothing, plan_fk_switch(scene, settings, active))
    if motion == "AUTO" and not _is_moved_by_ik(scene, settings, armature, names):
        switch = plan_fk_switch(scene, settings, active)

        def write() -> SwitchReport:
            report = switch()
            return replace(report, remarks=[statement("OWN_KEYS", {})] if report.keys else [])

        return LimbSwitch(_nothing, write)
    return _to_fk(scene, settings, armature, names)


def _nothing() -> Steps[None]:
    yield from ()


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


def _to_fk(scene: Scene, settings: BakeSettings, armature: Object, names: ChainNames) -> LimbSwitch:
    settings = _for_chain(settings, armature, names)
    within = frame_range(scene, settings)
    wanted = fk_settings_over(scene, armature, names, within)
    is_rigify = any(names.upper in limb.controls for limb in rigify_limbs(armature))
    apart = is_rigify or _shown(armature, names) != (names.upper, names.lower, names.tip)
    parts = ranges_to_switch(scene, names, wanted, within, apart=apart) if wanted else SwitchRanges([within], [])

    def prepare(part: Span) -> Steps[None]:
        if is_rigify:
            yield from run_steps(scene, CONVERT, _by_rigify(settings, names, part), armature, dry_run=True)
        else:
            yield from _solved_fk(scene, with_range(settings, part), armature, names)

    def switch(part: Span) -> SwitchReport:
        if is_rigify:
            return _rigify_to_fk(scene, _by_rigify(settings, names, part), armature, names, wanted)
        return _own_to_fk(scene, with_range(settings, part), armature, names, wanted)

    return _over_parts(parts, prepare, switch, partial(_with_moves, scene, armature), wanted)


def _over_parts(
    parts: SwitchRanges,
    prepare: Callable[[Span], Steps[None]],
    switch: Callable[[Span], SwitchReport],
    finish: Callable[[SwitchReport], SwitchReport],
    wanted: Sequence[Setting],
) -> LimbSwitch:
    """Switch each part of a range.

    Each part is planned anew when the one before it was written, because that has left keys beside it: here the story is not
    told in one go. So all parts are tried first, and whatever is refused is refused then.
    """

    def prepare_all() -> Steps[None]:
        for number, part in enumerate(parts.switched):
            yield from part_of(prepare(part), number, len(parts.switched))

    def write_all() -> SwitchReport:
        reports = [switch(part) for part in parts.switched]
        moved = [report.max_moved for report in reports if report.max_moved is not None]
        notes = dict.fromkeys(said for report in reports for said in report.notes)
        whole = replace(
            reports[0],
            keys=sum(report.keys for report in reports),
            frame_end=reports[-1].frame_end,
            ranges=parts.switched,
            max_moved=max(moved, default=None),
            notes=[*notes, *parts.notes],
            remarks=[*(said for report in reports for said in report.remarks), *parts.remarks],
        )
        return finish(whole)

    return LimbSwitch(prepare_all, write_all, [(setting.owner, setting.path) for setting in wanted])


def _with_moves(scene: Scene, armature: Object, report: SwitchReport) -> SwitchReport:
    """The report, with a remark where the limb does not stay where it was to the eye."""
    bones, moved = armature.data.bones, report.max_moved or 0.0
    length = (bones[report.upper].length + bones[report.lower].length) * armature.matrix_world.median_scale
    if moved <= SEEN_TO_MOVE * length:
        return report
    return replace(report, remarks=[*report.remarks, statement("SEEN_TO_MOVE", {"distance": units_of(scene).text(moved)})])


def _by_rigify(settings: BakeSettings, names: ChainNames, part: Span) -> ConvertSettings:
    keys = {entry.name: getattr(with_range(settings, part), entry.name) for entry in fields(KeySettings)}
    return ConvertSettings(**keys, armature=settings.armature, bone=names.upper, rigify=True)


def _rigify_to_fk(
    scene: Scene, wanted: ConvertSettings, armature: Object, names: ChainNames, switched: Sequence[Setting]
) -> SwitchReport:
    report = run(scene, CONVERT, wanted, armature)
    (chain,), (entry,) = report.chains, report.entries
    made = switch_report(armature, names, switched, [], frame_range(scene, wanted.bake()))
    moved = entry.max_moved if isinstance(entry, ConvertedReport) else None
    return replace(made, keys=chain.keys, baked=True, max_moved=moved, notes=chain.notes)


def _solved_fk(scene: Scene, settings: BakeSettings, armature: Object, names: ChainNames) -> Steps[SolvedLimb]:
    plan = plan_chain(scene, settings, armature)
    refuse_unwritable_chain(scene, plan)
    limb = limb_plan(armature, plan, _shown(armature, names), ik=None, ends=(), keyed_off=False)
    samples = yield from sample_steps(scene, limb.quantities(), plan.frames, evaluation=evaluation_of([plan]))
    return solve_limb(limb, samples)


def _own_to_fk(
    scene: Scene, settings: BakeSettings, armature: Object, names: ChainNames, wanted: Sequence[Setting]
) -> SwitchReport:
    within = frame_range(scene, settings)
    keyed = switch_keys(settings, wanted, within)
    solved = at_once(_solved_fk(scene, settings, armature, names))
    shown, frames = solved.plan.shown, _whole_frames(within)
    before = _joints(scene, armature, shown, frames)
    write_chains(scene, [solved.keyed], task="switch")
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


def _to_ik(scene: Scene, settings: BakeSettings, active: Object | None) -> LimbSwitch:
    armature = find_armature(settings.armature, active)
    names = with_end(armature, chain_names(armature, settings))
    reader = RigReader(armature, names)
    ik = reader.steered_by(None)
    control = reader.main_control(ik) if ik else ""
    if ik is None or not control:
        raise ChainError(
            'The limb from "{upper}" to "{lower}" has no IK constraint {what}. Choose a limb that has one.',
            upper=names.upper,
            lower=names.lower,
            what=Sentence("that follows a control bone" if ik else "over its two bones"),
        )
    settings = _for_control(_for_chain(settings, armature, names), armature, ik, control)
    plan = plan_controls(scene, settings, armature)
    within = frame_range(scene, settings)
    if not plan.settings:
        return LimbSwitch(_nothing, lambda: switch_report(armature, names, [], [], within, to="IK"))
    apart = plan.shown[:2] != (names.upper, names.lower)
    parts = ranges_to_switch(scene, names, plan.settings, within, apart=apart)
    if not parts.switched:
        return LimbSwitch(_nothing, lambda: switch_report(armature, names, [], [], within, to="IK"))

    def prepare(part: Span) -> Steps[None]:
        own = plan_controls(scene, with_range(settings, part), armature)
        solved, _ = yield from solved_controls([own], looking(scene))
        yield from steered_keys(scene, solved)

    def switch(part: Span) -> SwitchReport:
        return _part_to_ik(scene, with_range(settings, part), armature, names)

    return _over_parts(parts, prepare, switch, partial(_with_moves, scene, armature), plan.settings)


def _part_to_ik(scene: Scene, settings: BakeSettings, armature: Object, names: ChainNames) -> SwitchReport:
    within = frame_range(scene, settings)
    plan = plan_controls(scene, settings, armature)
    keyed = switch_keys(settings, plan.settings, within)
    # Between keys that are far apart the IK goes its own way.
    frames = _whole_frames(within) if settings.step > 1.0 else plan.plan.report_frames[:1]
    before = _joints(scene, armature, plan.shown, frames)
    toes = seen_toes(scene, armature, plan.plan)
    report, lost = bake_plans(scene, [plan])
    toe_keys = key_toes(scene, plan.plan, toes)
    _write_switch_after(scene, settings, armature, keyed, within)
    (chain,), (entry,) = report.chains, report.entries
    chain = replace(chain, notes=[said for said in chain.notes if said.template not in {each.template for each in lost}])
    moved = entry.max_round_trip if isinstance(entry, TargetReport) else None
    if moved is not None and settings.step > 1.0:
        moved = max(moved, float(magnitude(_joints(scene, armature, plan.shown, frames) - before).max()))
    made = switch_report(armature, names, plan.settings, [*_all(keyed), *toe_keys], within, to="IK")
    why = Sentence("it poses the toes on IK")
    kept = [note('Bone "{bone}" was keyed as well, because {reason}.', bone=toe.control.name, reason=why) for toe in toes]
    return replace(made, keys=made.keys + chain.keys, baked=True, max_moved=moved, notes=[*chain.notes, *kept], remarks=lost)


def _for_chain(settings: BakeSettings, armature: Object, names: ChainNames) -> BakeSettings:
    """The settings of a bake that keeps the chain as it is, with the channels held outside the range.

    Of those that are given only what says where keys go counts: reach, limits and the like are for a chain that follows.
    """
    keys: dict[str, Any] = {entry.name: getattr(settings, entry.name) for entry in fields(KeySettings)}
    keys["frame_range"] = "SCENE" if settings.frame_range == "AUTO" else settings.frame_range
    # The frames that a target or the chain has keys on would not show the visible motion between them.
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
    """The visible bones at the upper bone, the lower bone and the tip's bone."""
    reader = RigReader(armature, names)
    ik = reader.steered_by(None)
    chain = (names.upper, names.lower, names.tip)
    return tuple(reader.shown(bone, ik.target) or bone for bone in chain) if ik else chain


def _whole_frames(within: tuple[float, float]) -> Array:
    """Every frame of a range, those without keys as well."""
    return frame_grid(*within, 1.0)


def _joints(scene: Scene, armature: Object, shown: tuple[str, ...], frames: Array) -> Array:
    """The visible heads of bones, world space, `(F, B, 3)`."""
    quantities = [Quantity("WORLD", armature.name, bone) for bone in shown]
    samples = at_once(sample_steps(scene, quantities, frames, evaluation="PROBES"))
    return np.stack([samples.every(each)[:, :3, 3] for each in quantities], axis=1)


def _all(keyed: dict[Object, list[ChannelKeys]]) -> list[ChannelKeys]:
    return [key for keys in keyed.values() for key in keys]
