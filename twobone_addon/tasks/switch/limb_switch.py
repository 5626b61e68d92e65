"""Switch a limb between FK and IK without visible movement: bake its motion onto the other side, and key the switch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np

from ...core.array_types import Array
from ...core.arrays import magnitude
from ...core.curves.frames import frame_grid, ranges
from ...core.rig.bones import RestBone
from ...core.rig.inheritance import local_basis
from ...core.rig.rotations import nearest_rotation
from ...errors import ChainError
from ...pipeline.motion.sampling import sample_steps
from ...pipeline.plan.chain_plan import ChainPlan
from ...pipeline.plan.found_chain import chain_names, end_bone_of, find_chain, with_end
from ...pipeline.plan.frame_choice import frame_range
from ...pipeline.plan.planning import plan_chain, refuse_unwritable_chain
from ...pipeline.report.reports import statement
from ...pipeline.report.units import units_of
from ...pipeline.run import run, run_steps
from ...pipeline.stages import chain_changes, evaluation_of
from ...pipeline.task import HELD, Span, with_range
from ...said import Sentence, note
from ...scene.blender_types import Object, Scene
from ...scene.bones import ChainNames, read_rest_bone, rotation_path
from ...scene.graph.rig_graph import dependencies
from ...scene.graph.stillness import Stillness
from ...scene.keys.guarding import refuse_unwritable
from ...scene.keys.reading import is_animated
from ...scene.keys.replaced import limb_name
from ...scene.keys.tables import ChannelKeys
from ...scene.keys.writing import Change, write
from ...scene.lookup import find_armature, object_named, objects_by_name, rotation_values
from ...scene.restoring import as_evaluated
from ...scene.rig.rigify_reading import rigify_limbs
from ...scene.sampling.evaluate import values_over
from ...scene.sampling.quantities import Quantity
from ...scene.sampling.stepping import Steps, at_once, part_of
from ...scene.visible.rig_ik import RigIk, RigReader
from ...scene.visible.skin import Skins
from ...scene.visible.switches import SAME, Setting
from ...settings import BakeSettings
from ...settings.bake_options import KeySettings
from ...settings.tasks import ConvertSettings
from ..convert.converted_report import ConvertedReport
from ..convert.plans import limb_plan
from ..convert.reports import SEEN_TO_MOVE
from ..convert.solve import SolvedLimb, solve_limb
from ..convert.task import CONVERT
from ..give.controls.baking import bake_plans, looking, solved_controls, steered_keys
from ..give.controls.plans import plan_controls, toe_controls
from ..give.keys import chosen_keys, rotation_drift, rotation_samples
from ..give.target_report import TargetReport
from .fk_keys import fk_settings_over, is_still, plan_fk_switch, switch_keys, switch_report, write_switch
from .switch_report import SwitchReport, in_words


@dataclass(frozen=True, slots=True)
class Toe:
    """A visible toe bone before the switch, and the control that poses it on IK."""

    control: RestBone
    parent: Quantity
    """Pose of the control's parent."""
    seen: Array
    """`(F, 4, 4)` poses of the toe bone before the switch, armature space."""


def seen_toes(scene: Scene, armature: Object, plan: ChainPlan) -> list[Toe]:
    """Sample the visible toes of a chain's limb; raises `WriteError` where a control of theirs cannot be keyed."""
    found = [
        (shown, read_rest_bone(control), Quantity("POSE", armature.name, control.parent.name))
        for shown, control in toe_controls(armature, plan.names.upper)
    ]
    if not found:
        return []
    refuse_unwritable(armature, [rotation_path(control) for _, control, _ in found], plan.settings.destination)
    quantities = [Quantity("POSE", armature.name, shown) for shown, _, _ in found]
    seen = at_once(sample_steps(scene, quantities, plan.frames, evaluation="PROBES", held=HELD))
    return [Toe(control, parent, seen.every(each)) for each, (_, control, parent) in zip(quantities, found, strict=True)]


def key_toes(scene: Scene, plan: ChainPlan, toes: Sequence[Toe]) -> list[ChannelKeys]:
    """Key the toes' controls so that the toes keep their earlier poses on IK, whose keys must be written already."""
    if not toes:
        return []
    armature = object_named(plan.names.armature)
    poses = at_once(sample_steps(scene, [toe.parent for toe in toes], plan.frames, evaluation="PROBES"))
    keys: list[ChannelKeys] = []
    for toe in toes:
        bone = toe.control
        rotation = nearest_rotation(local_basis(bone, poses.every(toe.parent), toe.seen)[1])
        present = rotation_values(armature.pose.bones[bone.name])
        mode = bone.rotation_mode
        curves = rotation_samples(plan, armature, rotation_path(bone), bone.name, rotation, mode=mode, present=present)
        keys += chosen_keys(plan, armature, curves, rotation_drift(mode, rotation, bone.length))[0]
    names, settings, within = plan.names, plan.settings, (float(plan.frames[0]), float(plan.frames[-1]))
    change = Change(
        owner=names.armature,
        keys=keys,
        within=within,
        task="switch",
        limb=limb_name(names.armature, names.upper),
        destination=settings.destination,
        strip=settings.stored or names.upper,
    )
    write(scene, [change])
    return keys


@dataclass(frozen=True, slots=True)
class SwitchRanges:
    """Parts of a range, each as its first and last frame."""

    switched: list[tuple[float, float]]
    """Parts in which to switch the limb, with its motion; empty if it is on the wanted side throughout."""
    between: list[tuple[float, float]]
    """Parts in which it is blended between the sides, in poses that neither side may have."""

    @property
    def notes(self) -> list[Sentence]:
        """Notes on frames that stay blended between the sides."""
        if not self.between:
            return []
        return [note("Skipped frames {frames}: the limb is blended between FK and IK there.", frames=in_words(self.between))]

    @property
    def remarks(self) -> list[Sentence]:
        """Status bar statements on frames that stay blended between the sides."""
        return [statement("HALFWAY", {"frames": in_words(self.between)}, self.between)] if self.between else []


def ranges_to_switch(
    scene: Scene, names: ChainNames, wanted: Sequence[Setting], within: tuple[float, float], *, apart: bool
) -> SwitchRanges:
    """Find the frames of a range at which the switches do not have their wanted values.

    apart : FK, IK and visible bones are separate, so that the visible limb is a blend of both while a switch is halfway

    Raises `ChainError` where it is halfway at all of these frames.
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


@dataclass(frozen=True, slots=True)
class LimbSwitch:
    """One limb to switch, found and checked."""

    prepare: Callable[[], Steps[None]]
    """Solves everything that `write` will write, without changing anything."""
    write: Callable[[], SwitchReport]
    properties: Sequence[tuple[Object, str]] = ()
    """Owners and data paths of the properties that switch it."""


def plan_switch(
    scene: Scene, settings: BakeSettings, active: Object | None, *, to: str, motion: str, just_baked: bool
) -> LimbSwitch:
    """Plan the switch of a limb to FK or IK over the range; raises a `TwoBoneError` where it cannot be switched.

    just_baked : the chain was just baked, so that its own keys should become visible instead of the present motion
    """
    if to == "IK":
        return _to_ik(scene, settings, active)
    armature = find_armature(settings.armature, active)
    names = chain_names(armature, settings)
    if motion == "KEEP" or (motion == "AUTO" and just_baked):
        return LimbSwitch(_no_steps, plan_fk_switch(scene, settings, active))
    if motion == "AUTO" and not _is_moved_by_ik(scene, settings, armature, names):
        switch = plan_fk_switch(scene, settings, active)

        def write() -> SwitchReport:
            report = switch()
            return replace(report, remarks=[statement("OWN_KEYS", {})] if report.keys else [])

        return LimbSwitch(_no_steps, write)
    return _to_fk(scene, settings, armature, names)


def _no_steps() -> Steps[None]:
    yield from ()


def _is_moved_by_ik(scene: Scene, settings: BakeSettings, armature: Object, names: ChainNames) -> bool:
    """Whether the limb is on IK in the range, and its IK's target or pole moves, or its FK bones have no animated rotation."""
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
    apart = is_rigify or _visible_bones(armature, names) != (names.upper, names.lower, names.tip)
    parts = ranges_to_switch(scene, names, wanted, within, apart=apart) if wanted else SwitchRanges([within], [])

    def prepare(part: Span) -> Steps[None]:
        if is_rigify:
            yield from run_steps(scene, CONVERT, _rigify_settings(settings, names, part), armature, dry_run=True)
        else:
            yield from _solved_fk(scene, with_range(settings, part), armature, names)

    def switch(part: Span) -> SwitchReport:
        if is_rigify:
            return _rigify_to_fk(scene, _rigify_settings(settings, names, part), armature, names, wanted)
        return _plain_to_fk(scene, with_range(settings, part), armature, names, wanted)

    return _over_parts(parts, prepare, switch, partial(_with_movement_remark, scene, armature), wanted)


def _over_parts(
    parts: SwitchRanges,
    prepare: Callable[[Span], Steps[None]],
    switch: Callable[[Span], SwitchReport],
    finish: Callable[[SwitchReport], SwitchReport],
    wanted: Sequence[Setting],
) -> LimbSwitch:
    """Switch each part of a range.

    Each part is planned anew after the one before it was written, because that leaves keys beside it: plan, solve and write
    repeat for each part. So all parts are tried first, and any refusal is raised then.
    """

    def prepare_all() -> Steps[None]:
        for number, part in enumerate(parts.switched):
            yield from part_of(prepare(part), number, len(parts.switched))

    def write_all() -> SwitchReport:
        reports = [switch(part) for part in parts.switched]
        moved = [report.max_moved for report in reports if report.max_moved is not None]
        notes = dict.fromkeys(sentence for report in reports for sentence in report.notes)
        combined = replace(
            reports[0],
            keys=sum(report.keys for report in reports),
            frame_end=reports[-1].frame_end,
            ranges=parts.switched,
            max_moved=max(moved, default=None),
            notes=[*notes, *parts.notes],
            remarks=[*(remark for report in reports for remark in report.remarks), *parts.remarks],
        )
        return finish(combined)

    return LimbSwitch(prepare_all, write_all, [(setting.owner, setting.path) for setting in wanted])


def _with_movement_remark(scene: Scene, armature: Object, report: SwitchReport) -> SwitchReport:
    """The report, with a remark if the limb visibly moved."""
    bones, moved = armature.data.bones, report.max_moved or 0.0
    length = (bones[report.upper].length + bones[report.lower].length) * armature.matrix_world.median_scale
    if moved <= SEEN_TO_MOVE * length:
        return report
    return replace(report, remarks=[statement("SEEN_TO_MOVE", {"distance": units_of(scene).text(moved)}), *report.remarks])


def _rigify_settings(settings: BakeSettings, names: ChainNames, part: Span) -> ConvertSettings:
    keys = {entry.name: getattr(with_range(settings, part), entry.name) for entry in fields(KeySettings)}
    return ConvertSettings(**keys, armature=settings.armature, bone=names.upper, rigify=True)


def _rigify_to_fk(
    scene: Scene, wanted: ConvertSettings, armature: Object, names: ChainNames, switched: Sequence[Setting]
) -> SwitchReport:
    report = run(scene, CONVERT, wanted, armature)
    (chain,), (entry,) = report.chains, report.entries
    switched_report = switch_report(armature, names, switched, [], frame_range(scene, wanted.bake()))
    moved = entry.max_moved if isinstance(entry, ConvertedReport) else None
    return replace(switched_report, keys=chain.keys, baked=True, max_moved=moved, notes=chain.notes)


def _solved_fk(scene: Scene, settings: BakeSettings, armature: Object, names: ChainNames) -> Steps[SolvedLimb]:
    plan = plan_chain(scene, settings, armature)
    refuse_unwritable_chain(scene, plan)
    limb = limb_plan(armature, plan, _visible_bones(armature, names), ik=None, ends=(), keyed_off=False)
    samples = yield from sample_steps(scene, limb.quantities(), plan.frames, evaluation=evaluation_of([plan]), held=HELD)
    return solve_limb(limb, samples)


def _plain_to_fk(
    scene: Scene, settings: BakeSettings, armature: Object, names: ChainNames, wanted: Sequence[Setting]
) -> SwitchReport:
    within = frame_range(scene, settings)
    keyed = switch_keys(settings, wanted, within)
    solved = at_once(_solved_fk(scene, settings, armature, names))
    shown, frames = solved.plan.shown, frame_grid(*within)
    before = _joints(scene, armature, shown, frames)
    write(scene, chain_changes([solved.keyed], "switch"))
    _write_switch_after(scene, settings, armature, keyed, within)
    moved = float(magnitude(_joints(scene, armature, shown, frames) - before).max())
    report = switch_report(armature, names, wanted, [*solved.keyed.keys, *_all_keys(keyed)], within)
    return replace(report, baked=True, max_moved=moved)


def _write_switch_after(
    scene: Scene, settings: BakeSettings, armature: Object, keyed: dict[Object, list[ChannelKeys]], within: tuple[float, float]
) -> None:
    """Key the switch after the new keys have been evaluated; else the earlier pose would be kept as the user's unkeyed edits."""
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
        return LimbSwitch(_no_steps, lambda: switch_report(armature, names, [], [], within, to="IK"))
    apart = plan.shown[:2] != (names.upper, names.lower)
    parts = ranges_to_switch(scene, names, plan.settings, within, apart=apart)
    if not parts.switched:
        return LimbSwitch(_no_steps, lambda: switch_report(armature, names, [], [], within, to="IK"))

    def prepare(part: Span) -> Steps[None]:
        part_plan = plan_controls(scene, with_range(settings, part), armature)
        solved, _ = yield from solved_controls([part_plan], looking(scene))
        yield from steered_keys(scene, solved)

    def switch(part: Span) -> SwitchReport:
        return _part_to_ik(scene, with_range(settings, part), armature, names)

    return _over_parts(parts, prepare, switch, partial(_with_movement_remark, scene, armature), plan.settings)


def _part_to_ik(scene: Scene, settings: BakeSettings, armature: Object, names: ChainNames) -> SwitchReport:
    within = frame_range(scene, settings)
    plan = plan_controls(scene, settings, armature)
    keyed = switch_keys(settings, plan.settings, within)
    # Measure movement here where the bake's own report cannot: between keys more than a frame apart the IK deviates from the
    # motion, and a robot's foot may be the control itself.
    control = plan.target.bone.name
    is_foot = plan.target.armature == armature.name and Skins().deforms_a_mesh(armature, control)
    shown, is_measured = (*plan.shown, control) if is_foot else plan.shown, is_foot or settings.step > 1.0
    frames = frame_grid(*within)
    before = _joints(scene, armature, shown, frames) if is_measured else np.zeros(0)
    toes = seen_toes(scene, armature, plan.plan)
    report, lost = bake_plans(scene, [plan])
    toe_keys = key_toes(scene, plan.plan, toes)
    _write_switch_after(scene, settings, armature, keyed, within)
    (chain,), (entry,) = report.chains, report.entries
    notes = [each for each in chain.notes if each.template not in {twist.template for twist in lost}]
    moved = entry.max_round_trip if isinstance(entry, TargetReport) else None
    if moved is not None and is_measured:
        moved = max(moved, float(magnitude(_joints(scene, armature, shown, frames) - before).max()))
    switched = switch_report(armature, names, plan.settings, [*_all_keys(keyed), *toe_keys], within, to="IK")
    why = Sentence("it poses the toes on IK")
    notes += [note('Bone "{bone}" was keyed as well, because {reason}.', bone=toe.control.name, reason=why) for toe in toes]
    return replace(switched, keys=switched.keys + chain.keys, baked=True, max_moved=moved, notes=notes, remarks=lost)


def _for_chain(settings: BakeSettings, armature: Object, names: ChainNames) -> BakeSettings:
    """Settings of a bake that preserves the chain's pose, with the channels held outside the range.

    Only the key settings are taken over: reach, limits and the like are for a chain that follows a target.
    """
    keys: dict[str, Any] = {entry.name: getattr(settings, entry.name) for entry in fields(KeySettings)}
    keys["frame_range"] = "SCENE" if settings.frame_range == "AUTO" else settings.frame_range
    # Keys only at the frames where the target or the chain has keys would lose the visible motion between them.
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
    with_end_kept = replace(settings, end_rotation="KEEP")
    try:
        end_bone_of(find_chain(with_end_kept, armature), with_end_kept)
    except ChainError:
        return settings
    return with_end_kept


def _for_control(settings: BakeSettings, armature: Object, ik: RigIk, control: str) -> BakeSettings:
    """Settings of a bake onto the controls of an IK."""
    end_rotation = "TARGET" if settings.end_rotation == "KEEP" else "NONE"
    has_pole_bone = ik.pole is not None and ik.pole[1] != "" and ik.pole[0] == armature.name
    plane = {"plane": "POLE", "pole": ik.pole[0], "pole_bone": ik.pole[1]} if has_pole_bone and ik.pole else {"plane": "POSE"}
    return replace(settings, target=armature.name, target_bone=control, end_rotation=end_rotation, reference="REST", **plane)


def _visible_bones(armature: Object, names: ChainNames) -> tuple[str, ...]:
    """Bones that visibly show the upper bone, the lower bone and the tip's bone."""
    reader = RigReader(armature, names)
    ik = reader.steered_by(None)
    chain = (names.upper, names.lower, names.tip)
    return tuple(reader.shown(bone, ik.target) or bone for bone in chain) if ik else chain


def _joints(scene: Scene, armature: Object, shown: tuple[str, ...], frames: Array) -> Array:
    """Evaluated heads of bones, world space, `(F, B, 3)`."""
    quantities = [Quantity("WORLD", armature.name, bone) for bone in shown]
    samples = at_once(sample_steps(scene, quantities, frames, evaluation="PROBES"))
    return np.stack([samples.every(each)[:, :3, 3] for each in quantities], axis=1)


def _all_keys(keyed: dict[Object, list[ChannelKeys]]) -> list[ChannelKeys]:
    return [key for keys in keyed.values() for key in keys]
