"""A limb switched between FK and IK without being seen to move: its motion baked onto the other side, and the switch keyed."""

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
    """The visible bones of toes, and what poses them on IK."""

    control: RestBone
    parent: Quantity
    """Pose of the control's parent."""
    seen: Array
    """`(F, 4, 4)` poses of the toes before the switch, armature space."""


def seen_toes(scene: Scene, armature: Object, plan: ChainPlan) -> list[Toe]:
    """The toes of a chain's limb as they visibly are; raises `WriteError` where the control cannot be keyed."""
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
    """Key the toes' controls so that on IK, which has its keys, they are as they were seen."""
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
    return replace(report, remarks=[statement("SEEN_TO_MOVE", {"distance": units_of(scene).text(moved)}), *report.remarks])


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
    samples = yield from sample_steps(scene, limb.quantities(), plan.frames, evaluation=evaluation_of([plan]), held=HELD)
    return solve_limb(limb, samples)


def _own_to_fk(
    scene: Scene, settings: BakeSettings, armature: Object, names: ChainNames, wanted: Sequence[Setting]
) -> SwitchReport:
    within = frame_range(scene, settings)
    keyed = switch_keys(settings, wanted, within)
    solved = at_once(_solved_fk(scene, settings, armature, names))
    shown, frames = solved.plan.shown, _whole_frames(within)
    before = _joints(scene, armature, shown, frames)
    write(scene, chain_changes([solved.keyed], "switch"))
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
    # Between keys that are far apart the IK goes its own way, and a robot's foot may be the control itself.
    control = plan.target.bone.name
    is_foot = plan.target.armature == armature.name and Skins().deforms_a_mesh(armature, control)
    shown, is_looked_at = (*plan.shown, control) if is_foot else plan.shown, is_foot or settings.step > 1.0
    frames = _whole_frames(within)
    before = _joints(scene, armature, shown, frames) if is_looked_at else np.zeros(0)
    toes = seen_toes(scene, armature, plan.plan)
    report, lost = bake_plans(scene, [plan])
    toe_keys = key_toes(scene, plan.plan, toes)
    _write_switch_after(scene, settings, armature, keyed, within)
    (chain,), (entry,) = report.chains, report.entries
    chain = replace(chain, notes=[said for said in chain.notes if said.template not in {each.template for each in lost}])
    moved = entry.max_round_trip if isinstance(entry, TargetReport) else None
    if moved is not None and is_looked_at:
        moved = max(moved, float(magnitude(_joints(scene, armature, shown, frames) - before).max()))
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
