"""From solved and measured chains to their reports."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...core.array_types import Array
from ...core.curves.frames import ranges
from ...core.solver import Reach
from ...said import Sentence, note
from ...scene.blender_types import Object
from ...scene.bones import ChainNames
from ...scene.keys.writing import ChannelKeys
from ...scene.lookup import object_named, playing_action
from ...scene.rig.rest_reading import starts_at_tail
from ...scene.rig.rigify_reading import is_rigify
from ..keys.reducing import NO_DRIFT, KeyDrift
from ..pose.solving import SolvedChain
from .proof import Measured
from .records import ChainReport, Visible
from .twist import SEEN_TWIST, Twist, largest_twists
from .units import Units
from .verdict import verdict

BEHIND_THE_SCENES = re.compile(r"^(?:ORG|MCH|DEF)-|_fk(?=\.|$)")
"""What Rigify adds to the name that a bone had before."""


def chain_report(
    chain: SolvedChain,
    keys: Sequence[ChannelKeys],
    measured: Measured | None,
    *,
    drift: KeyDrift = NO_DRIFT,
    units: Units | None = None,
    twist: Twist | None = None,
) -> ChainReport:
    """The report of one chain: `keys` are all that it gets, `drift` what reduction cost, `twist` if it is known already.

    With `units`, those of the scene, it says which frames are on target.
    """
    (twist,) = [twist] if twist else largest_twists([chain])
    report = _of_solved(chain, keys, drift, twist)
    if measured is not None:
        report = _with_measures(report, measured)
    if units is None:
        return report
    names = chain.plan.names
    part = part_name(object_named(names.armature), names)
    return replace(report, statements=verdict(chain, measured, units, part))


def _of_solved(chain: SolvedChain, keys: Sequence[ChannelKeys], drift: KeyDrift, twist: Twist) -> ChainReport:
    """What is known of a chain before anything is measured."""
    plan, frames, rows = chain.plan, chain.plan.report_frames, chain.plan.report_rows
    reach = chain.pose.on_targets.reach[rows]
    counts = {kind: int(np.count_nonzero(reach == kind)) for kind in Reach}
    return ChainReport(
        armature=plan.names.armature,
        upper=plan.names.upper,
        lower=plan.names.lower,
        tip=plan.names.tip,
        target=plan.settings.target,
        frames=len(frames),
        frame_start=float(frames[0]),
        frame_end=float(frames[-1]),
        keys=sum(len(key.frames) for key in keys),
        full_rate_keys=len(frames) * len(keys),
        channels=len(keys),
        reached=counts[Reach.REACHED],
        too_far=counts[Reach.TOO_FAR],
        too_near=counts[Reach.TOO_NEAR],
        degenerate=counts[Reach.DEGENERATE],
        out_of_reach=ranges(frames, (reach == Reach.TOO_FAR) | (reach == Reach.TOO_NEAR)),
        max_drift=drift.tip,
        max_drift_middle=drift.middle,
        max_twist=twist.degrees,
        plane_held=int(np.count_nonzero(chain.pose.plane_held[rows])),
        notes=_notes(chain, keys, twist),
        action=playing_action(object_named(plan.names.armature)),
    )


def _with_measures(report: ChainReport, measured: Measured) -> ChainReport:
    sight = measured.sight
    return replace(
        report,
        max_error=measured.max_error,
        mean_error=measured.mean_error,
        max_goal_error=measured.max_goal_error,
        max_off_plane=measured.max_off_plane,
        max_distance_to_target=_largest(measured.distances),
        target_off_plane=_largest(measured.beside),
        between_frames=measured.between.farthest if measured.between else None,
        notes=[*report.notes, *(sight.hindrances if sight else ())],
        visible=Visible(sight.bone, sight.follows, sight.max_distance) if sight else None,
    )


def part_name(armature: Object, names: ChainNames) -> str:
    """The bone that begins at the tip, such as a foot; without one, the bone that ends there."""
    carrier = armature.pose.bones[names.tip]
    starting = [child.name for child in carrier.children if starts_at_tail(child)] if names.tip_at_tail else []
    name = starting[0] if len(starting) == 1 else names.tip
    return BEHIND_THE_SCENES.sub("", name) if is_rigify(armature) else name


def _largest(values: Array) -> float | None:
    """The largest of those that are numbers."""
    known = values[np.isfinite(values)]
    return float(known.max()) if known.size else None


def _notes(chain: SolvedChain, keys: Sequence[ChannelKeys], twist: Twist) -> list[Sentence]:
    notes = list(chain.plan.notes)
    held = int(np.count_nonzero(chain.pose.plane_held))
    if held:
        notes.append(note("The plane was undefined at {count} frames and kept from the frame before.", count=held))
    scaled = [key.group for key in keys if key.path.endswith(".scale") and key.index == 0]
    if scaled:
        notes.append(note("Stretching keyed the scale of {bones}.", bones=", ".join(scaled)))
    if twist.degrees > SEEN_TWIST and any(".rotation_" in key.path for key in keys):
        notes.append(
            note(
                'Bone "{bone}" is rotated by up to {degrees:.0f} degrees around its own axis compared with its previous pose '
                "(frame {frame:g}).",
                bone=twist.bone,
                degrees=twist.degrees,
                frame=twist.frame,
            )
        )
    return notes
