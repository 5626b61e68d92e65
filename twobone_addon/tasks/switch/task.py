"""Switch: move limbs from FK to IK or back over a range without visible movement, also in one run with another task."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.array_types import Array
from ...core.curves.frames import frame_grid
from ...errors import ChainError, TwoBoneError
from ...pipeline.chosen_actions import own_span
from ...pipeline.plan.found_chain import chain_names
from ...pipeline.plan.frame_choice import frame_range
from ...pipeline.plan.naming import named
from ...pipeline.proof import PLACED, moved_bones, on_copies, refuse_movement
from ...pipeline.report.form import together
from ...pipeline.report.reports import Results, refusals_in_words, statement
from ...pipeline.report.units import units_of
from ...pipeline.story import Sample, StartOver, Story, Task, Write, part_of_story, with_range
from ...records import replace
from ...said import Sentence
from ...scene.actions import OwnAction
from ...scene.blender_types import Object, Property, Scene
from ...scene.keys.writing import Change
from ...scene.lookup import find_armature
from ...scene.rig.constraints import is_acting
from ...scene.sampling.quantities import Samples
from ...scene.visible.skin import Skins
from ...scene.visible.switches import set_value
from ...settings import BakeSettings
from ...settings.tasks import TABLES, SwitchSettings
from ..convert.task import SEEN_TO_MOVE, Endings, ToEnd, playing_now
from .limb_switch import (
    NO_IK,
    FkSearches,
    LimbSwitch,
    SolvedPart,
    find_switch,
    has_own_keys,
    solve_parts,
    switch_changes,
    switch_report,
)
from .reports import SwitchedLimbs, SwitchReport


@dataclass(frozen=True, slots=True)
class SolvedSwitch:
    """One limb with everything that is written for it."""

    limb: LimbSwitch
    parts: Sequence[SolvedPart] = ()
    changes: Sequence[Change] = ()
    report: SwitchReport | None = None


def switch_limbs(
    scene: Scene, settings: SwitchSettings, active: Object | None, chosen: OwnAction | None
) -> Story[list[SwitchReport]]:
    """Bake the limbs' motion onto the bones or controls of the other side, and let the limbs follow that.

    All is solved and proved on copies of the actions, so that a limb that would be seen to move is refused before anything is
    written; then all is written at once.
    """
    chains = [with_range(chain, own_span(chosen)) for chain in settings.chains]
    for chain in chains:
        with named(chain):
            find_armature(chain.armature, active)
    yield StartOver(())
    skins = Skins()
    limbs = _found(scene, settings, chains, active, skins)
    moving = [limb for limb in limbs if limb.solve is not None and limb.parts.switched and limb.seen is not None]
    look = Sample([quantity for limb in moving if limb.seen for quantity in limb.seen.quantities()], _frames(moving), "PROBES")
    owners = [owner for limb in moving for owner in (limb.armature, *(setting.owner for setting in limb.wanted))]
    solved: list[SolvedSwitch] = []
    # The visible limbs, before anything changes and again with everything on trial.
    # Looking before and after takes about as long as solving a limb.
    share = 1.0 / (len(limbs) + 2)
    before = (yield replace(look, share=share)) if moving else None
    with on_copies(scene, owners) as trial:
        for number, limb in enumerate(limbs):
            with named(chains[number]):
                parts = yield from part_of_story(solve_parts(limb, trial), number + 1, len(limbs) + 2)
            changes = [change for part in parts for change in part.changes]
            if limb.solve is None and limb.wanted and limb.is_keyed:
                changes = switch_changes(limb.settings, limb.wanted, limb.within)
            solved.append(SolvedSwitch(limb, parts, changes, switch_report(limb, parts, changes, skins)))
        after = (yield replace(look, start=1.0 - share, share=share)) if moving else None
    if before is not None and after is not None:
        for number, switched in enumerate(solved):
            with named(chains[number]):
                solved[number] = _proved(scene, switched, before, after)
    reports = [limb.report for limb in solved if limb.report]
    paths = [Property(setting.owner, setting.channel.path) for switched in solved for setting in switched.limb.wanted]
    changes = [change for switched in solved for change in switched.changes]
    action = yield Write(changes, lambda: reports, lambda: paths, lambda: _switch_over(solved))
    return [replace(report, action=action) for report in reports]


def _found(
    scene: Scene, settings: SwitchSettings, chains: Sequence[BakeSettings], active: Object | None, skins: Skins
) -> list[LimbSwitch]:
    """The limbs to switch; of a whole character, those without IK stay as they are. Raises a `TwoBoneError`."""
    limbs, first = [], None
    searches = FkSearches(scene, skins)
    for chain in chains:
        with suppress(TwoBoneError):  # which its own turn raises
            armature = find_armature(chain.armature, active)
            searches.expect((armature, chain_names(armature, chain)), frame_range(scene, chain))
    # To find the sides, the scene is played: that is no reading.
    for chain in chains:
        with named(chain):
            try:
                limbs.append(find_switch(scene, chain, active, searches, to=settings.to, motion=settings.motion))
            except ChainError as error:
                if error.sentence.template != NO_IK or settings.scope == "CHAIN":
                    raise
                first = first or error
                armature, within = find_armature(chain.armature, active), frame_range(scene, chain)
                limbs.append(LimbSwitch(armature, chain_names(armature, chain), chain, settings.to, within, lacks_ik=True))
    if first is not None and all(limb.lacks_ik for limb in limbs):
        with named(chains[0]):
            raise first
    return limbs


def _switch_over(solved: Sequence[SolvedSwitch]) -> None:
    """Set what switches limbs without keys, and switch off the IK of those that were converted."""
    for switched in solved:
        if not switched.limb.is_keyed:
            for setting in switched.limb.wanted:
                set_value(setting.owner, setting.path, setting.value)
        converted = [part.converted for part in switched.parts if part.converted is not None]
        if converted:
            to_end = ToEnd(playing_now(switched.limb.armature), converted)
            Endings(switched.limb.armature, [to_end], switched.limb.settings.destination).finish()


def _switch_report(results: Results) -> SwitchedLimbs:
    """Report of all limbs in each action."""
    limbs = [report for reports in results.done for report in reports]
    refused = [] if results.is_dry else refusals_in_words(results.refused, len(results.done) + len(results.refused))
    notes = [*(said for limb in limbs for said in limb.notes), *refused, *results.unused]
    run: dict[str, Any] = {"kind": results.kind, "seconds": results.seconds, "refused": list(results.refused)}
    return together(SwitchedLimbs, limbs, notes=notes, **run)


SWITCH = Task("switch", TABLES["switch"], switch_limbs, SwitchedLimbs, joined=_switch_report)


def _frames(limbs: Sequence[LimbSwitch]) -> Array:
    """Frames at which the limbs are compared: all whole ones of their parts, and those that get keys."""
    grids = [frame_grid(*part) for limb in limbs for part in limb.parts.switched]
    grids += [frame_grid(*part, limb.settings.step) for limb in limbs for part in limb.parts.switched]
    return np.unique(np.concatenate(grids)) if grids else np.zeros(0)


def _proved(scene: Scene, solved: SolvedSwitch, before: Samples, after: Samples) -> SolvedSwitch:
    """The limb with how far it was seen to move; raises `ChainError` where it moves at a frame that gets keys."""
    limb = solved.limb
    if limb.solve is None or limb.seen is None or not limb.parts.switched or solved.report is None:
        return solved
    keyed = np.unique(np.concatenate([frame_grid(*part, limb.settings.step) for part in limb.parts.switched]))
    inside = np.unique(np.concatenate([keyed, *(frame_grid(*part) for part in limb.parts.switched)]))
    slack = limb.settings.tolerance if limb.settings.keys == "REDUCE" else 0.0
    units = units_of(scene)
    remedy = Sentence(
        "Nothing was changed. Pose it by hand there, or bake the limb with Blender's Bake Action and Visual Keying."
    )
    bones = [limb.armature.pose.bones[name] for name in limb.controls]
    acting = [
        (bone.name, constraint.name)
        for bone in bones
        for constraint in bone.constraints
        if is_acting(constraint) and constraint.type != "IK"
    ]
    if acting:
        values = {"bone": acting[0][0], "constraint": acting[0][1]}
        remedy = Sentence('Nothing was changed. Mute constraint "{constraint}" of bone "{bone}" first.', values)
    if any((part.moved or 0.0) > PLACED * limb.seen.length for part in solved.parts):
        remedy = Sentence("Nothing was changed: the rig's own IK cannot match this pose more closely.")
    if limb.to == "FK" and has_own_keys(limb.armature, limb.names):
        remedy = Sentence("{remedy} Or set Motion to Keep, which shows the keys that FK has.", {"remedy": remedy})
    refuse_movement(moved_bones(limb.seen, before.on(keyed), after.on(keyed), slack=slack), units, remedy)
    moved = moved_bones(limb.seen, before.on(inside), after.on(inside))
    farthest = max((move.distance for move in moved), default=0.0)
    text = units.text(max(farthest, units.seen(limb.seen.length)))
    is_seen = farthest > SEEN_TO_MOVE * limb.seen.length
    remark = statement("SEEN_TO_MOVE" if is_seen else "UNMOVED", {"distance": text})
    remarks = [remark, *solved.report.remarks] if is_seen else [*solved.report.remarks, remark]
    return replace(solved, report=replace(solved.report, max_moved=farthest, remarks=remarks))
