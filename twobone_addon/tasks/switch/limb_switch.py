"""Switch a limb between FK and IK without visible movement: its motion on the side that it leaves, on the side it comes to."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from ...core.array_types import KeyFrames
from ...core.arrays import path_length
from ...core.curves.frames import frame_grid, ranges
from ...errors import ChainError
from ...pipeline.gate import refuse_live
from ...pipeline.keys_beside import held_beside, holds
from ...pipeline.motion.sampling import sample
from ...pipeline.plan.found_chain import chain_names, end_bone_of, find_chain, with_end
from ...pipeline.plan.frame_choice import frame_range
from ...pipeline.plan.planning import plan_chain, refuse_unwritable_chain
from ...pipeline.proof import SeenBones, Trial, seen_below
from ...pipeline.report.reports import statement
from ...pipeline.stages import chain_changes, evaluation_of, with_steps
from ...pipeline.story import Sample, Span, Story, with_range
from ...records import replace
from ...said import Sentence, Statement, note
from ...scene.blender_types import Object, Property, Scene
from ...scene.bones import ChainNames, read_rest_bone, rotation_path
from ...scene.graph.rig_graph import Stillness, dependencies
from ...scene.keys.destinations import has_baked_strip
from ...scene.keys.guarding import refuse_unwritable
from ...scene.keys.ledger import Ledger
from ...scene.keys.reading import is_rotation_animated, read_keyed
from ...scene.keys.replaced import limb_name
from ...scene.keys.tables import ChannelKeys, StraightKeys
from ...scene.keys.writing import Change
from ...scene.lookup import find_armature, key_of, object_named, objects_by_name
from ...scene.restoring import frame_and_edits_kept
from ...scene.rig.constraints import is_acting
from ...scene.rig.rest_reading import bone_path, read_rest_chain
from ...scene.rig.rigify_reading import rigify_limbs
from ...scene.sampling.evaluate import values_over
from ...scene.sampling.quantities import Quantity
from ...scene.versions import curve_bag
from ...scene.visible.rig_ik import RigIk, RigReader
from ...scene.visible.skin import Skins
from ...scene.visible.switches import (
    SAME,
    Setting,
    SwitchedBone,
    fk_settings,
    state_of_switches,
    switch_frames,
    switched_bones,
)
from ...scene.visible.visible_bone import LimbInfluences, shown_bone
from ...settings import BakeSettings
from ...settings.bake_options import KeySettings
from ...settings.tasks import ConvertSettings
from ..convert.plans import Conversion, limb_plan, plan_limbs
from ..convert.solve import FkKeys, FurtherBone, LimbPlan, solve_limb
from ..give.controls.baking import (
    Toe,
    control_reports,
    controls_beside,
    key_toes,
    lost_twists,
    seen_toes,
    solved_controls,
    steered_keys,
    toes_on_ik,
)
from ..give.controls.control_keys import control_changes
from ..give.controls.plans import can_turn, plan_controls
from .reports import SwitchReport, frames_in_words

NO_IK = 'The limb from "{upper}" to "{lower}" has no IK constraint {what}. Choose a limb that has one.'


def is_still(armature: Object) -> bool:
    """Whether nothing animates the armature."""
    bag, data = curve_bag(armature), armature.animation_data
    return not (bag is not None and bag.fcurves) and not (data is not None and data.nla_tracks)


def is_moved_by_ik(search: FkSearch, within: Span) -> bool:
    """Whether the limb is on IK in the range, and its IK's target or pole moves, or its FK bones have no animated rotation."""
    armature, names = search.armature, search.names
    ik = RigReader(armature, names).steered_by(None)
    followed = [ik.target, *([ik.pole] if ik.pole else [])] if ik else []
    is_led = bool(followed) and not Stillness().holds(dependencies(objects_by_name(), followed).nodes)
    if is_still(armature) and not is_led:  # What the IK follows may be animated although the armature is not.
        return False
    if not search.over(within):
        return False
    if is_led:
        return True
    return not has_own_keys(armature, names)


def has_own_keys(armature: Object, names: ChainNames) -> bool:
    """Whether the FK bones may have a motion of their own, which Keep shows."""
    return any(is_rotation_animated(armature.pose.bones[name]) for name in (names.upper, names.lower))


Limb = tuple[Object, ChainNames]
"""An armature and a chain of it."""


class FkSearches:
    """Finds the settings that put limbs on FK wherever in a range they are not.

    Each range is searched once, for all limbs that are expected there: playing a frame takes longer than to look at a limb.
    """

    def __init__(self, scene: Scene, skins: Skins) -> None:
        self._scene, self.skins = scene, skins
        self._expected: dict[Span, list[Limb]] = {}
        self._found: dict[tuple[Limb, Span], list[Setting]] = {}

    def expect(self, limb: Limb, within: Span) -> None:
        """Take a limb that may be asked for over a range."""
        self._expected.setdefault(within, []).append(limb)

    def over(self, limb: Limb, within: Span) -> list[Setting]:
        """The settings for a limb over a range; empty where it is on FK, or nothing would put it there."""
        if (limb, within) not in self._found:
            limbs = list(dict.fromkeys([limb, *self._expected.get(within, [])]))
            settings = fk_settings_over(self._scene, limbs, within, self.skins)
            self._found |= {(limb, within): found for limb, found in zip(limbs, settings, strict=True)}
        return self._found[limb, within]


@dataclass(frozen=True, slots=True)
class FkSearch:
    """Finds the settings that put a limb on FK wherever in a range it is not."""

    searches: FkSearches
    armature: Object
    names: ChainNames

    @property
    def skins(self) -> Skins:
        """What shows the limbs of the file."""
        return self.searches.skins

    def over(self, within: Span) -> list[Setting]:
        """The settings for a range; empty where the limb is on FK, or nothing would put it there."""
        return self.searches.over((self.armature, self.names), within)


def fk_settings_over(scene: Scene, limbs: Sequence[Limb], within: Span, skins: Skins) -> list[list[Setting]]:
    """For each limb, the settings that put it on FK wherever in the range it is not; sought at its ends, middle and switch keys.

    Frames at which all that decides is as at an earlier one are not searched again.
    """
    usual = (within[0], 0.5 * (within[0] + within[1]), within[1])
    asked = [
        {*usual, *switch_frames(scene, armature, LimbInfluences(armature, names, skins).deciding, within)}
        for armature, names in limbs
    ]
    settings_over: list[dict[tuple[str, str], Setting]] = [{} for _ in limbs]
    states = set[Hashable]()
    with frame_and_edits_kept(scene):
        for frame in dict.fromkeys((*usual, *sorted(set().union(*asked)))):
            scene.frame_set(round(frame))
            for limb, frames, found in zip(limbs, asked, settings_over, strict=True):
                if frame not in frames:
                    continue
                shown = LimbInfluences(*limb, skins)
                state = limb, tuple(shown.hindrances), state_of_switches(limb[0], shown.deciding)
                if state not in states:
                    states.add(state)
                    there = fk_settings(*limb, skins, shown.hindrances)
                    found |= {(setting.owner.name, setting.path): setting for setting in there}
    return [list(found.values()) for found in settings_over]


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
        return [
            note("Skipped frames {frames}: the limb is blended between FK and IK there.", frames=frames_in_words(self.between))
        ]

    @property
    def remarks(self) -> list[Statement]:
        """Status bar statements on frames that stay blended between the sides."""
        return [statement("HALFWAY", {"frames": frames_in_words(self.between)}, self.between)] if self.between else []


def ranges_to_switch(
    scene: Scene, names: ChainNames, settings: Sequence[Setting], within: tuple[float, float], *, apart: bool
) -> SwitchRanges:
    """Find the frames of a range at which the switches do not have their wanted values.

    apart : FK, IK and visible bones are separate, so that the visible limb is a blend of both while a switch is halfway

    Raises `ChainError` where it is halfway at all of these frames.
    """
    frames = frame_grid(*within)
    values = values_over(scene, [Property(setting.owner, setting.path) for setting in settings], frames)
    goals, others = np.array([(setting.value, setting.opposite) for setting in settings]).T[:, :, None]
    to_switch = (np.abs(values - goals) > SAME).any(axis=0)
    halfway = ((np.abs(values - others) > SAME) & (np.abs(values - goals) > SAME)).any(axis=0) & apart
    spans = [[(first, last) for first, last in ranges(frames, mask)] for mask in (to_switch & ~halfway, to_switch & halfway)]
    if spans[1] and not spans[0]:
        raise ChainError(
            'The limb from "{upper}" to "{lower}" is blended between FK and IK at frames {frames}. Key {path} to {other:g} or '
            "{value:g} there first.",
            upper=names.upper,
            lower=names.lower,
            frames=frames_in_words(spans[1]),
            path=settings[0].path,
            value=settings[0].value,
            other=settings[0].opposite,
        )
    return SwitchRanges(*spans)


def switch_changes(settings: BakeSettings, goals: Sequence[Setting], within: tuple[float, float]) -> list[Change]:
    """Keys of all switches at the ends of a range, and beside it keys that preserve the values there.

    Raises `WriteError` where they cannot be written.
    """
    keyed: dict[Object, list[ChannelKeys]] = {}
    frames = KeyFrames(np.unique(np.array(within)))
    is_held = holds(BakeSettings(key_before=True, key_after=True, destination=settings.destination))
    for setting in goals:
        present = float(setting.owner.path_resolve(setting.path))
        path, index = setting.channel
        earlier = read_keyed(setting.owner, path, index, *within)
        group = path.split('"')[1] if '"' in path else ""
        values = np.full(len(frames), setting.value)
        keys = StraightKeys(path, index, group, frames, values, "CONSTANT")
        keyed.setdefault(setting.owner, []).append(held_beside(keys, earlier, within, is_held, (present, present)))
    for owner, channels in keyed.items():
        refuse_unwritable(owner, [key.path for key in channels], settings.destination)
    return [
        Change(
            owner=key_of(owner),
            keys=channels,
            within=within,
            task="switch",
            limb=limb_name(settings.armature, settings.upper),
            destination=settings.destination,
            strip=settings.stored or settings.upper or owner.name,
        )
        for owner, channels in keyed.items()
    ]


@dataclass(frozen=True, slots=True)
class SolvedPart:
    """A part of a range, solved: everything that is written for it, in the order in which it is written."""

    changes: Sequence[Change]
    notes: Sequence[Sentence] = ()
    remarks: Sequence[Statement] = ()
    moved: float | None = None
    """Largest deviation of the limb's joints at the keyed frames, world units."""
    converted: FkKeys | None = None
    """The limb, where a Rigify limb was converted: other actions may need its IK."""


Solve = Callable[[BakeSettings, Trial], Story[SolvedPart]]
"""Solves the part of a range that the settings name, with the parts before it on trial, and puts it on trial as well."""


@dataclass(frozen=True, slots=True)
class LimbSwitch:
    """One limb to switch, found and checked."""

    armature: Object
    names: ChainNames
    settings: BakeSettings
    to: str
    """`FK` or `IK`."""
    within: Span
    wanted: Sequence[Setting] = ()
    """Settings that choose the wanted side; empty where the limb is on it already."""
    parts: SwitchRanges = field(default_factory=lambda: SwitchRanges([], []))
    """Where it is not on that side."""
    solve: Solve | None = None
    """`None` where the motion that the side already has is to be shown."""
    seen: SeenBones | None = None
    remarks: Sequence[Statement] = ()
    controls: Sequence[str] = ()
    """Bones that pose the visible ones on the wanted side."""
    lacks_ik: bool = False
    """Whether it has no IK, so that it stays as it is."""

    @property
    def is_keyed(self) -> bool:
        """Whether the switch is keyed; where nothing is animated it is only set."""
        return self.solve is not None or not is_still(self.armature)


def find_switch(
    scene: Scene, settings: BakeSettings, active: Object | None, searches: FkSearches, *, to: str, motion: str
) -> LimbSwitch:
    """Find what switches a limb to FK or IK over the range; raises a `TwoBoneError` where it cannot be switched."""
    armature = find_armature(settings.armature, active)
    names = chain_names(armature, settings)
    refuse_live(armature, (names.upper, names.lower))
    if to == "IK":
        return _to_ik(scene, settings, active, searches.skins)
    search, within = FkSearch(searches, armature, names), frame_range(scene, settings)
    if motion == "KEEP":
        return _to_own_keys(settings, search, within)
    if motion == "AUTO" and not is_moved_by_ik(search, within):
        switch = _to_own_keys(settings, search, within)
        if not switch.wanted or not _was_just_baked(scene, settings, armature, names):
            return replace(switch, remarks=[statement("OWN_KEYS", {})] if switch.wanted and switch.is_keyed else [])
    return _to_fk(scene, settings, search)


def _was_just_baked(scene: Scene, settings: BakeSettings, armature: Object, names: ChainNames) -> bool:
    """Whether a bake of the limb over the whole range was the last task that keyed it.

    Such keys were seen when they were made, so what is seen in their stead now was chosen since, and stays.
    """
    within = frame_range(scene, settings)
    if settings.destination == "NLA":
        return has_baked_strip(armature, settings.stored or names.upper, *within)
    ledger = Ledger.present(armature)
    bones = (armature.pose.bones[name] for name in (names.upper, names.lower))
    return ledger is not None and ledger.last_task({rotation_path(read_rest_bone(bone)) for bone in bones}, *within) == "bake"


def _to_own_keys(settings: BakeSettings, search: FkSearch, within: Span) -> LimbSwitch:
    """Let the visible limb follow the keys that the chain has; raises a `TwoBoneError` where more than a switch hinders it."""
    armature, names, skins = search.armature, search.names, search.skins
    switches = fk_settings(armature, names, skins) if is_still(armature) else search.over(within)
    if not switches and LimbInfluences(armature, names, skins).hindrances:
        raise ChainError(
            'Found no switch that puts the limb from "{upper}" to "{lower}" on FK. Set the influence of the constraints that it '
            "follows by hand.",
            upper=names.upper,
            lower=names.lower,
        )
    settings = replace(settings, armature=armature.name, upper=names.upper, lower=names.lower)
    return LimbSwitch(armature, names, settings, "FK", within, switches, SwitchRanges([within], []))


def _to_fk(scene: Scene, settings: BakeSettings, search: FkSearch) -> LimbSwitch:
    """Key the FK bones so that the visible bones stay, each through its offset to the bone that shows it."""
    armature, names, skins = search.armature, search.names, search.skins
    settings = _for_chain(settings, armature, names)
    within = frame_range(scene, settings)
    refuse_unwritable_chain(scene, plan_chain(scene, settings, armature))
    over = search.over(within)
    rigify = next((limb for limb in rigify_limbs(armature) if names.upper in limb.controls), None)
    moved = switched_bones(armature, over, (names.upper, names.lower), skins)
    names = _with_control_at_tip(armature, names, settings, moved)
    settings = replace(settings, tip=names.tip, tip_end="TAIL" if names.tip_at_tail else "HEAD")
    copies = [copy for copy in _at_chain(names, moved) if copy is not None]
    apart = rigify is not None or any(copy.shown != copy.control for copy in copies)
    parts = ranges_to_switch(scene, names, over, within, apart=apart) if over else SwitchRanges([within], [])

    def solve(part: BakeSettings, trial: Trial) -> Story[SolvedPart]:
        span = frame_range(scene, part)
        if rigify is not None:
            limb = _rigify_plan(scene, part, armature, names)
            switches = []
        else:
            limb = _fk_plan(scene, part, armature, names, moved)
            switches = switch_changes(part, over, span)
        (chain,) = yield from with_steps([limb.chain], [limb.poses()])
        limb = replace(limb, chain=chain)
        beside = controls_beside(armature, [copy for copy in moved if not copy.is_copy], limb.shown)
        toes = yield from seen_toes(armature, beside, limb.chain)
        samples = yield Sample(limb.quantities(), limb.chain.frames, evaluation_of([limb.chain]))
        solved = solve_limb(limb, samples)
        changes = [*chain_changes([solved.keyed], "switch"), *switches]
        # What the toes' controls must make up for shows only once the limb has switched.
        trial.put(changes)
        changes += yield from key_toes(limb.chain, toes, trial)
        notes = [*(limb.chain.notes if rigify is not None else ()), *(_note_on_toe(armature, toe, "FK") for toe in toes)]
        return SolvedPart(changes, notes, converted=solved if rigify is not None else None)

    shown = rigify.shown if rigify is not None else _shown(moved)
    return LimbSwitch(
        armature,
        names,
        settings,
        "FK",
        within,
        over,
        parts,
        solve,
        _seen(armature, names, shown, moved, skins),
        controls=[copy.control for copy in moved],
    )


def _fk_plan(
    scene: Scene, settings: BakeSettings, armature: Object, names: ChainNames, moved: Sequence[SwitchedBone]
) -> LimbPlan:
    """Plan of the FK bones of a limb, and of whatever else the same switch lets follow controls of their own."""
    plan = plan_chain(scene, settings, armature)
    refuse_unwritable_chain(scene, plan)
    chain, copies = (names.upper, names.lower, names.tip), _at_chain(names, moved)
    shown = [default if pair is None else pair.shown for pair, default in zip(copies, _shown_by_ik(armature, names), strict=True)]
    offsets = [np.eye(4) if pair is None else pair.control_from_shown for pair in copies]
    keyed, further = list(chain), []
    bones = armature.pose.bones
    # From the root down, so that a bone is keyed after the one above it.
    for pair in sorted(moved, key=lambda copy: len(bones[copy.control].parent_recursive)):
        above = [bone.name for bone in bones[pair.control].parent_recursive if bone.name in keyed]
        if pair.control in keyed or not above or not can_turn(armature, pair.control):
            continue
        path = tuple(read_rest_bone(bone) for bone in bone_path(bones[above[0]], bones[pair.control]))
        further.append(FurtherBone(path, keyed.index(above[0])))
        keyed.append(pair.control)
        shown.append(pair.shown)
        offsets.append(pair.control_from_shown)
    return limb_plan(
        armature, plan, tuple(shown), ik=None, ends=(), keyed_off=False, further=tuple(further), from_shown=tuple(offsets)
    )


def _rigify_plan(scene: Scene, settings: BakeSettings, armature: Object, names: ChainNames) -> LimbPlan:
    keys = {entry.name: getattr(settings, entry.name) for entry in fields(KeySettings)}
    conversion = ConvertSettings(**keys, armature=settings.armature, bone=names.upper, rigify=True)
    (limb,), _ = plan_limbs(scene, Conversion.of(conversion), armature)
    return limb


def _at_chain(names: ChainNames, moved: Sequence[SwitchedBone]) -> list[SwitchedBone | None]:
    """The visible bone of the upper, the lower and the tip's bone, the nearest of several; `None` where none is switched."""
    copies_at_joints = []
    for name in (names.upper, names.lower, names.tip):
        copies = [copy for copy in moved if copy.control == name]
        copies_at_joints.append(min(copies, key=lambda copy: (not copy.is_copy, copy.apart), default=None))
    return copies_at_joints


def _with_control_at_tip(
    armature: Object, names: ChainNames, settings: BakeSettings, moved: Sequence[SwitchedBone]
) -> ChainNames:
    """The chain with the control of the visible foot or hand as its tip, where a helper of it, or none, is named."""
    if settings.end_rotation == "NONE":
        return names
    end, _ = end_bone_of(find_chain(settings, armature), settings)
    if end is None:
        return names
    tip = end.name
    above = [tip, *(bone.name for bone in armature.pose.bones[tip].parent_recursive)]
    above = above[: above.index(names.lower)] if names.lower in above else above[:1]
    controls = [copy.control for copy in moved if copy.control in above]
    return replace(names, tip=controls[0] if controls and tip not in controls else tip, tip_at_tail=False)


def _shown_by_ik(armature: Object, names: ChainNames) -> tuple[str, ...]:
    """Bones that visibly show the upper bone, the lower bone and the tip's bone, by what copies them."""
    reader = RigReader(armature, names)
    ik = reader.steered_by(None)
    chain = (names.upper, names.lower, names.tip)
    return tuple(reader.shown(bone, ik.target) or bone for bone in chain) if ik else chain


def _shown(moved: Sequence[SwitchedBone]) -> list[str]:
    """The bones that a switch moves, without those that pose others of them: such a control may have a constraint of its own."""
    controls = {copy.control for copy in moved if copy.is_copy}
    return [copy.shown for copy in moved if copy.shown not in controls]


def _seen(
    armature: Object,
    names: ChainNames,
    shown: Sequence[str],
    moved: Sequence[SwitchedBone],
    skins: Skins,
    *,
    twists: bool = False,
) -> SeenBones:
    """The bones by which the limb is seen, whose poses must stay."""
    sides = {copy.control for copy in moved if copy.is_copy}
    joints = read_rest_chain(armature, names, all_joints=False).rest_joints() @ np.array(armature.matrix_world.to_3x3()).T
    links = ((names.upper, names.lower), (names.lower, "" if names.tip_at_tail else names.tip)) if twists else ()
    return SeenBones(armature.name, seen_below(armature, shown, sides, skins), links, float(path_length(joints)))


def _to_ik(scene: Scene, settings: BakeSettings, active: Object | None, skins: Skins) -> LimbSwitch:
    armature = find_armature(settings.armature, active)
    names = with_end(armature, chain_names(armature, settings))
    reader = RigReader(armature, names)
    ik = reader.steered_by(None)
    control = reader.main_control(ik) if ik else ""
    if ik is None or not control:
        raise ChainError(
            NO_IK,
            upper=names.upper,
            lower=names.lower,
            what=Sentence("that follows a control bone" if ik else "over its two bones"),
        )
    settings = _for_control(_for_chain(settings, armature, names), armature, ik, control)
    plan = plan_controls(scene, settings, armature)
    within = frame_range(scene, settings)
    if not plan.settings:
        _refuse_not_on_ik(scene, names, ik, plan.shown, within)
        return LimbSwitch(armature, names, settings, "IK", within)
    parts = ranges_to_switch(scene, names, plan.settings, within, apart=plan.shown[:2] != (names.upper, names.lower))
    if not parts.switched:
        return LimbSwitch(armature, names, settings, "IK", within)
    moved = switched_bones(armature, plan.settings, (names.upper, names.lower), skins)

    def solve(part: BakeSettings, trial: Trial) -> Story[SolvedPart]:
        part_plan = plan_controls(scene, part, armature, plan.settings)
        switches = switch_changes(part, part_plan.settings, frame_range(scene, part))
        # Toes are seen while the limb is still on FK.
        toes = yield from seen_toes(armature, toes_on_ik(armature, part_plan, moved), part_plan.plan)
        (solved,), _ = yield from solved_controls([part_plan])
        (steered,) = yield from steered_keys(scene, [solved])
        changes = control_changes([steered], "switch")
        trial.put([*changes, *switches])
        toe_changes = yield from key_toes(part_plan.plan, toes, trial)
        seen = steered.limb.now()
        lost = lost_twists(solved, seen)
        (entry,) = control_reports([solved], [steered], [seen])
        notes = [remark for remark in entry.notes if remark.template not in {twist.template for twist in lost}]
        notes += [_note_on_toe(armature, toe, "IK") for toe in toes]
        return SolvedPart([*changes, *toe_changes, *switches], notes, lost, entry.max_round_trip)

    # A robot's foot may be the control itself.
    feet = [control] if plan.target.armature == armature.name and skins.deforms_a_mesh(armature, control) else []
    shown = list(dict.fromkeys([*(_shown(moved) or plan.shown), *feet]))
    seen = _seen(armature, names, shown, moved, skins, twists=True)
    return LimbSwitch(
        armature, names, settings, "IK", within, plan.settings, parts, solve, seen, controls=[copy.control for copy in moved]
    )


OFF_ITS_IK = 0.01
"""Distance, relative to its length, by which the bone that shows a limb may be away from the one that IK poses."""


def _refuse_not_on_ik(scene: Scene, names: ChainNames, ik: RigIk, shown: Sequence[str], within: Span) -> None:
    """Raise `ChainError` where no switch was found, but the visible bones do not show what the rig's IK poses.

    Both are compared as they are posed, at the ends and in the middle of the range.
    """
    armature, posed = object_named(ik.armature), dict.fromkeys([ik.upper.name, ik.lower.name, *shown])
    quantities = [Quantity("POSE", armature.name, bone) for bone in posed]
    frames = np.unique([within[0], 0.5 * (within[0] + within[1]), within[1]])
    samples = sample(scene, quantities, frames, evaluation="PROBES")
    acts = is_acting(armature.pose.bones[ik.bone].constraints[ik.constraint])
    bones = armature.data.bones
    for bone, of_ik in zip(shown, (ik.upper.name, ik.lower.name), strict=False):
        rest_offset = np.linalg.inv(np.array(bones[of_ik].matrix_local)) @ np.array(bones[bone].matrix_local)
        expected = samples.every(Quantity("POSE", armature.name, of_ik)) @ rest_offset
        ends = np.array([[0.0, 0.0, 0.0, 1.0], [0.0, bones[bone].length, 0.0, 1.0]])
        apart = (expected - samples.every(Quantity("POSE", armature.name, bone))) @ ends.T
        if not acts or np.linalg.norm(apart[:, :3], axis=1).max() > OFF_ITS_IK * bones[bone].length:
            raise ChainError(
                'Found no switch that puts the limb from "{upper}" to "{lower}" on IK: "{bone}" does not follow "{ik}". Set the '
                "influence of the constraints that it follows by hand.",
                upper=names.upper,
                lower=names.lower,
                bone=bone,
                ik=of_ik,
            )


def _note_on_toe(armature: Object, toe: Toe, side: str) -> Sentence:
    is_toe = any(toe.shown in limb.shown for limb in rigify_limbs(armature))
    why = Sentence('it poses "{shown}" on {side}', {"shown": toe.shown, "side": side})
    why = Sentence("it poses the toes on IK") if is_toe else why
    return note('Bone "{bone}" was keyed as well, because {reason}.', bone=toe.control.name, reason=why)


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
    plane: dict[str, Any] = {"plane": "POSE"}
    if has_pole_bone and ik.pole:
        plane = {"plane": "POLE", "pole": ik.pole[0], "pole_bone": ik.pole[1]}
    return replace(settings, target=armature.name, target_bone=control, end_rotation=end_rotation, reference="REST", **plane)


def switch_report(limb: LimbSwitch, parts: Sequence[SolvedPart], changes: Sequence[Change], skins: Skins) -> SwitchReport:
    """Report of one switched limb, before its movement was measured; `changes` are all that is written for it."""
    shown = shown_bone(limb.armature, limb.names, skins)
    spans = limb.parts.switched or [limb.within]
    return SwitchReport(
        armature=limb.armature.name,
        upper=limb.names.upper,
        lower=limb.names.lower,
        to=limb.to,
        visible_bone=shown.bone if shown else "",
        properties=[setting.path for setting in limb.wanted],
        owners=[setting.owner.name for setting in limb.wanted],
        values=[setting.value for setting in limb.wanted],
        keys=sum(len(key.frames) for change in changes for key in change.keys),
        frame_start=spans[0][0],
        frame_end=spans[-1][1],
        ranges=[list(span) for span in spans],
        baked=bool(parts),
        notes=[*dict.fromkeys(sentence for part in parts for sentence in part.notes), *limb.parts.notes],
        remarks=[*(remark for part in parts for remark in part.remarks), *limb.remarks, *limb.parts.remarks],
        lacks_ik=limb.lacks_ik,
    )


def solve_parts(limb: LimbSwitch, trial: Trial) -> Story[list[SolvedPart]]:
    """Solve all parts of a limb, each with the parts before it on trial, because these leave keys beside it."""
    parts: list[SolvedPart] = []
    if limb.solve is None:
        return parts
    for span in limb.parts.switched:
        part = yield from limb.solve(with_range(limb.settings, span), trial)
        parts.append(part)
    return parts
